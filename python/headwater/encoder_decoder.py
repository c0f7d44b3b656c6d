"""Encoder-decoder models: decoder tokens over target and source tokens.

E is the encoder's rollout [s, s]. In the decoder, T_l [t, t] and S_l [t, s] say how much of each target position comes
from each target and each source token after layer l; T = I and S = 0 before the first. With A_l the prepared self
attention, C_l the fused cross attention (rows divided by their sums) and r the residual, layer l does

    T <- A_l T,        S <- A_l S                            self attention
    T <- r T,          S <- r S + (1 - r) C_l E              cross attention and its residual

Rows of [T S] sum to 1.
"""
from __future__ import annotations

import json
from typing import Any, Callable, Mapping, Sequence, Unpack

import numpy as np

from . import _engine
from .arguments import OptionWords, refuse, spelled_out, split
from .arrays import Array, Kind, NumPyArray, fused_on_cpu, same_values, to_numpy
from .errors import Error
from .generated import places_of, prompt_of, within
from .kinds import ArrayIn, DType, Figure, Mask
from .protocols import Recorded, WithThreeStacks
from .top import largest
from .saved import Saved
from .source import refuse_capture_words
from .steps import begins_of, finite, rows_of_text, whole_rows

REFUSED = {"layers": "an encoder and a decoder have layers of their own: leave it out",
           "row": "every target token has a row: take .source[row] and .target[row]"}
Maps = Callable[[int, str], NumPyArray]  # the fused map of a layer: its number, the word of the fusion


class EncoderDecoder(Saved):
    """`target` [t, t] and `source` [t, s]: how much of each target position comes from target and source tokens.

    `encoder` [s, s] is the encoder's rollout; `source_tokens` and `target_tokens` name the axes.
    """

    def __init__(self, target: Array, source: Array, encoder: Array, source_tokens: list[str],
                 target_tokens: list[str], options: dict[str, Any], notes: list[str]):
        self.target, self.source, self.encoder = target, source, encoder
        self.source_tokens, self.target_tokens, self.options = source_tokens, target_tokens, options
        self.notes = notes

    def __array__(self, dtype: DType = None, copy: bool | None = None) -> NumPyArray:
        """[t, t + s]: target tokens, then source tokens."""
        return np.concatenate([to_numpy(self.target), to_numpy(self.source)], axis=1).astype(dtype or np.float32)

    def top(self, row: int = -1, k: int = 5) -> list[tuple[str, float]]:
        """The k source tokens from which most of a target position comes."""
        return largest(to_numpy(self.source)[row], self.source_tokens, k)

    def __eq__(self, other: object) -> bool:
        """Whether everything is the same: values, tokens, options and notes."""
        if not isinstance(other, EncoderDecoder):
            return NotImplemented
        return (self.source_tokens == other.source_tokens and self.target_tokens == other.target_tokens and
                self.options == other.options and self.notes == other.notes and
                all(same_values(getattr(self, name), getattr(other, name)) for name in ("target", "source", "encoder")))

    __hash__ = None  # type: ignore[assignment]

    def arrays(self) -> dict[str, NumPyArray]:
        """The arrays that .npz holds; `both` is [t, t + s], target tokens, then source tokens."""
        return dict(both=np.asarray(self), target=to_numpy(self.target), source=to_numpy(self.source),
                    encoder=to_numpy(self.encoder), source_tokens=np.array(self.source_tokens),
                    target_tokens=np.array(self.target_tokens), options=np.array(json.dumps(self.options)),
                    notes=np.array(self.notes, dtype=str))

    def to_json(self) -> str:
        """All of the result as JSON."""
        return json.dumps({"headwater": _engine.version(), "method": "encoder_decoder", "options": self.options,
                           "source_tokens": self.source_tokens, "target_tokens": self.target_tokens,
                           "target": to_numpy(self.target).tolist(), "source": to_numpy(self.source).tolist(),
                           "encoder": to_numpy(self.encoder).tolist(), "notes": self.notes}, ensure_ascii=False)

    def _repr_html_(self) -> str:
        from .html import lines
        return lines("target tokens over the source", self.target_tokens, to_numpy(self.source), self.source_tokens)

    def plot(self) -> Figure:
        """A matplotlib figure: target tokens over the source, and over the target."""
        from .plot import draw, pyplot, show
        figure, axes = pyplot().subplots(1, 2, figsize=(14, 6), layout="constrained")
        names = _engine.labels(self.target_tokens)
        draw(axes[0], to_numpy(self.source), _engine.labels(self.source_tokens), names)
        draw(axes[1], to_numpy(self.target), names, names)
        axes[0].set_title("over the source")
        axes[1].set_title("over the target")
        return show(figure)

    def __repr__(self) -> str:
        targets, sources = len(self.target_tokens), len(self.source_tokens)
        return f"<headwater.EncoderDecoder: {targets} target over {sources} source tokens>"


@spelled_out
def encoder_decoder(output: WithThreeStacks | Recorded, *, source_tokens: Sequence[str] | None = None,
                    target_tokens: Sequence[str] | None = None, attention_mask: Mask | None = None,
                    decoder_attention_mask: Mask | None = None, item: int | None = None,
                    beam_indices: ArrayIn | None = None, call: int | None = None, **words: Unpack[OptionWords]) -> EncoderDecoder:
    """Decoder tokens over target and source tokens, for a capture or a Hugging Face output.

    The output has encoder_attentions, decoder_attentions and cross_attentions, and may be that of generate(). The
    masks say what is padding. `item`, `call` and `beam_indices` of a beam search are those of `headwater.generation`.
    Options: fuse or head, residual, empty, divide. Raises headwater.Error.
    """
    if isinstance(output, Recorded):
        return output.encoder_decoder(source_tokens=source_tokens, target_tokens=target_tokens,
                                      attention_mask=attention_mask, decoder_attention_mask=decoder_attention_mask,
                                      item=item, beam_indices=beam_indices, call=call, **words)
    refuse_capture_words(dict(call=call))
    if not isinstance(output, WithThreeStacks) or not (
            output.encoder_attentions and output.decoder_attentions and output.cross_attentions):
        raise Error("output: holds no encoder, decoder and cross attention, expected all three; models return none "
                    "under sdpa: capture the model, or use attn_implementation='eager' with output_attentions=True")
    encoder, decoder, cross = output.encoder_attentions, output.decoder_attentions, output.cross_attentions
    if isinstance(decoder[0], (list, tuple)):
        beam_indices = getattr(output, "beam_indices", None) if beam_indices is None else beam_indices
        rows = len(decoder[0][0])
        places = places_of(beam_indices, item, len(decoder), rows)
        begins = begins_of(decoder)
        decoder, cross = joined(decoder, begins, places, True), joined(cross, begins, places, False)
        place, text = prompt_of(places, rows, encoder[0]), 0
    else:
        place = text = within(item, len(decoder[0]))
    check_shapes(encoder, decoder, cross)
    real, target = keep_of(attention_mask, place), keep_of(decoder_attention_mask, text)

    def maps(layers: Sequence[Array], rows: NumPyArray | None, columns: NumPyArray | None, item: int) -> Maps:
        def make(layer: int, fuse: str) -> NumPyArray:
            map: NumPyArray = fused_on_cpu(layers[layer][item], fuse)
            map = map if rows is None else map[rows]
            return map if columns is None else map[:, columns]
        return make

    return compose(maps(encoder, real, real, place), len(encoder), maps(decoder, target, target, text),
                   maps(cross, target, real, text), len(cross), Kind(encoder[0]), source_tokens, target_tokens, words)


def check_shapes(encoder: Sequence[Array], decoder: Sequence[Array], cross: Sequence[Array]) -> None:
    """Raises unless all layers are [B, H, rows, columns] over the same source and target: some models return windows."""
    source, target = (list(getattr(one[0], "shape", [0]))[-1] for one in (encoder, decoder))
    expected = {"encoder": [source, source], "decoder": [target, target], "cross": [target, source]}
    names = {"encoder": "source, source", "decoder": "target, target", "cross": "target, source"}
    for name, layers in zip(expected, (encoder, decoder, cross)):
        for k, layer in enumerate(layers):
            shape = list(getattr(layer, "shape", []))
            if len(shape) != 4 or shape[2:] != expected[name]:
                found = f"has shape {shape}" if shape else f"is a {type(layer).__name__}"
                raise Error(f"output: layer {k} of its {name} attention {found}, expected [items, heads, "
                            f"{names[name]}] in all layers; attention within windows cannot be joined with the rest")


def keep_of(mask: Mask | None, item: int) -> NumPyArray | None:
    """The real positions of an item; None if all are."""
    if mask is None:
        return None
    real = to_numpy(mask)
    return np.flatnonzero(real[item] if real.ndim == 2 else real)


def joined(steps: Sequence[Sequence[Array]], begins: list[int], places: list[int], square: bool) -> list[NumPyArray]:
    """Joins steps of generate(), [B, H, new, k] each, into layers [1, H, t, t] or [1, H, t, s] of one text."""
    layers = []
    chosen = rows_of_text(begins, [step[0].shape[-2] for step, _ in zip(steps, places)])
    for layer in range(len(steps[0])):
        rows = [to_numpy(step[layer][place]) for step, place in zip(steps, places)]
        heads = [whole_rows([row[head] for row in rows], begins, chosen, square) for head in range(len(rows[0]))]
        layers.append(np.stack(heads)[None])
    return layers


def compose(encoder: Maps, encoder_layers: int, decoder: Maps, cross: Maps, layers: int, kind: Kind,
            source_tokens: Sequence[str] | None, target_tokens: Sequence[str] | None,
            words: Mapping[str, Any]) -> EncoderDecoder:
    """The equations above, by the engine's own tracker."""
    options, _ = split(words)
    refuse(words, "encoder_decoder", REFUSED)
    asked = options.words()
    if asked["discard"] > 0 or asked["preset"] == "metrics":
        raise Error("encoder_decoder: `discard` and `preset` metrics are for one stack of layers; leave them out")

    def read(maps: Maps, layer: int) -> NumPyArray:
        return finite(np.array(maps(layer, asked["fuse"]), dtype=np.float32, order="C"), layer, "encoder_decoder")

    across = read(cross, 0)
    tracker = _engine.TargetTracker(layers, across.shape[1], across.shape[0], options)
    for layer in range(encoder_layers):
        tracker.encode(read(encoder, layer))
    for layer in range(layers):
        tracker.push(read(decoder, layer), across if layer == 0 else read(cross, layer))
    T, S, E = (np.array(view) for view in (tracker.target, tracker.source, tracker.encoder))
    names = [str(j) for j in range(S.shape[1])] if source_tokens is None else [str(one) for one in source_tokens]
    made = [str(j) for j in range(len(T))] if target_tokens is None else [str(one) for one in target_tokens]
    if len(names) != S.shape[1] or len(made) != len(T):
        raise Error(f"encoder_decoder: {len(names)} source and {len(made)} target tokens were given, expected "
                    f"{S.shape[1]} and {len(T)}; give those of the same texts")
    target, source, whole = (kind.back(one) for one in (T, S, E))
    notes = [_engine.empty_rows_note(tracker.empty_rows, options)] if tracker.empty_rows else []
    return EncoderDecoder(target, source, whole, names, made, asked, notes)

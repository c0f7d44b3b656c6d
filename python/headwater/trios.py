"""Encoder-decoder models: decoder tokens over target and source tokens.

E is the encoder's rollout [s, s]. In the decoder, T_l [t, t] and S_l [t, s] say how much of each target position comes
from each target and each source token after layer l; T = I, S = 0 before. With A_l the prepared self attention, C_l
the fused cross attention (rows divided by their sums) and r the residual, layer l does

    T <- A_l T,        S <- A_l S                            self attention
    T <- r T,          S <- r S + (1 - r) C_l E              cross attention and its residual

Rows of [T S] sum to 1.
"""
from __future__ import annotations

import json
from typing import Any, Sequence

import numpy as np

from ._engine import Error, __version__, labels
from .arguments import split
from .arrays import Kind, to_numpy
from .generated import check_places, fused_of, places_of, prompt_of
from .methods import rollout
from .saved import Saved


class EncoderDecoder(Saved):
    """`target` [t, t] and `source` [t, s]: how much of each target position comes from target and source tokens.

    `encoder` [s, s] is the encoder's rollout; `source_tokens` and `target_tokens` name the axes.
    """

    def __init__(self, target: Any, source: Any, encoder: Any, source_tokens: list[str], target_tokens: list[str],
                 options: dict[str, Any]):
        self.target, self.source, self.encoder = target, source, encoder
        self.source_tokens, self.target_tokens, self.options = source_tokens, target_tokens, options

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """[t, t + s]: target tokens, then source tokens."""
        return np.concatenate([to_numpy(self.target), to_numpy(self.source)], axis=1).astype(dtype or np.float32)

    def top(self, row: int = -1, k: int = 5) -> list[tuple[str, float]]:
        """The k source tokens that a target position leans on most."""
        values = to_numpy(self.source)[row]
        return [(self.source_tokens[j], float(values[j])) for j in np.argsort(-values, kind="stable")[:k]]

    def arrays(self) -> dict[str, np.ndarray]:
        """`both` is [t, t + s], target tokens, then source tokens."""
        return dict(both=np.asarray(self), target=to_numpy(self.target), source=to_numpy(self.source),
                    encoder=to_numpy(self.encoder), source_tokens=np.array(self.source_tokens),
                    target_tokens=np.array(self.target_tokens))

    def to_json(self) -> str:
        return json.dumps({"headwater": __version__, "method": "encoder_decoder", "options": self.options,
                           "source_tokens": self.source_tokens, "target_tokens": self.target_tokens,
                           "target": to_numpy(self.target).tolist(), "source": to_numpy(self.source).tolist(),
                           "encoder": to_numpy(self.encoder).tolist()}, ensure_ascii=False)

    def _repr_html_(self) -> str:
        from .html import lines
        return lines("target tokens over the source", self.target_tokens, to_numpy(self.source), self.source_tokens)

    def plot(self) -> Any:
        from .plot import draw, pyplot
        figure, axes = pyplot().subplots(1, 2, figsize=(14, 6), layout="constrained")
        names = labels(self.target_tokens)
        draw(axes[0], to_numpy(self.source), labels(self.source_tokens), names)
        draw(axes[1], to_numpy(self.target), names, names)
        axes[0].set_title("over the source")
        axes[1].set_title("over the target")
        return figure

    def __repr__(self) -> str:
        targets, sources = len(self.target_tokens), len(self.source_tokens)
        return f"<headwater.EncoderDecoder: {targets} target over {sources} source tokens>"


def encoder_decoder(output: Any, *, source_tokens: Sequence[str] | None = None,
                    target_tokens: Sequence[str] | None = None, attention_mask: Any = None,
                    decoder_attention_mask: Any = None, item: int = 0, beam_indices: Any = None,
                    **words: Any) -> EncoderDecoder:
    """Of a Hugging Face output with encoder_attentions, decoder_attentions and cross_attentions, also of generate(), or
    of a capture. `item` and `beam_indices` of a beam search as in `headwater.generation`. Options: fuse or head,
    residual, empty.
    """
    if hasattr(output, "encoder_decoder"):
        return output.encoder_decoder(source_tokens=source_tokens, target_tokens=target_tokens, item=item,
                                      beam_indices=beam_indices, **words)
    parts = [getattr(output, name, None) for name in ("encoder_attentions", "decoder_attentions", "cross_attentions")]
    if any(not part for part in parts):
        raise Error("output: holds no encoder, decoder and cross attention, expected all three; models return none "
                    "under sdpa: capture the model, or use attn_implementation='eager' with output_attentions=True")
    encoder, decoder, cross = parts
    text = item
    if isinstance(decoder[0], (list, tuple)):
        beam_indices = getattr(output, "beam_indices", None) if beam_indices is None else beam_indices
        rows = len(decoder[0][0])
        places = places_of(beam_indices, item, len(decoder), rows)
        decoder, cross = joined(decoder, places, square=True), joined(cross, places, square=False)
        item, text = prompt_of(places, rows, encoder[0]), 0
    real, target = keep_of(attention_mask, item), keep_of(decoder_attention_mask, text)

    def maps(layers: Any, rows: Any, columns: Any, item: int) -> Any:
        def make(layer: int, fuse: str) -> np.ndarray:
            map = np.asarray(to_numpy(fused_of(layers[layer], item, fuse)), dtype=np.float32)
            map = map if rows is None else map[rows]
            return map if columns is None else map[:, columns]
        return make

    return compose(maps(encoder, real, real, item), len(encoder), maps(decoder, target, target, text),
                   maps(cross, target, real, text), len(cross), Kind(encoder[0]), source_tokens, target_tokens, words)


def keep_of(mask: Any, item: int) -> np.ndarray | None:
    if mask is None:
        return None
    mask = to_numpy(mask)
    return np.flatnonzero(mask[item] if mask.ndim == 2 else mask)


def joined(steps: Any, places: list[int], square: bool) -> list[Any]:
    """Steps of generate(), each [B, H, 1, k], as layers [1, H, t, t] or [1, H, t, s] of the text in these places."""
    layers = []
    for layer in range(len(steps[0])):
        rows = [to_numpy(step[layer][place:place + 1]) for step, place in zip(steps, places)]
        width = rows[-1].shape[-1]
        if square:
            rows = [np.pad(row, [(0, 0)] * 3 + [(0, width - row.shape[-1])]) for row in rows]
        layers.append(np.concatenate(rows, axis=2))
    return layers


def compose(encoder: Any, encoder_layers: int, decoder: Any, cross: Any, layers: int, kind: Kind, source_tokens: Any,
            target_tokens: Any, words: dict[str, Any]) -> EncoderDecoder:
    options, rest = split(words)
    if rest:
        raise TypeError(f"encoder_decoder() got an unexpected keyword '{next(iter(rest))}'")
    asked = options.words()
    if asked["discard"] > 0 or asked["preset"] == "metrics":
        raise Error("encoder_decoder: discard and preset metrics are for one stack of layers, expected neither; "
                    "leave them out")
    r, fuse = asked["residual"], asked["fuse"]
    E = np.asarray(rollout([encoder(layer, fuse) for layer in range(encoder_layers)], residual=r, empty=asked["empty"]))
    T = S = None
    for layer in range(layers):
        A = divided((1 - r) * decoder(layer, fuse) + r * np.eye(len(decoder(layer, fuse)), dtype=np.float32))
        C = divided(cross(layer, fuse))
        T = A if T is None else A @ T
        S = np.zeros_like(C) if S is None else A @ S
        T, S = r * T, r * S + (1 - r) * (C @ E)
    names = [str(j) for j in range(S.shape[1])] if source_tokens is None else [str(one) for one in source_tokens]
    made = [str(j) for j in range(len(T))] if target_tokens is None else [str(one) for one in target_tokens]
    if len(names) != S.shape[1] or len(made) != len(T):
        raise Error(f"encoder_decoder: {len(names)} source and {len(made)} target tokens were given, expected "
                    f"{S.shape[1]} and {len(T)}; give those of the same texts")
    back = [kind.back(np.ascontiguousarray(one, dtype=np.float32)) for one in (T, S, E)]
    return EncoderDecoder(*back, names, made, asked)


def divided(map: np.ndarray) -> np.ndarray:
    sums = map.sum(1, keepdims=True, dtype=np.float64)
    return (map / np.where(sums > 0, sums, 1)).astype(np.float32)


def of_capture(seen: Any, *, source_tokens: Any = None, target_tokens: Any = None, item: int = 0,
               beam_indices: Any = None, **words: Any) -> EncoderDecoder:
    """The same of a capture: of one forward pass, or of generate()."""
    from .capturing import CROSS
    from .capturing.padding import real_positions
    sides: dict[str, list[list[Any]]] = dict(encoder=[], decoder=[], cross=[])
    for one in seen.passes:
        found: dict[str, list[Any]] = dict(encoder=[], decoder=[], cross=[])
        for record in one.records:
            side = "encoder" if "encoder" in record.name.split(".") else "decoder"
            side = "cross" if CROSS.search(record.name) else side
            found[side].append(record)
        for side, records in found.items():
            if records:
                sides[side].append(records)
    if not all(sides.values()):
        raise Error(f"{type(seen.model).__name__}: is no encoder-decoder model, expected encoder, decoder and cross "
                    "attention; ask .rollout() instead")
    told = next(one.told for one in reversed(seen.passes) if one.records)
    first = sides["encoder"][-1][0]
    mask = seen.attention_mask if seen.attention_mask is not None else told.get("attention_mask")
    rows_of_a_step = sides["decoder"][0][0].batch
    places = places_of(beam_indices, item, len(sides["decoder"]), rows_of_a_step)
    check_places([records[0] for records in sides["decoder"]], places)
    kept = first.query if first.query is not None else first.weights
    item = prompt_of(places, rows_of_a_step, kept)
    if mask is not None and mask.ndim == 2:
        mask = mask[prompt_of(places, rows_of_a_step, mask)]
    real = real_positions(mask, 1, first.queries, first.device)[0]

    def stacked(side: str, columns: Any) -> Any:
        def make(layer: int, fuse: str) -> np.ndarray:
            rows = [records[layer].map(place, fuse, range(records[layer].queries), None, columns).cpu().numpy()
                    for records, place in zip(sides[side], places)]
            width = max(row.shape[1] for row in rows)
            return np.concatenate([np.pad(row, [(0, 0), (0, width - row.shape[1])]) for row in rows])
        return make

    def encoder(layer: int, fuse: str) -> np.ndarray:
        n = first.queries if real is None else len(real)
        return sides["encoder"][-1][layer].map(item, fuse, range(n), real, real).cpu().numpy()

    return compose(encoder, len(sides["encoder"][-1]), stacked("decoder", None), stacked("cross", real),
                   len(sides["cross"][0]), Kind(kept), source_tokens, target_tokens, words)

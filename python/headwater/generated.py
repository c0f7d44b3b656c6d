"""Which prompt tokens each generated token comes from, from the output of generate() or from headwater's own engine.

m prompt tokens, n generated. With A_l the prepared layers (causal), for positions p:

    R_0[p, j] = A_0[p, j],   R_l[p, j] = sum over q <= p of A_l[p, q] R_(l-1)[q, j],   j < m

M[s, j, l] = R_l[row(s), j], where row(s) = m + s - 1 is the position that predicts token s, or m + s is its own. Step 0
of generate() gives m rows at once, each later step one row. The engine's tracker keeps the earlier rows.
"""
from __future__ import annotations

import os
from typing import Any, Mapping, Sequence, Unpack

import numpy as np

from . import _engine
from .arguments import (OPTIONS, Layers, OptionWords, WritingWords, layers_text, make_options, offset_pairs, refuse, spelled_out,
                        split)
from .arrays import Array, Kind, NumPyArray, fused_on_cpu, same_values, to_numpy
from .errors import Error
from .image import ImageAttribution, ImageTokens, image_of
from .kinds import AnyPath, ArrayIn, DType, Figure, Grid, Ids, Mask, Offsets
from .printed import Printed
from .protocols import Recorded, WithAttentions
from .top import largest
from .source import layers_of, refuse_capture_words
from .values import id_list, path_of, text_list
from .steps import Map, Step, begins_of, finite, pieces, placed, rows_of_text

ALL_ROWS = {"row": "every generated token has a row of its own: take .values[s]"}


class Generation(Printed):
    """`M` [n, m, L] of one prompt: generated token, prompt token, layer. `M[s, :, -1]` is token s over the prompt.

    `prompt` and `generated` are tokens, `values` is M of the last layer, [n, m]. If headwater's own engine wrote the
    text, `text`, `prompt_ids` and `generated_ids` hold it and its ids.

    With method='relevance', `relevance` [n, m + n] is in place of M, which is then empty: the signed relevance of each
    token before for generated token s (one row for a span), of the prompt or generated. `outputs` are the logits, or
    log-probabilities, that the rows explain, `biases` what biases take.

    For a model with an encoder (T5, BART), `prompt` are the source tokens, M [n, s, L] is over them and the layers of
    the decoder, and `target` [n, t] is how much of each generated token comes from the tokens of the target, which
    `target_tokens` names; `encoder` [s, s] is the rollout of the source. `target` and `encoder` are None without one.
    """

    def __init__(self, M: Array, prompt: list[str], generated: list[str], options: dict[str, Any], notes: list[str],
                 results: _engine.Results | None = None):
        self.M, self.prompt, self.generated, self.options, self.notes = M, prompt, generated, options, notes
        self.text = ""
        self.prompt_ids: list[int] = []
        self.generated_ids: list[int] = []
        self.relevance: NumPyArray | None = None
        self.outputs: list[float] = []
        self.biases: list[float] = []
        self.target: NumPyArray | None = None
        self.encoder: NumPyArray | None = None
        self.target_tokens: list[str] = []
        self.target_ids: list[int] = []
        self.images: list[ImageTokens] = []  # of the prompt of a vision-language model
        self._results = results
        self._layers = 0  # of the model
        self._source = "generate"  # what wrote the text, as its page calls it

    def _record(self) -> _engine.Results:
        """The engine's record; for a text that was written elsewhere, made on demand."""
        if self._results is not None:
            return self._results
        results = _engine.Results()
        options = {word: value for word, value in self.options.items() if word != "position"}
        results.add_generated(make_options(**options), self._source, self.prompt, self.generated, self._layers,
                              self.options["position"] == "own",
                              np.ascontiguousarray(to_numpy(self.M), dtype=np.float32), self.notes)
        return results

    def image(self, s: int, k: int = 0, *, grid: Grid | None = None) -> ImageAttribution:
        """Image k of the prompt: how much of generated token s comes from each of its patches.

        `grid` is (rows, columns), for models whose grids headwater does not know.
        """
        return image_of(to_numpy(self.values[s]), self.images, k, self.generated[s], "generation", given=grid)

    @property
    def values(self) -> Array:
        """M of the last layer, [n, m], or the relevance."""
        return self.M[:, :, -1] if self.relevance is None else self.relevance

    def __array__(self, dtype: DType = None, copy: bool | None = None) -> NumPyArray:
        array = to_numpy(self.M) if self.relevance is None else self.relevance
        return array.astype(dtype) if dtype is not None else array

    def __eq__(self, other: object) -> bool:
        """Whether everything is the same: M, tokens, options, notes and text."""
        if not isinstance(other, Generation):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in (
            "prompt", "generated", "options", "notes", "text", "prompt_ids", "generated_ids", "outputs", "biases")) and \
            same_values(self.M, other.M) and same_values(np.asarray(self.values), np.asarray(other.values)) and \
            self.target_tokens == other.target_tokens and \
            (self.target is None or other.target is None or same_values(self.target, other.target))

    __hash__ = None  # type: ignore[assignment]

    def top(self, s: int, k: int = 5, *, filter: str = "") -> list[tuple[str, float]]:
        """The k prompt tokens from which most of generated token s comes; of relevance, also generated ones.

        `filter` leaves tokens out: 'special', 'punctuation', 'common', '@FILE', separated by commas.
        """
        count = len(self.values)
        if not -count <= s < count:
            raise Error(f"generate: has no generated token {s}, expected 0 to {count - 1} (or -1 for the last); "
                        "choose another")
        return largest(to_numpy(self.values[s]), self._inputs(), k, filter)

    def words(self, offsets: Offsets | None = None) -> Generation:
        """The text by words: columns of a prompt word's pieces are added, rows of a generated word's averaged.

        `offsets` are the tokenizer's offset_mapping of the prompt, without padding. Without them, and for generated
        tokens, the marks of the pieces say where words begin. Ids stay those of the tokens.
        """
        results = self._record().words(0, offsets=offset_pairs(offsets))
        out = read(results)
        if self._results is None:  # the text came from elsewhere, and its values go back there
            out.M, out.options = Kind(self.M).back(out.M), self.options
        out.images = [place.moved(results.generated(0)["pieces"]) for place in self.images]
        return out

    def _inputs(self) -> list[str]:
        return self.prompt if self.relevance is None else self.prompt + self.generated

    def _rows(self) -> list[str]:
        span = self.options.get("span")
        return self.generated if not span else ["".join(self.generated[slice(*span)])]

    def save(self, path: AnyPath) -> None:
        """Writes .json .npy .npz .png .svg .pdf or .html, by the ending."""
        self._record().save(os.fspath(path))

    def _page(self, *, only_data: bool = False) -> str:
        return self._record().page(only_data=only_data)

    def _repr_html_(self) -> str:
        from .framing import displayed
        return displayed(self, int(np.prod(self.values.shape)))

    def _spans(self) -> str:
        from .html import lines
        return lines("generated tokens over the prompt", self._rows(), to_numpy(self.values), self._inputs(),
                     self.relevance is not None)

    def to_json(self) -> str:
        """All of the result as JSON."""
        return self._record().json()

    def plot(self, *, title: str = "generated tokens over the prompt") -> Figure:
        """A matplotlib figure: prompt tokens along x, generated tokens along y."""
        from .plot import draw, pyplot, show
        size = min(16, 4 + 0.3 * len(self.prompt)), min(14, 2 + 0.3 * len(self.generated))
        figure, ax = pyplot().subplots(figsize=size, layout="constrained")
        draw(ax, to_numpy(self.values), _engine.labels(self._inputs()), _engine.labels(self._rows()),
             signs=self.relevance is not None)
        ax.set_title(title)
        return show(figure)

    def __repr__(self) -> str:
        if self.relevance is not None:
            return f"<headwater.Generation: {len(self.generated)} tokens after {len(self.prompt)}, relevance>"
        layers = self.M.shape[-1]
        return f"<headwater.Generation: {len(self.generated)} tokens over {len(self.prompt)}, {layers} layers>"


@spelled_out
def generate(model: AnyPath, prompt: str | None = None, *, text: str | None = None,
             ids: Ids | None = None, continuation: str | None = None, count: int | None = None,
             temperature: float = 0.0, top_k: int = 0, top_p: float = 1.0, seed: int = 0,
             stop: str | int | Sequence[str | int] = (), ignore_end: bool = False, position: str = "predicting",
             method: str = "rollout", rule: str | None = None, span: Layers | None = None, score: str = "logit",
             ignore_code: bool = False, **words: Unpack[OptionWords]) -> Generation:
    """Lets a model directory, or a model that ships, continue `prompt`, and attributes each new token to the prompt.

    A model with an encoder (T5, BART) reads the source `text` first, and its target starts with `prompt`, which may
    be left out. It writes at most `count` tokens, by default 20; greedy at temperature 0. `ids` may replace a prompt
    or text. `continuation` is text that exists already: it is attributed, and nothing is sampled. `stop` lists
    tokens, by word or id, that end the text as the model's own end token does. `position` is 'predicting' (the token
    before) or 'own'. Options: fuse or head, residual, empty, divide, layers. `method` 'relevance' gives the signed
    relevance of each earlier token instead, by `rule` 'frozen' or 'attnlrp'; `span` (as 'j:i', slice or range) takes
    those generated tokens as one target. `score` says what of each token is explained: its 'logit', or its 'log-
    probability', which sets it against all other words. `ignore_code` as in `headwater.open`. Raises headwater.Error.
    """
    if not isinstance(prompt, str) and len(text_list("prompt", prompt)) > 1:
        raise Error(f"`prompt` {prompt!r}: has several texts, expected one; headwater.generate_all takes several")
    results = written(model, words, count=count, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed, stop=stop,
                      ignore_end=ignore_end, position=position, method=method, rule=rule, span=span, score=score,
                      ignore_code=ignore_code, prompt="".join(text_list("prompt", prompt)),
                      ids=[] if ids is None else id_list(ids), continuation=continuation, text=text)
    return read(results[0])


@spelled_out
def generate_all(model: AnyPath, texts: Sequence[str], **words: Unpack[WritingWords]) -> list[Generation]:
    """`headwater.generate` of several prompts, or sources of a model with an encoder: a result for each, in order.

    Texts are written together: each step takes the next tokens of all of them through one matrix product, which is
    several times as fast as one by one and gives the same bytes. The other keywords are those of `headwater.generate`.
    Raises headwater.Error.
    """
    if isinstance(texts, str):
        raise Error("`texts`: is one text, expected a list of texts; headwater.generate takes one")
    options: dict[str, Any] = {word: value for word, value in words.items() if word in OPTIONS}
    more: dict[str, Any] = {word: value for word, value in words.items() if word not in OPTIONS}
    results = written(model, options, reads=text_list("texts", texts), **more)
    return [read(one) for one in results]


def written(model: AnyPath, words: Mapping[str, Any], *, stop: str | int | Sequence[str | int] = (),
            ignore_end: bool = False, position: str = "predicting", method: str = "rollout", rule: str | None = None,
            span: Layers | None = None, continuation: str | None = None, count: int | None = None,
            **more: Any) -> list[_engine.Results]:
    """The texts that the engine writes. Raises headwater.Error for words that do not go together."""
    options, _ = split(words)
    refuse(words, "generate", ALL_ROWS)
    check_position(position)
    if method not in ("rollout", "relevance"):
        raise Error(f"unknown method '{method}'; there are rollout and relevance")
    if method == "rollout" and rule is not None:
        raise Error("`rule`: was given without relevance, expected both; add method='relevance'")
    if count is not None and continuation is not None:
        raise Error("`count`: was given beside a continuation, expected one of them; leave one out")
    stops = [str(one) for one in ([stop] if isinstance(stop, (str, int)) else stop)]
    if stops and (ignore_end or continuation is not None):
        other = "ignore_end" if ignore_end else "a continuation"
        raise Error(f"`stop`: was given beside {other}, expected one of them; leave one out")
    return _engine.generate(path_of("generate", model), options, stops=stops, ignore_end=ignore_end,
                            own_position=position == "own", continuation=continuation,
                            count=20 if count is None else count,
                            rule=(rule or "frozen") if method == "relevance" else None,
                            span=None if span is None else layers_text(span), **more)


def read(results: _engine.Results) -> Generation:
    """A generated text."""
    facts = results.generated(0)
    begin, end = facts["options"]["layers"]
    M = np.zeros((facts["matrices"], len(facts["prompt"]), end - begin), dtype=np.float32)
    for s in range(len(M)):
        M[s] = results.matrix(0, m=s)
    out = Generation(M, facts["prompt"], facts["generated"], facts["options"], facts["notes"], results)
    out.text, out.prompt_ids, out.generated_ids = facts["text"], facts["prompt_ids"], facts["generated_ids"]
    if facts["target_tokens"] is not None:
        out.target, out.encoder = results.extra(0, "target"), results.extra(0, "encoder")
        out.target_tokens, out.target_ids = facts["target_tokens"], facts["target_ids"]
    if "outputs" in facts:
        out.relevance = results.extra(0, "relevance")
        out.outputs, out.biases = facts["outputs"], facts["biases"]
    return out


@spelled_out
def generation(output: WithAttentions | Recorded | Sequence[Sequence[Array]], *, prompt: Sequence[str] | None = None,
               generated: Sequence[str] | None = None, attention_mask: Mask | None = None, item: int | None = None,
               position: str = "predicting", beam_indices: ArrayIn | None = None, call: int | None = None,
               **words: Unpack[OptionWords]) -> Generation:
    """M of a capture of generate(), or of what generate(output_attentions=True, return_dict_in_generate=True) returned.

    A step has one array a layer, [B, H, m, m] and then [B, H, 1, k]. `attention_mask` [B, m] says which positions of
    the prompt are padding. `position` is 'predicting' (the token before) or 'own'. After a beam search, `item` counts
    the returned texts, and `beam_indices` [texts, n] says which row of a step made each token. Outputs carry
    `beam_indices`; pass them along with a capture. `call` chooses among the generate() that a capture saw. Options:
    fuse or head, residual, empty, divide, layers. Raises headwater.Error.
    """
    if isinstance(output, Recorded):
        return output.generation(prompt=prompt, generated=generated, attention_mask=attention_mask, item=item,
                                 position=position, beam_indices=beam_indices, call=call, **words)
    refuse_capture_words(dict(call=call))
    steps = output.attentions if isinstance(output, WithAttentions) else output
    if not isinstance(steps, (list, tuple)) or not steps or not isinstance(steps[0], (list, tuple)):
        raise Error("generate: holds no attention by step, expected a tuple for each; pass output_attentions=True and "
                    "return_dict_in_generate=True under eager attention, or capture generate()")
    beam_indices = getattr(output, "beam_indices", None) if beam_indices is None else beam_indices
    places = places_of(beam_indices, item, len(steps), len(steps[0][0]))

    def map_of(layer: Array, place: int) -> Map:
        return lambda fuse: fused_on_cpu(layer[place], fuse)

    maps = [Step(step[0].shape[-2], [map_of(layer, place) for layer in layers_of(step)], begin)
            for step, place, begin in zip(steps, places, begins_of(steps))]
    mask = mask_of(attention_mask, prompt_of(places, len(steps[0][0]), attention_mask), maps[0].new)
    return follow(maps, Kind(steps[0][0]), prompt, generated, mask, position, words, maps[0].new, None)


def check_position(position: str) -> None:
    if position not in ("predicting", "own"):
        raise Error(f"unknown position '{position}'; there are predicting and own")


def places_of(beam_indices: ArrayIn | None, item: int | None, steps: int, rows: int) -> list[int]:
    """The row of each step that made a text. Beam search moves texts between rows and ends some early."""
    if beam_indices is None:
        return [within(item, rows)] * steps
    made = to_numpy(beam_indices)
    if made.ndim != 2 or made.max(initial=-1) >= rows:
        raise Error(f"beam_indices: has shape {list(made.shape)} and numbers up to {made.max(initial=-1)}, expected "
                    f"[texts, tokens] and numbers below {rows}; give the beam_indices of the same output")
    return [int(place) for place in made[within(item, len(made))][:steps] if place >= 0]


def within(item: int | None, items: int) -> int:
    if item is None and items > 1:
        raise Error(f"generate: holds a batch of {items} texts, expected one; choose it with item=K")
    item = 0 if item is None else item
    if not -items <= item < items:
        raise Error(f"generate: has no item {item}, expected 0 to {items - 1} (or -1 for the last); choose another")
    return range(items)[item]


def prompt_of(places: list[int], rows: int, each: Array) -> int:
    """The entry for a text in `each`, which has one for each prompt or for each row of a step.

    The rows of one prompt lie side by side.
    """
    prompts = len(each) if each is not None and getattr(each, "ndim", 2) > 1 else rows
    return places[0] * prompts // rows


def mask_of(attention_mask: Mask | None, item: int, length: int) -> NumPyArray | None:
    if attention_mask is None:
        return None
    mask: NumPyArray = to_numpy(attention_mask) != 0
    if mask.ndim not in (1, 2) or mask.shape[-1] != length:
        raise Error(f"attention_mask: has shape {list(mask.shape)}, expected {length} positions, those of the prompt; "
                    "give the mask that generate() was given")
    return mask[item] if mask.ndim == 2 else mask


def follow(steps: list[Step], kind: Kind, prompt: Sequence[str] | None, generated: Sequence[str] | None,
           mask: NumPyArray | None, position: str, words: Mapping[str, Any], length: int,
           count: int | None) -> Generation:
    """Pushes the rows of a text through the engine's tracker.

    `length` is that of the prompt, `count` says how many tokens follow.
    """
    options, _ = split(words)
    refuse(words, "generation", ALL_ROWS)
    check_position(position)
    chosen = rows_of_text([step.begin for step in steps], [step.new for step in steps])
    count = len(chosen) - length + 1 if count is None else count
    chosen = chosen[:length + count]  # rejected guesses come after
    if len(chosen) < length + count - 1 or count < 1:
        raise Error(f"generate: {len(chosen)} positions were read for a prompt of {length} and {count} new tokens; "
                    "capture the whole of generate()")
    real = np.arange(length) if mask is None else np.flatnonzero(mask)
    m = len(real)
    if m == 0:
        raise Error("generate: the prompt is all padding, expected a token; choose another `item`")
    if len({len(step.layers) for step in steps}) > 1:
        raise Error("generate: its steps have different numbers of layers, expected the same number in each; capture one "
                    "generate()")
    tracker = _engine.Tracker(len(steps[0].layers), m, m + len(chosen) - length, options, "generate")
    begin, end = tracker.range
    for first, last in pieces(chosen, length):
        step, top = steps[chosen[first][0]], chosen[first][1]
        for layer in range(begin, end):
            rows = np.asarray(step.layers[layer](options.words()["fuse"]), dtype=np.float32)
            rows = placed(rows, step)[top:top + last - first]
            width = rows.shape[1]
            places = np.concatenate([real[real < width], np.arange(length, width)])  # all columns, also of guesses
            own = places[(places >= first) & (places < last)]
            rows = finite(rows[own - first][:, places], layer)
            # A prompt that is read at once may attend in both directions (PaliGemma, GIT): its rows are unchanged.
            after = places >= last if (first, last) == (0, length) else places > own[:, None]
            if rows[np.broadcast_to(after, rows.shape)].any():
                raise Error(f"generate: positions of layer {layer} attend to later positions, expected causal "
                            "attention: without it all rows change with every new token; ask for the rollout of a pass")
            if len(rows):
                tracker.push(layer, np.array(rows[:, places < last], order="C"))
    out = packed(tracker, m, count, kind, prompt, generated, position, options)
    out._layers = len(steps[0].layers)
    return out


def packed(tracker: _engine.Tracker, m: int, count: int, kind: Kind, prompt: Sequence[str] | None,
           generated: Sequence[str] | None, position: str, options: _engine.Options) -> Generation:
    begin, end = tracker.range
    first = m - 1 if position == "predicting" else m
    stop = min(first + count, len(tracker.rolled(begin)))
    notes = []
    if stop - first < count:
        notes.append("the model never read the last token, so it has no row of its own")
    if tracker.empty_rows:
        notes.append(_engine.empty_rows_note(tracker.empty_rows, options))
    M = np.stack([tracker.rolled(layer)[first:stop] for layer in range(begin, end)], axis=-1)
    names = [str(token) for token in prompt] if prompt is not None else [str(j) for j in range(m)]
    made = [str(token) for token in (range(m, m + len(M)) if generated is None else generated[:len(M)])]
    if len(names) != m or len(made) != len(M):
        raise Error(f"generate: {len(names)} prompt and {len(made)} generated tokens were given, expected {m} and "
                    f"{len(M)}; give those of the same text")
    asked = options.words() | {"layers": [begin, end], "position": position}
    return Generation(kind.back(np.ascontiguousarray(M)), names, made, asked, notes)

"""Which prompt tokens each generated token leans on, from what generate() returned or from a capture of it.

m prompt tokens, n generated. With A_l the prepared layers (causal), for positions p:

    R_0[p, j] = A_0[p, j],   R_l[p, j] = sum over q <= p of A_l[p, q] R_(l-1)[q, j],   j < m

M[s, j, l] = R_l[row(s), j], with row(s) = m + s - 1, the position that predicts token s, or its own, m + s. Step 0 of
generate() gives m rows at once, each later step one row; earlier rows are kept, never computed again.
"""
from __future__ import annotations

import json
import os
from typing import Any, Sequence

import numpy as np

from . import _engine
from ._engine import Error
from .arguments import split
from .arrays import Kind, to_numpy
from .device import fused
from .saved import Saved
from .source import layers_of


class Generation(Saved):
    """`M` [n, m, L] of one prompt: generated token, prompt token, layer. `M[s, :, -1]` is token s over the prompt.

    `prompt` and `generated` are tokens; `values` is M of the last layer, [n, m].
    """

    text = ""  # that the generated tokens stand for, where headwater's own engine wrote them
    _results: _engine.Results | None = None

    def __init__(self, M: Any, prompt: list[str], generated: list[str], options: dict[str, Any], notes: list[str]):
        self.M, self.prompt, self.generated, self.options, self.notes = M, prompt, generated, options, notes

    @property
    def values(self) -> Any:
        return self.M[:, :, -1]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = to_numpy(self.M)
        return array.astype(dtype) if dtype is not None else array

    def top(self, s: int, k: int = 5) -> list[tuple[str, float]]:
        """The k prompt tokens that generated token s leans on most."""
        row = to_numpy(self.values[s])
        return [(self.prompt[j], float(row[j])) for j in np.argsort(-row, kind="stable")[:k]]

    def save(self, path: Any) -> None:
        """Writes .json .npy .npz .png .svg or .pdf, by the ending."""
        if self._results is not None:
            return self._results.save(os.fspath(path))
        super().save(path)

    def arrays(self) -> dict[str, np.ndarray]:
        return dict(M=to_numpy(self.M), prompt=np.array(self.prompt), generated=np.array(self.generated))

    def _repr_html_(self) -> str:
        from .html import lines
        return lines("generated tokens over the prompt", self.generated, to_numpy(self.values), self.prompt)

    def to_json(self) -> str:
        if self._results is not None:
            return self._results.json()
        return json.dumps({"headwater": _engine.__version__, "method": "generate", "options": self.options,
                           "prompt": self.prompt, "generated": self.generated, "M": to_numpy(self.M).tolist(),
                           "notes": self.notes}, ensure_ascii=False)

    def plot(self, *, title: str = "generated tokens over the prompt") -> Any:
        from .plot import draw, pyplot
        size = min(16, 4 + 0.3 * len(self.prompt)), min(14, 2 + 0.3 * len(self.generated))
        figure, ax = pyplot().subplots(figsize=size, layout="constrained")
        draw(ax, to_numpy(self.values), _engine.labels(self.prompt), _engine.labels(self.generated))
        ax.set_title(title)
        return figure

    def __repr__(self) -> str:
        layers = self.M.shape[-1]
        return f"<headwater.Generation: {len(self.generated)} tokens over {len(self.prompt)}, {layers} layers>"


def generate(model: Any, prompt: str | None = None, *, ids: Sequence[int] | None = None,
             continuation: str | None = None, count: int = 20, temperature: float = 0.0, top_k: int = 0,
             top_p: float = 1.0, seed: int = 0, stop: str | int | Sequence[str | int] = (), ignore_end: bool = False,
             position: str = "predicting", **words: Any) -> Generation:
    """Lets a model directory, or a model that ships, write after `prompt`, and attributes each token to the prompt.

    Greedy at temperature 0. `continuation` is a text that is already there: it is attributed, nothing is chosen.
    `ids` in place of a prompt. `stop` are tokens, words or ids, that end the text like the model's own end. Options:
    fuse or head, residual, empty, layers. Raises headwater.Error.
    """
    options, rest = split(words)
    if rest:
        raise TypeError(f"generate() got an unexpected keyword '{next(iter(rest))}'")
    if position not in ("predicting", "own"):
        raise Error(f"unknown position '{position}'; there are predicting and own")
    stops = [str(one) for one in ([stop] if isinstance(stop, (str, int)) else stop)]
    if stops and (ignore_end or continuation is not None):
        other = "ignore_end" if ignore_end else "a continuation"
        raise Error(f"stop: was given beside {other}, expected one of them; leave one out")
    folder = os.fspath(model)
    results = _engine.generate(folder, options, prompt or "", [int(one) for one in ids or []], continuation, count,
                               temperature, top_k, top_p, seed, ignore_end, position == "own", stops)
    read = json.loads(results.json())
    M = np.array(read.get("M", []), dtype=np.float32)
    out = Generation(M, read["prompt"], read["generated"], read["options"] | read["generation"], read["notes"])
    out.text, out._results = read["text"], results
    return out


def generation(output: Any, *, prompt: Sequence[str] | None = None, generated: Sequence[str] | None = None,
               attention_mask: Any = None, item: int = 0, position: str = "predicting", beam_indices: Any = None,
               **words: Any) -> Generation:
    """M of what `model.generate(..., output_attentions=True, return_dict_in_generate=True)` returned, or of a capture.

    Steps are [B, H, m, m], then [B, H, 1, k] a layer. `attention_mask` [B, m] is the prompt's, where it is padded.
    `position`: 'predicting' (the token before, default) or 'own'. Of a beam search `item` is one of the texts that
    came out, and `beam_indices` [texts, n] says in which row of a step each of its tokens was made: an output has it,
    a capture is told it. Options: fuse or head, residual, empty, layers.
    """
    if hasattr(output, "generation"):
        return output.generation(prompt=prompt, generated=generated, item=item, position=position,
                                 beam_indices=beam_indices, **words)
    steps = getattr(output, "attentions", output)
    if not isinstance(steps, (list, tuple)) or not steps or not isinstance(steps[0], (list, tuple)):
        raise Error("generate: holds no attention by step, expected a tuple for each; pass output_attentions=True and "
                    "return_dict_in_generate=True under eager attention, or capture generate()")
    beam_indices = getattr(output, "beam_indices", None) if beam_indices is None else beam_indices
    places = places_of(beam_indices, item, len(steps), len(steps[0][0]))
    maps = [[lambda fuse, one=one, place=place: to_numpy(fused_of(one, place, fuse)) for one in layers_of(step)]
            for step, place in zip(steps, places)]
    mask = mask_of(attention_mask, prompt_of(places, len(steps[0][0]), attention_mask))
    return follow(maps, Kind(steps[0][0]), prompt, generated, mask, position, words)


def places_of(beam_indices: Any, item: int, steps: int, rows: int) -> list[int]:
    """In which row of each step a text was made: a beam search moves texts between rows, and ends some early."""
    if beam_indices is None:
        return [range(rows)[within(item, rows)]] * steps
    made = to_numpy(beam_indices)
    if made.ndim != 2 or made.max(initial=-1) >= rows:
        raise Error(f"beam_indices: has shape {list(made.shape)} and numbers up to {made.max(initial=-1)}, expected "
                    f"[texts, tokens] and numbers below {rows}; give beam_indices of the same output")
    made = made[within(item, len(made))]
    return [int(place) for place in made[:steps] if place >= 0]


def within(item: int, items: int) -> int:
    if not -items <= item < items:
        raise Error(f"generate: has no item {item}, expected 0 to {items - 1} (or -1 for the last); choose another")
    return item


def prompt_of(places: list[int], rows: int, each: Any) -> int:
    """Where in `each`, which has an entry for each prompt or for each row of a step, that of a text is.

    The rows of one prompt lie side by side.
    """
    prompts = len(each) if each is not None and getattr(each, "ndim", 2) > 1 else rows
    return places[0] * prompts // rows


def fused_of(layer: Any, item: int, fuse: str) -> Any:
    heads = layer[item]
    if isinstance(heads, np.ndarray):
        return dict(mean=heads.mean, max=heads.max, min=heads.min)[fuse](0) if ":" not in fuse else heads[int(fuse[5:])]
    return fused(heads, fuse)


def mask_of(attention_mask: Any, item: int) -> np.ndarray | None:
    if attention_mask is None:
        return None
    mask = to_numpy(attention_mask) != 0
    return mask[item] if mask.ndim == 2 else mask


def follow(steps: list[Any], kind: Kind, prompt: Any, generated: Any, mask: np.ndarray | None, position: str,
           words: dict[str, Any]) -> Generation:
    options, rest = split(words)
    if rest:
        raise TypeError(f"generation() got an unexpected keyword '{next(iter(rest))}'")
    asked = options.words()
    if asked["discard"] > 0 or asked["preset"] == "metrics":
        raise Error("generation: discard and preset metrics need the whole matrix, expected neither; leave them out")
    if position not in ("predicting", "own"):
        raise Error(f"unknown position '{position}'; there are predicting and own")
    begin, end = options.range(len(steps[0]), "generate")
    rolled: list[np.ndarray] = []
    real, length = None, 0
    for step, layers in enumerate(steps):
        below: np.ndarray | None = None
        for place, layer in enumerate(range(begin, end)):
            rows = np.array(layers[layer](asked["fuse"]), dtype=np.float32)
            length = rows.shape[1] if step == 0 and place == 0 else length
            missing = length + step - rows.shape[1]  # a sliding window forgets what it no longer sees
            rows = np.pad(rows, [(0, 0), (missing, 0)]) if missing > 0 else rows
            if step == 0 and mask is not None and place == 0:
                real = np.flatnonzero(mask[-rows.shape[1]:])
            if real is not None:
                late = np.arange(len(mask), rows.shape[1])
                rows = rows[real] if step == 0 else rows
                rows = rows[:, np.concatenate([real, late]).astype(int)]
            rows = prepared(rows, asked)
            m = rows.shape[1] if step == 0 else rolled[place].shape[1]
            if place == 0:
                new = rows[:, :m]
            else:
                before = below if step == 0 else np.concatenate([rolled[place - 1][:rows.shape[1] - len(rows)], below])
                new = rows @ before[:rows.shape[1]]
            below = new
            if step == 0:
                rolled.append(new)
            else:
                rolled[place] = np.concatenate([rolled[place], new])
    m = rolled[0].shape[1]
    return packed(rolled, m, len(steps), kind, prompt, generated, position, asked | {"layers": [begin, end]})


def prepared(rows: np.ndarray, asked: dict[str, Any]) -> np.ndarray:
    """New rows with residual, divided by their sums: the last of them stands at the last column."""
    r = asked["residual"]
    count, columns = rows.shape
    own = np.arange(columns - count, columns)
    rows = rows * (1 - r)
    rows[np.arange(count), own] += r
    sums = rows.sum(1, keepdims=True, dtype=np.float64)
    empty = sums[:, 0] <= 0
    rows = (rows / np.where(sums > 0, sums, 1)).astype(np.float32)
    if asked["empty"] == "identity":
        rows[empty, own[empty]] = 1
    return rows


def packed(rolled: list[np.ndarray], m: int, count: int, kind: Kind, prompt: Any, generated: Any, position: str,
           options: dict[str, Any]) -> Generation:
    notes = []
    first = m - 1 if position == "predicting" else m
    stop = min(first + count, len(rolled[0]))
    if stop - first < count:
        notes.append("the last token was never read by the model, so it has no row of its own")
    M = np.stack([layer[first:stop] for layer in rolled], axis=-1)
    names = [str(token) for token in prompt] if prompt is not None else [str(j) for j in range(m)]
    made = range(m, m + len(M)) if generated is None else generated[:len(M)]
    made = [str(token) for token in made]
    if len(names) != m or len(made) != len(M):
        raise Error(f"generate: {len(names)} prompt and {len(made)} generated tokens were given, expected {m} and "
                    f"{len(M)}; give those of the same text")
    return Generation(kind.back(np.ascontiguousarray(M)), names, made, options | {"position": position}, notes)


def of_capture(seen: Any, *, prompt: Any = None, generated: Any = None, item: int = 0, position: str = "predicting",
               beam_indices: Any = None, **words: Any) -> Generation:
    """The same of a capture of model.generate()."""
    from .capturing import CROSS
    passes = [[record for record in one.records if not CROSS.search(record.name)] for one in seen.passes if one.records]
    if not passes:
        seen.call()
    first = passes[0][0]
    places = places_of(beam_indices, item, len(passes), first.batch)
    check_places([records[0] for records in passes], places)
    steps = [[lambda fuse, record=record, place=place: record.map(place, fuse, range(record.queries), None,
                                                                  None).cpu().numpy() for record in records]
             for records, place in zip(passes, places)]
    told = [one.told for one in seen.passes if one.records][0]
    mask = seen.attention_mask if seen.attention_mask is not None else told.get("attention_mask")
    if mask is not None and mask.shape[-1] != first.queries:
        mask = None
    mask = mask_of(mask, prompt_of(places, first.batch, mask))
    if prompt is None and seen.tokenizer is not None and told.get("input_ids") is not None:
        ids = to_numpy(told["input_ids"][places[0]])
        prompt = seen.tokenizer.convert_ids_to_tokens((ids if mask is None else ids[mask]).tolist())
    return follow(steps, Kind(first.query if first.query is not None else first.weights), prompt, generated, mask,
                  position, words)


def check_places(records: list[Any], places: list[int]) -> None:
    """Raises where a step's keys are not those of the step before: the rows of another text then stand in its place."""
    for k in range(1, len(places)):
        before, now = records[k - 1], records[k]
        if before.key is None or now.keys != before.keys + now.queries:
            continue
        if not bool((now.key[places[k], :, before.keys - 1] == before.key[places[k - 1], :, -1]).all()):
            raise Error("capture: its texts changed places between steps, as a beam search makes them; give "
                        "beam_indices= of what generate(..., return_dict_in_generate=True, output_scores=True) "
                        "returned, or num_beams=1")

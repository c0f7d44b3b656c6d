"""The methods as torch operations, for attention on a GPU. This is the only place where Python prepares layers.

The steps are those of the engine (layer/layers.h), item by item. The tests run both on the CPU and compare values and
notes.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, NotRequired, Sequence, TypedDict

import numpy as np
import torch
from torch import Tensor

from .. import _engine
from ..arguments import ASKED, READING, one_row, split
from ..arrays import Kind, to_numpy
from ..result import Attribution, Metrics
from ..source import Attention
from .all_rows import all_rows
from .batches import together
from .memory import with_room
from .products import product
from .rows import Rows, first_rows, trusted

if TYPE_CHECKING:
    from .maps import Maps

# -- one layer


def fused(heads: Tensor, fuse: str) -> Tensor:
    """[H, ...] to [...] float32."""
    if fuse.startswith("head:"):
        return heads[int(fuse[5:])].float()
    if fuse == "mean":
        return heads.mean(0, dtype=heads.dtype if heads.dtype.itemsize > 4 else torch.float32).float()
    return (heads.amax(0) if fuse == "max" else heads.amin(0)).float()


BLOCK_NUMBERS = 1 << 26  # of maps that are summed at a time: torch makes all of them float64 first


def row_sums(map: Tensor) -> Tensor:
    """The sums of rows [..., n, n], in float64."""
    height = max(1, BLOCK_NUMBERS // map.shape[-1])
    return torch.cat([some.sum(-1, dtype=torch.float64) for some in torch.split(map, height, -2)], -1)


def divide(map: Tensor, empty: str) -> Tensor:
    """Divides rows by their sums, in place. Returns which rows summed to 0, [..., n]."""
    sums = row_sums(map)
    gone = sums <= 0
    map /= torch.where(gone, 1.0, sums)[..., None].to(map.dtype)
    if empty == "identity":
        map.diagonal(dim1=-2, dim2=-1).masked_fill_(gone, 1)
    return gone


def discard(map: Tensor, share: float) -> None:
    """Sets the smallest entries of one [n, n] map to 0, in place."""
    rank = int(np.floor(map.numel() * share))
    threshold = map.flatten().kthvalue(rank + 1).values
    map.masked_fill_(map < threshold, 0)


def prepare(map: Tensor, options: Mapping[str, Any]) -> Tensor:
    """Turns fused maps [..., n, n] into the layer's matrices, in place. Returns how many rows were empty, on the device.

    Discard takes one map at a time.
    """
    r, d, empty = options["residual"], options["discard"], options["empty"]
    gone = torch.zeros(map.shape[:-1], dtype=torch.bool, device=map.device)
    first = d > 0 and options["order"] == "discard-first"
    if first:
        discard(map, d)
    if r > 0:
        map.mul_(1 - r).diagonal(dim1=-2, dim2=-1).add_(r)
    if options["divide"] == "always" or r > 0 or first:
        gone = divide(map, empty)
    count = gone.sum()
    if d > 0 and not first:
        discard(map, d)
        emptied = divide(map, empty)
        # A row that stayed zero in the first step is found again in the second.
        count = count + emptied.sum() if empty == "identity" else emptied.sum()
    return count


# -- the layers of an item


def prepared(maps: Maps, item: int, words: Mapping[str, Any], layers: range) -> Iterator[tuple[Tensor, Tensor]]:
    """Each layer's matrix, and how many of its rows were empty. Preset metrics leaves the lowest layer as it is."""
    for layer in layers:
        yield prepared_layer(maps, item, words, layer, words["preset"] == "metrics" and layer == min(layers))


def prepared_layer(maps: Maps, item: int, words: Mapping[str, Any], layer: int,
                   as_it_is: bool) -> tuple[Tensor, Tensor]:
    map = maps.map(item, layer, words["fuse"])
    return map, torch.zeros((), dtype=torch.long, device=map.device) if as_it_is else prepare(map, words)


MOST_TOPS = 64  # rows of all top layers that go down together in a short text; in a longer one n / MOST_TOPS


def few_rows(maps: Maps, item: int, words: Mapping[str, Any], rows: list[int] | str, layers: range,
             by_layer: bool = False) -> Rows:
    """Rows through all layers, by kernels that need no maps where there are some, else by one map at a time. By layer,
    [layers, rows, n]: of each top layer.
    """
    ways = [(True, True), (True, False), (False, False)] if maps.fold is not None else [(False, False)]
    for kernels, given in ways:
        now = rows_by(maps, item, words, rows, layers, kernels, given, by_layer)
        if not kernels or trusted(now):
            return now
    raise AssertionError


def rows_by(maps: Maps, item: int, words: Mapping[str, Any], rows: list[int] | str, layers: range, kernels: bool,
            given: bool, by_layer: bool) -> Rows:
    """`given`: sums of the forward pass may be used."""
    n, from_below = len(maps.tokens[item]), words["preset"] == "metrics"
    now = first = first_rows(rows, n, maps.device)
    after = []
    for layer in layers:
        if by_layer and not from_below and layer != layers[0]:
            now = now.beside(first)  # this layer is a top layer too
        as_it_is = from_below and layer == min(layers)
        folded = maps.fold(item, layer, now, words, as_it_is, given) if kernels and maps.fold is not None else None
        if folded is None:
            map, gone = prepared_layer(maps, item, words, layer, as_it_is)
            folded = Rows(now.values.to(map.device) @ map, 0, n, now.empty + gone, exact=False)
        now = folded
        if by_layer and from_below:
            after.append(now.values)
    if by_layer:
        now.values = torch.stack(after) if from_below else now.values.view(len(layers), -1, n).flip(0)
    return now


def go_down_together(maps: Maps, rows: list[int] | str, n: int, layers: int) -> bool:
    """Whether rows of all top layers go down beside each other sooner than the maps of all layers are multiplied."""
    count = 1 if isinstance(rows, str) else len(rows)
    return maps.fold is not None and count * layers <= max(MOST_TOPS, n // MOST_TOPS)


def roll(maps: Maps, item: int, options: _engine.Options, rows: list[int] | str,
         by_layer: bool) -> tuple[list[Tensor], int]:
    """Rollout of an item: one matrix, or one for each top layer; and how many rows were empty."""
    words = options.words()
    begin, end = options.range(len(maps.heads), maps.name)
    from_below = words["preset"] == "metrics"  # A_0 A_1 ... instead of ... A_1 A_0
    n = len(maps.tokens[item])
    total: Tensor | None = None
    empty: int | Tensor = 0
    if go_down_together(maps, rows, n, end - begin) if by_layer else isinstance(rows, str) or len(rows) < n:
        order = range(begin, end) if from_below else range(end - 1, begin - 1, -1)
        few = few_rows(maps, item, words, rows, order, by_layer)
        values = few.values.to(maps.device)
        return list(values) if by_layer else [values], int(few.empty)
    whole = None if by_layer else all_rows(maps, item, words, range(begin, end))
    if whole is not None:
        return [pick(whole, rows)], 0
    out = []
    lower, coarse = maps.lower(item), maps.coarse
    for map, gone in prepared(maps, item, words, range(begin, end)):
        if total is None:
            total = map
        elif from_below:
            total = product(total, map, lower=lower, coarse=coarse)
        else:
            total = product(map, total, into=map, lower=lower, coarse=coarse)
        empty += gone
        if by_layer:
            out.append(pick(total, rows))
    assert total is not None
    return out if by_layer else [pick(total, rows)], int(empty)


def pick(matrix: Tensor, rows: list[int] | str) -> Tensor:
    """The chosen rows, or their mean."""
    if isinstance(rows, str):
        return matrix.mean(0, keepdim=True)
    return matrix if rows == list(range(len(matrix))) else matrix[rows]


def mean_of_layers(maps: Maps, item: int, options: _engine.Options,
                   rows: list[int] | str) -> tuple[list[Tensor], int]:
    begin, end = options.range(len(maps.heads), maps.name)
    total: Tensor | None = None
    empty: int | Tensor = 0
    for map, gone in prepared(maps, item, options.words(), range(begin, end)):
        total, empty = map if total is None else total.add_(map), empty + gone
    assert total is not None
    return [pick(total / (end - begin), rows)], int(empty)


# -- the methods


def device_method(method: str, attention: Attention, *, by_layer: bool = False, layer: int = -1, **words: Any) -> Attribution:
    """rollout, average or raw on a device; the values stay there."""
    from .maps import maps_of
    options, rest = split(words, (*READING, *ASKED))
    item = rest.pop("item", None)
    maps = maps_of(attention, **rest)
    items = range(len(maps.tokens)) if item is None else [range(len(maps.tokens))[item]]
    asked = [options.rows(maps.tokens[k], maps.name) for k in items]

    def made(place: int) -> tuple[list[Tensor], int]:
        k, rows = items[place], asked[place]
        if method == "raw":
            map = maps.map(k, range(len(maps.heads))[layer], options.words()["fuse"])
            return [pick(map, rows)], 0
        return mean_of_layers(maps, k, options, rows) if method == "average" else roll(maps, k, options, rows, by_layer)

    def result(made: Callable[[int], tuple[list[Tensor], int]]) -> Attribution:
        return as_result(method, maps, items, asked, options, by_layer, maps.batch and item is None, one_row(words), made)

    def answer() -> Attribution:
        if method == "rollout" and not by_layer and len(items):
            for found, right in together(maps, range(items[0], items[-1] + 1), options, asked):
                whole = result(lambda place: ([found[place]], 0))  # while the GPU works
                if bool(right):
                    return whole
        return result(made)

    return with_room(answer, maps.make_room, maps.name, maps.padded)


def as_result(method: str, maps: Maps, items: Sequence[int], asked: Sequence[list[int] | str], options: _engine.Options,
              by_layer: bool, batch: bool, flat: bool, made: Callable[[int], tuple[list[Tensor], int]]) -> Attribution:
    """What `made` makes of each item: its matrices, and how many rows were empty. `flat`: one row has no axis of its own."""
    results, values = _engine.Results(), []
    begin, end = options.range(len(maps.heads), maps.name)
    for place, k in enumerate(items):
        rows = asked[place]
        matrices, empty = made(place)
        results.add(method, options, maps.tokens[k], [] if isinstance(rows, str) else rows,
                    list(range(begin, end)) if by_layer else [], maps.heads,
                    maps.notes(k) + ([_engine.empty_rows_note(empty, options)] if empty else []), maps.name, k,
                    len(maps.tokens), maps.padded)
        value = torch.stack(matrices) if by_layer else matrices[0]
        values.append(value[..., 0, :] if flat and value.shape[-2] == 1 else value)
    kind = Kind(values[0])
    return DeviceAttribution(results, kind, batch=batch, values=kind.stack(values) if batch else values[0],
                             images=[maps.images[k] for k in items if maps.images])


class OutputFacts(TypedDict):
    """The output that a gradient is of. A function has a name and a value only."""

    name: str
    value: float
    id: NotRequired[int]
    row: NotRequired[int | None]


class DeviceAttribution(Attribution):
    """A result whose values are on a device. They are copied to the engine's record when it is needed."""

    _filled = False
    rule: str | None = None  # of a gradient
    target: Any = None  # of a gradient: OutputFacts; of a batch, a list of them
    input_gradient: Any = None  # of a gradient: the length of dy/dx for each token's embedding x; of a batch, a list
    input_gradient_times_input: Any = None  # and x dy/dx

    def _set_target(self, rule: str, targets: list[OutputFacts], inputs: list[tuple[Tensor, Tensor]] | None) -> None:
        self.rule, self.target = rule, targets if self.batch else targets[0]
        for k, one in enumerate(targets):
            norm, times = ([], []) if inputs is None else (part.tolist() for part in inputs[k])
            self._results.set_gradient(k, rule, one["name"], one.get("id"), one.get("row"), one["value"], norm, times)
        if inputs is not None:
            norms, products = [norm for norm, _ in inputs], [times for _, times in inputs]
            self.input_gradient = norms if self.batch else norms[0]
            self.input_gradient_times_input = products if self.batch else products[0]

    def item(self, k: int) -> Attribution:
        """Item k of a batch as a result of its own. It shares its values with this one."""
        one = super().item(k)
        if self.batch and isinstance(one, DeviceAttribution):
            for name in ("target", "input_gradient", "input_gradient_times_input"):
                each = getattr(self, name)
                setattr(one, name, each[k] if each is not None else None)
        return one

    def _record(self) -> _engine.Results:
        if not self._filled:
            for k in range(len(self._results)):
                if self._k in (None, k):
                    array = to_numpy(self.values[k] if self.batch else self.values).astype(np.float32)
                    matrices = len(self.by_layer) or 1
                    self._results.fill(k, np.ascontiguousarray(array.reshape(matrices, -1, array.shape[-1])))
            self._filled = True
        return self._results


def device_metrics(attention: Attention, *, layer: int = -1, **words: Any) -> Metrics:
    """The eight metrics on a device."""
    from .metrics import Sums
    from .maps import maps_of
    words.setdefault("preset", "metrics")
    options, rest = split(words, (*READING, *ASKED))
    rest.pop("item", None)
    maps = maps_of(attention, **rest)

    def summed() -> tuple[Sums, int]:
        total, empty = Sums(), 0
        total.length = maps.padded
        for k in range(len(maps.tokens)):
            matrices, gone = roll(maps, k, options, list(range(len(maps.tokens[k]))), False)
            total.add(maps.map(k, range(len(maps.heads))[layer], "mean"), matrices[0])
            empty += gone
        return total, empty

    total, empty = with_room(summed, maps.make_room, maps.name, maps.padded)
    notes = pooled_notes([maps.notes(k) for k in range(len(maps.tokens))])
    total.heads = maps.heads
    return total.metrics(options, layer, maps.name, [*notes, *([_engine.empty_rows_note(empty, options)] if empty else [])])


def pooled_notes(items: list[list[str]]) -> list[str]:
    """The notes of all items of one result, in the engine's words."""
    if len(items) == 1:
        return items[0]
    shared = [note for note in items[0] if all(note in other for other in items)]
    return [f"in each item: {note}" for note in shared] + \
        [f"item {k}: {note}" for k, notes in enumerate(items) for note in notes if note not in shared]

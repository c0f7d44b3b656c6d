"""The methods as torch operations, for attention on a GPU. This is the only place where Python prepares layers.

The steps are those of the engine (layer/layers.h), item by item. The tests run both on the CPU and compare values and
notes.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Mapping

import numpy as np
import torch
from torch import Tensor

from .. import _engine
from ..arguments import READING, one_row, split
from ..arrays import Kind, to_numpy
from ..result import Attribution, Metrics
from .products import product

if TYPE_CHECKING:
    from .stack import Stack

# -- one layer


def fused(heads: Tensor, fuse: str) -> Tensor:
    """[H, ...] to [...] float32."""
    if fuse.startswith("head:"):
        return heads[int(fuse[5:])].float()
    if fuse == "mean":
        return heads.mean(0, dtype=heads.dtype if heads.dtype.itemsize > 4 else torch.float32).float()
    return (heads.amax(0) if fuse == "max" else heads.amin(0)).float()


def divide(map: Tensor, empty: str) -> Tensor:
    """Divides rows by their sums, in place. Returns which rows had nothing to divide by, [..., n]."""
    sums = map.sum(-1, dtype=torch.float64)
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


def prepared(stack: Stack, item: int, words: Mapping[str, Any], layers: range) -> Iterator[tuple[Tensor, Tensor]]:
    """Each layer's matrix, and how many of its rows were empty. Preset metrics leaves the lowest layer as it is."""
    for layer in layers:
        map = stack.map(item, layer, words["fuse"])
        as_it_is = words["preset"] == "metrics" and layer == min(layers)
        yield map, torch.zeros((), dtype=torch.long, device=map.device) if as_it_is else prepare(map, words)


def roll(stack: Stack, item: int, options: _engine.Options, rows: list[int] | str,
         by_layer: bool) -> tuple[list[Tensor], int]:
    """Rollout of an item: one matrix, or one for each top layer; and how many rows were empty."""
    words = options.words()
    begin, end = options.range(len(stack.heads), stack.name)
    from_below = words["preset"] == "metrics"  # A_0 A_1 ... instead of ... A_1 A_0
    n = len(stack.tokens[item])
    total: Tensor | None = None
    empty: Any = 0
    if not by_layer and (isinstance(rows, str) or len(rows) < n):
        total = torch.full((1, n), 1 / n, device=stack.device) if isinstance(rows, str) else \
            torch.nn.functional.one_hot(torch.tensor(rows, device=stack.device), n).float()
        order = range(begin, end) if from_below else range(end - 1, begin - 1, -1)
        for map, gone in prepared(stack, item, words, order):
            total, empty = total @ map, empty + gone
        return [total], int(empty)
    out = []
    lower, coarse = stack.lower(item), stack.coarse
    for map, gone in prepared(stack, item, words, range(begin, end)):
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
    return matrix if len(rows) == len(matrix) else matrix[rows]


def mean_of_layers(stack: Stack, item: int, options: _engine.Options,
                   rows: list[int] | str) -> tuple[list[Tensor], int]:
    begin, end = options.range(len(stack.heads), stack.name)
    total: Tensor | None = None
    empty: Any = 0
    for map, gone in prepared(stack, item, options.words(), range(begin, end)):
        total, empty = map if total is None else total.add_(map), empty + gone
    assert total is not None
    return [pick(total / (end - begin), rows)], int(empty)


# -- the methods


def device_method(method: str, attention: Any, *, by_layer: bool = False, layer: int = -1, **words: Any) -> Attribution:
    """rollout, average or raw on a device; the values stay there."""
    from .stack import stack_of
    options, rest = split(words, READING)
    item = rest.pop("item", None)
    stack = stack_of(attention, **rest)
    items = range(len(stack.tokens)) if item is None else [range(len(stack.tokens))[item]]
    results, values = _engine.Results(), []
    for k in items:
        rows = options.rows(stack.tokens[k], stack.name)
        if method == "raw":
            map = stack.map(k, range(len(stack.heads))[layer], options.words()["fuse"])
            matrices, empty = [pick(map, rows)], 0
        elif method == "average":
            matrices, empty = mean_of_layers(stack, k, options, rows)
        else:
            matrices, empty = roll(stack, k, options, rows, by_layer)
        begin, end = options.range(len(stack.heads), stack.name)
        results.add(method, options, stack.tokens[k], [] if isinstance(rows, str) else rows,
                    list(range(begin, end)) if by_layer else [], stack.heads,
                    [_engine.empty_rows_note(empty, options)] if empty else [], stack.name, k, len(stack.tokens),
                    stack.padded)
        value = torch.stack(matrices) if by_layer else matrices[0]
        values.append(value[..., 0, :] if one_row(words) and value.shape[-2] == 1 else value)
    batch = stack.batch and item is None
    kind = Kind(values[0])
    return DeviceAttribution(results, kind, batch=batch, values=kind.stack(values) if batch else values[0])


class DeviceAttribution(Attribution):
    """A result whose values are on a device. They are copied to the engine's record when it is needed."""

    _filled = False

    def _record(self) -> _engine.Results:
        if not self._filled:
            for k in range(len(self._results)):
                if self._k in (None, k):
                    array = to_numpy(self.values[k] if self.batch else self.values).astype(np.float32)
                    matrices = len(self.by_layer) or 1
                    self._results.fill(k, np.ascontiguousarray(array.reshape(matrices, -1, array.shape[-1])))
            self._filled = True
        return self._results


def device_metrics(attention: Any, *, layer: int = -1, **words: Any) -> Metrics:
    """The eight metrics on a device."""
    from .metrics import Sums
    from .stack import stack_of
    words.setdefault("preset", "metrics")
    options, rest = split(words, READING)
    rest.pop("item", None)
    stack = stack_of(attention, **rest)
    total, empty = Sums(), 0
    total.length = stack.padded
    for k in range(len(stack.tokens)):
        matrices, gone = roll(stack, k, options, list(range(len(stack.tokens[k]))), False)
        total.add(stack.map(k, range(len(stack.heads))[layer], "mean"), matrices[0])
        empty += gone
    begin, end = options.range(len(stack.heads), stack.name)
    notes = [_engine.empty_rows_note(empty, options)] if empty else []
    return Metrics(total.numbers(), options.words() | {"layers": [begin, end]}, notes)

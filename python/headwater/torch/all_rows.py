"""Rollout of all rows on a GPU with headwater's own map and product kernels: R <- A R, in matrices of pairs.

The kernel of maps makes A, the map with its residual, some rows at a time. A lower triangular A takes of R no row below its
own, so R is replaced from the last rows up, and in the end becomes the result in its own memory: one n x n matrix of 4
bytes a number is all there is. For other maps there are two.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

import torch
from torch import Tensor

from ..errors import Error
from .blocks import counted_head
from .pairs import Pairs, multiply
from .products import SMALL

if TYPE_CHECKING:
    from .kernels import Layer
    from .maps import Maps

ROWS = 2048  # of A at a time: enough tiles for a whole GPU, and a multiple of the kernel's
SUM_ERROR = 1e-3  # how far the sum of a row may be from 1


def all_rows(maps: Maps, item: int, words: Mapping[str, Any], layers: range) -> Tensor | None:
    """[n, n] float32; None if maps must be made and multiplied one by one."""
    n, fuse = len(maps.tokens[item]), words["fuse"]
    if maps.kernels is None or not maps.coarse or len(layers) < 2 or n < SMALL:
        return None
    if words["discard"] > 0 or fuse in ("max", "min"):
        return None
    # Preset metrics is A_0 A_1 ... with the lowest layer as it is: the same product, begun at the top.
    from_below = words["preset"] == "metrics"
    residuals = {layer: 0.0 if from_below and layer == layers[0] else words["residual"] for layer in layers}
    for given in (True, False):  # with the sums of the forward pass, else with headwater's own
        total = rolled(maps, item, fuse, residuals, layers[::-1] if from_below else layers, given)
        if total is None or bool(((total.sum(-1) - 1).abs() < SUM_ERROR).all()):
            return total
        del total
    return None


def rolled(maps: Maps, item: int, fuse: str, residuals: Mapping[int, float], layers: range,
           given: bool) -> Tensor | None:
    assert maps.kernels is not None
    n, lower, device = len(maps.tokens[item]), maps.lower(item), maps.device
    total, other = Pairs(n, n, device), None if lower else Pairs(n, n, device)
    rows = min(n, ROWS)
    left, product = Pairs(rows, n, device), Pairs(rows, n, device)
    for layer in layers:
        kernel = maps.kernels(item, layer)
        named, residual = counted_head(fuse, kernel.heads), residuals[layer]
        last = layer == layers[-1]
        try:
            if layer == layers[0]:
                kernel.map_pairs(named, range(n), n, residual, given, total)
                continue
            for some in blocks(n, rows, lower):
                kernel.map_pairs(named, some, some.stop if lower else n, residual, given, left)
                replace(total if other is None else other, total, left, product, n, some, lower, last)
        except Error as wrong:
            kernel.refuse(wrong)
            return None
        if other is not None:
            total, other = other, total
    return together(total, n)


def blocks(n: int, rows: int, lower: bool) -> list[range]:
    """The rows of a matrix, some at a time, the last ones first: those below them are not needed any more."""
    return [range(first, min(first + rows, n)) for first in reversed(range(0, n, rows))]


def replace(into: Pairs, total: Pairs, left: Pairs, product: Pairs, n: int, rows: range, lower: bool, last: bool) -> None:
    """Rows of `into` become left total: pairs, or after the last layer float32. `product` is for them on the way."""
    count = len(rows)
    if last:
        flat = product.as_floats().view(-1)[:count * n].view(count, n)
        if lower:
            flat.zero_()  # above the diagonal
        multiply(left, total, flat, n, rows, lower)
        into.as_floats()[rows.start:rows.stop, :n] = flat
    else:
        multiply(left, total, product, n, rows, lower)
        columns = rows.stop if lower else n
        into.parts[rows.start:rows.stop, :, :columns] = product.parts[:count, :, :columns]


def together(total: Pairs, n: int) -> Tensor:
    """The result [n, n] in the memory of its pairs, whose rows may be a little longer."""
    floats = total.as_floats()
    if floats.shape[1] == n:
        return floats
    out = floats.view(-1)[:n * n].view(n, n)
    for first in range(0, n, ROWS):  # no row moves to where another one still is
        some = slice(first, min(first + ROWS, n))
        out[some] = floats[some, :n].clone()
    return out

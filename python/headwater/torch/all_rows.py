"""Rollout of all rows on a GPU with headwater's own map and product kernels: R <- A R, in matrices of pairs.

The kernel of maps makes A, the map with its residual, some rows at a time, so two n x n matrices of 4 bytes a number are all
there is.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping

import torch
from torch import Tensor

from ..errors import Error
from .blocks import heads_of
from .pairs import Pairs, multiply
from .products import SMALL

if TYPE_CHECKING:
    from .kernels import Layer
    from .maps import Maps

ROWS = 2048  # of A at a time: enough tiles for a whole GPU
SUM_ERROR = 1e-3  # how far the sum of a row may be from 1


def all_rows(maps: Maps, item: int, words: Mapping[str, Any], layers: range) -> Tensor | None:
    """[n, n] float32; None if maps must be made and multiplied one by one."""
    n, fuse = len(maps.tokens[item]), words["fuse"]
    if maps.kernels is None or not maps.coarse or len(layers) < 2 or n < SMALL:
        return None
    if words["discard"] > 0 or words["preset"] == "metrics" or fuse in ("max", "min"):
        return None
    for given in (True, False):  # with the sums of the forward pass, else with headwater's own
        total = rolled(maps, item, fuse, words["residual"], layers, given)
        if total is None or bool(((total.sum(-1, dtype=torch.float64) - 1).abs() < SUM_ERROR).all()):
            return total
    return None


def rolled(maps: Maps, item: int, fuse: str, residual: float, layers: range, given: bool) -> Tensor | None:
    assert maps.kernels is not None
    n, lower, device = len(maps.tokens[item]), maps.lower(item), maps.device
    total: Pairs | Tensor | None = None
    some = Pairs(min(n, ROWS), n, device)
    for layer in layers:
        kernel = maps.kernels(item, layer)
        heads = heads_of(fuse, kernel.heads)  # raises if there is no such head
        named = f"head:{heads.start}" if fuse.startswith("head:") else fuse
        try:
            if total is None:
                total = Pairs(n, n, device)
                kernel.map_pairs(named, range(n), n, residual, given, total)
            else:
                assert isinstance(total, Pairs)
                total = through(kernel, total, some, named, residual, n, lower, given, layer == layers[-1])
        except Error as wrong:
            kernel.refuse(wrong)
            return None
    assert isinstance(total, Tensor)
    return total


def through(kernel: Layer, total: Pairs, some: Pairs, fuse: str, residual: float, n: int, lower: bool, given: bool,
            last: bool) -> Pairs | Tensor:
    """One more layer: A times what is below it."""
    device = total.parts.device
    out: Pairs | Tensor = torch.zeros(n, n, device=device) if last else Pairs(n, n, device)
    for first in range(0, n, ROWS):
        rows = range(first, min(first + ROWS, n))
        kernel.map_pairs(fuse, rows, rows.stop if lower else n, residual, given, some)
        multiply(some, total, out, n, rows, lower)
    return out

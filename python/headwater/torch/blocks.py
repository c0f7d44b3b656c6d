"""Blocks of attention: some heads and rows at a time, so heads x n x n never exists."""
from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from ..errors import Error
from .products import float_product

Positions = Tensor | None  # the numbers of the real positions of an item; None: all are real


@lru_cache(maxsize=8)
def behind(rows: int, columns: int, first: int, causal: bool, window: int, device: torch.device) -> Tensor:
    """[rows, columns], true where row i, at column first + i, does not see column j."""
    place = torch.arange(first, first + rows, device=device)[:, None]
    column = torch.arange(columns, device=device)
    unseen = column > place if causal else column >= place + window
    return unseen | (column <= place - window) if window else unseen


@dataclass
class Block:
    """Probabilities [h, r, keys] float32 of rows first ... first + count - 1, of keys low ... low + keys - 1."""

    values: Tensor
    first: int
    count: int
    low: int

    def of(self, matrix: Tensor) -> Tensor:
        """The part of a [rows, keys] matrix that it covers."""
        return matrix[self.first:self.first + self.count, self.low:self.low + self.values.shape[-1]]


@dataclass
class Crop:
    """Which part of [B, H, Q, K] a block of scores is."""

    item: int | slice
    heads: range
    rows: range
    which: slice | Tensor  # the rows among all positions
    low: int
    high: int
    real_keys: Positions

    def add(self, scores: Tensor, added: Tensor) -> Tensor:
        """Adds a mask or a bias to scores, in place."""
        part = added[self.item if added.shape[0] > 1 else 0]
        part = part[..., self.heads.start:self.heads.stop, :, :] if part.shape[-3] > 1 else part
        part = part[..., self.which, :] if part.shape[-2] > 1 else part
        part = part if self.real_keys is None else part[..., self.real_keys]
        part = part[..., self.low:self.high]
        if part.dtype == torch.bool:
            return scores.masked_fill_(~part, float("-inf"))
        return scores.add_(part.detach())


def products(query: Tensor, key: Tensor, heads: range, group: int) -> Tensor:
    """Q K^T [h, r, keys] float32 of query [h, r, d] and all key heads [G, keys, d]."""
    count, rows, _ = query.shape
    if group > 1 and heads.start % group == 0 and count % group == 0:  # the heads of a group share their keys: one product
        query = query.reshape(count // group, group * rows, -1)
        key = key[heads.start // group:heads.stop // group]
    else:
        key = key[[head // group for head in heads]] if group > 1 else key[heads.start:heads.stop]
    return float_product(query, key.transpose(-1, -2)).view(count, rows, -1)


def heads_of(fuse: str, heads: int) -> range:
    """The heads that a fusion needs."""
    if not fuse.startswith("head:"):
        return range(heads)
    head = int(fuse[5:])
    if not -heads <= head < heads:
        raise Error(f"capture: has no head {head}, expected 0 to {heads - 1}; choose another")
    return range(head % heads, head % heads + 1)


def counted_head(fuse: str, heads: int) -> str:
    """The fusion, with a head counted from the first, as kernels take it. Raises if there is no such head."""
    return f"head:{heads_of(fuse, heads).start}" if fuse.startswith("head:") else fuse


def mend(map: Tensor, first: int, row: int, mended: dict[int, int]) -> Tensor:
    """Replaces rows that hold NaN by the identity's, in place: row r of [..., rows, keys] has its 1 in column first + r.

    Adds to `mended` how many of the leading axis it replaced in each row, counted from `row` on.
    """
    bad = ~torch.isfinite(map.sum(-1))
    for r, count in enumerate(bad.reshape(-1, bad.shape[-1]).sum(0).tolist()):
        if count:
            mended[row + r] = mended.get(row + r, 0) + count
    map.masked_fill_(bad[..., None], 0)
    places = torch.arange(map.shape[-2], device=map.device)
    own = (torch.arange(map.shape[-1], device=map.device) == (places + first)[:, None]) & bad[..., None]
    return map.masked_fill_(own, 1)

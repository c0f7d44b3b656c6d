"""Rollout of all items of a batch at once, by headwater's kernels: one launch for each layer and step, not for each item.

A short text keeps no GPU busy for long: most of its time goes into launches. One text is a batch of one. Items are taken at their padded length and
cropped at the end. Rows of real positions that give nothing to padding then still sum to 1; where they do not, the items go
one by one.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from ..errors import Error
from .blocks import Positions, counted_head
from .products import SMALL
from .rows import Rows, through

if TYPE_CHECKING:
    from .. import _engine
    from .kernels import Layer
    from .maps import Maps

NUMBERS = 1 << 26  # of the matrices of items that are multiplied at a time
SUM_ERROR = 1e-3  # how far the sum of a row may be from 1
Asked = Sequence["list[int] | str"]  # of each item: its rows, or 'mean'


def together(maps: Maps, items: range, options: _engine.Options, asked: Asked) -> Iterator[tuple[list[Tensor], Tensor]]:
    """Rollout of each item, and on the device whether it can be believed: who looks at that waits for the GPU. Tries the sums
    of the forward pass, then headwater's own; nothing if items must be made one by one.
    """
    words = options.words()
    if maps.batches is None or words["discard"] > 0 or words["fuse"] in ("max", "min"):
        return
    if any(one is not None and not len(one) for one in maps.real):
        return  # an item without a token has an error of its own
    begin, end = options.range(len(maps.heads), maps.name)
    from_below = words["preset"] == "metrics"
    whole = all(rows == list(range(len(maps.tokens[item]))) for item, rows in zip(items, asked))
    if not whole and len({rows if isinstance(rows, str) else len(rows) for rows in asked}) > 1:
        return
    if maps.padded >= SMALL and (whole or len(items) > 1 or any(one is not None for one in maps.real)):
        return  # long texts go one by one, without their padding, and all their rows by all_rows.py
    # All rows are multiplied from the other end: A_0 (A_1 (...)) instead of ((v A_0) A_1) ...
    order = range(begin, end) if from_below != whole else range(end - 1, begin - 1, -1)
    for given in (True, False):
        try:
            found = all_rows(maps, items, words, order, given) if whole else \
                few_rows(maps, Batch(maps, items), words, asked, order, given)
        except Error:
            return  # a kernel that cannot run, or a question that cannot be answered: the other way knows what to do
        yield found


class Batch:
    """Some items: their layers, and which of their positions are real."""

    def __init__(self, maps: Maps, items: range):
        self.maps, self.items, self.n, self.device = maps, items, maps.padded, maps.device
        self.real: list[Positions] = [maps.real[item] for item in items] if maps.real else [None] * len(items)
        self.places: Tensor | None = None  # [items, longest]: of the real positions; n where there are no more
        self.mask: Tensor | None = None  # [items, n], 1 where a position is real; None if all are
        self.padding: Tensor | None = None  # [items, n], true where it is not
        if any(one is not None for one in self.real):
            whole = torch.arange(self.n, device=self.device)
            each = [whole if one is None else one.to(self.device) for one in self.real]
            self.places = torch.nn.utils.rnn.pad_sequence(each, batch_first=True, padding_value=self.n)
            mask = torch.zeros(len(items), self.n + 1, device=self.device)
            self.mask = mask.scatter_(1, self.places, 1)[:, :self.n]
            self.padding = self.mask == 0

    def layer(self, number: int) -> Layer:
        assert self.maps.batches is not None
        return self.maps.batches(self.items, number, self.padding)

    def first_rows(self, asked: Asked) -> Rows:
        """Rows of the identity, or their mean: [items, rows, n]."""
        if isinstance(asked[0], str):
            mask = torch.ones(len(self.items), self.n, device=self.device) if self.mask is None else self.mask
            return Rows((mask / mask.sum(-1, keepdim=True))[:, None], 0, self.n)
        numbers = [list(map(int, one)) for one in asked]
        rows = torch.tensor(numbers, device=self.device)
        begin, end = min(map(min, numbers)), max(map(max, numbers)) + 1
        if self.places is not None:
            rows, begin, end = self.places.gather(1, rows), 0, self.n
        values = torch.zeros(*rows.shape, self.n, device=self.device)
        return Rows(values.scatter_(2, rows[..., None], 1), begin, end)

    def sums_are_right(self, values: Tensor, all_rows: bool) -> Tensor:
        """Whether the real positions of each row have as much in them as went in."""
        if self.mask is None:
            return ((values.sum(-1) - 1).abs() < SUM_ERROR).all()
        right = (torch.bmm(values, self.mask[..., None])[..., 0] - 1).abs() < SUM_ERROR
        return (right if not all_rows or self.padding is None else right | self.padding).all()

    def cropped(self, values: Tensor, all_rows: bool) -> list[Tensor]:
        """The real positions of each item."""
        return [one if keep is None else one[keep[:, None], keep] if all_rows else one[:, keep]
                for one, keep in zip(values, self.real)]


def all_rows(maps: Maps, items: range, words: Mapping[str, Any], layers: range, given: bool) -> tuple[list[Tensor], Tensor]:
    """All rows, of so many items at a time that their matrices stay small."""
    many, found, right = max(1, NUMBERS // maps.padded ** 2), list[Tensor](), []
    for first in range(0, len(items), many):
        batch = Batch(maps, items[first:first + many])
        total: Tensor | None = None
        for number in layers:
            layer = batch.layer(number)
            residual = 0.0 if is_left_alone(words, number, layers) else words["residual"]
            map = layer.map(counted_head(words["fuse"], layer.heads), range(layer.n), given, residual)
            total = map if total is None else torch.bmm(map, total)
        assert total is not None
        found += batch.cropped(total, True)
        right.append(batch.sums_are_right(total, True))
    return found, torch.stack(right).all()


def is_left_alone(words: Mapping[str, Any], number: int, layers: range) -> bool:
    """Whether a layer's map is taken as it is: preset metrics adds no residual to the lowest."""
    return words["preset"] == "metrics" and number == min(layers)


def few_rows(maps: Maps, batch: Batch, words: Mapping[str, Any], asked: Asked, order: range,
             given: bool) -> tuple[list[Tensor], Tensor]:
    rows = batch.first_rows(asked)
    for number in order:
        layer = batch.layer(number)
        rows = through(layer, rows, words, counted_head(words["fuse"], layer.heads), is_left_alone(words, number, order), given)
    return batch.cropped(rows.values, False), batch.sums_are_right(rows.values, False)

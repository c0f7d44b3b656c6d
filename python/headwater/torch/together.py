"""Rollout of one row of each item of a batch, all items at once: v <- v A, with the maps of the whole batch.

One by one, short texts leave a GPU idle between its kernels. Here the number of kernels does not depend on the number of
texts, and nothing waits for the GPU.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from .. import _engine
from .answer import layers_asked
from .record import Record

if TYPE_CHECKING:
    from .recording import Recording

LONGEST = 512  # tokens: longer texts keep a GPU busy one by one, without maps


def rows_together(seen: Recording, first: Tensor, real: Tensor, options: _engine.Options) -> Tensor | None:
    """[B, n] float32, where the layers were recorded, 0 at padding; None if items must be taken one by one.

    `first` [B, n] has the weights of the rows that are asked for, `real` [B, n] is true where a position is no padding.
    Both are on the CPU. If a row does not sum to 1, something is wrong, such as attention to padding, and the text has to be
    taken on its own.
    """
    words: dict[str, Any] = options.words()
    if words["fuse"] != "mean" or words["discard"] > 0 or words["preset"] == "metrics" or first.shape[1] > LONGEST:
        return None
    _, records, _, _ = layers_asked(seen)
    if any(not serves(record, first) for record in records) or len({record.device for record in records}) > 1:
        return None
    device = records[0].device
    values, hidden = first.to(device), None if bool(real.all()) else ~real.to(device)
    begin, end = options.range(len(records), type(seen.model).__name__)
    for record in reversed(records[begin:end]):
        values = through(record.maps(), values, hidden, words)
    return values


def serves(record: Record, first: Tensor) -> bool:
    """Whether it has the maps of these items, which its queries and keys give as they are."""
    return type(record) is Record and record.query is not None and not record.first and \
        (record.batch, record.queries, record.keys) == (*first.shape, first.shape[1])


def through(maps: Tensor, values: Tensor, hidden: Tensor | None, words: dict[str, Any]) -> Tensor:
    """Rows [B, n] through one layer, as rows.py has it."""
    residual = words["residual"]
    if hidden is not None:
        maps = maps.masked_fill_(hidden[:, :, None], 0)  # rows of padding may be NaN
    if words["divide"] == "always" or residual > 0:
        sums = (1 - residual) * maps.sum(-1) + residual
        values = values / (sums if hidden is None else sums.masked_fill_(hidden, 1))
    out = (values[:, None] @ maps)[:, 0]
    return torch.lerp(out, values, residual) if residual > 0 else out

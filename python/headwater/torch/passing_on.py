"""A layer without attention that is known, as a record."""
from __future__ import annotations

import torch
from torch import Tensor

from .blocks import Positions
from .record import Record


class PassingOn(Record):
    """A layer whose attention is not known and that is treated as passing everything through: its map is the identity."""

    def __init__(self, like: Record):
        super().__init__(name="", weights=like.kept[..., :1], heads_of_weights=like.heads)
        self._size = like.queries

    @property
    def queries(self) -> int:
        return self._size

    @property
    def keys(self) -> int:
        return self._size

    def map(self, item: int, fuse: str, rows: range, real: Positions, real_keys: Positions,
            nan: str = "error", mended: dict[int, int] | None = None) -> Tensor:
        n = self._size if real_keys is None else len(real_keys)
        return torch.eye(n, device=self.device)[rows.start:rows.stop]

    def looks_back(self, item: int, real: Positions) -> bool:
        return True

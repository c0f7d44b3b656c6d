"""Square matrices on a GPU whose numbers are pairs, the sum of two bfloat16: what headwater's own product of maps takes.

Together they hold 16 bits, as much as maps from half precision are worth.
"""
from __future__ import annotations

import torch
from torch import Tensor

from .. import _engine
from .places import number_of, stream_of

ALIGNED = 64  # numbers: rows begin at multiples of it, as the copy engine needs


class Pairs:
    """[rows, n]; what it holds at first is anything. A row has all its high parts, then all low ones: as many bytes as
    float32 takes, so that rows of the one can take the place of rows of the other.
    """

    def __init__(self, rows: int, n: int, device: torch.device):
        row = (n + ALIGNED - 1) // ALIGNED * ALIGNED
        self.parts = torch.empty(rows, 2, row, dtype=torch.bfloat16, device=device)
        self.told = self.parts.data_ptr(), 2 * row, row  # address, strides of rows and parts

    def as_floats(self) -> Tensor:
        """Its memory as float32, [rows, a multiple of 64]."""
        return self.parts.view(len(self.parts), -1).view(torch.float32)


def multiply(left: Pairs, right: Pairs, out: Pairs | Tensor, n: int, rows: range, lower: bool) -> None:
    """Rows of left right, [n, n] both; `left` and `out` have these rows alone, `out` as pairs or as float32 [rows, n].

    `lower`: both are lower triangular. Then `out` gets no more than tiles that have a place on or below the diagonal, and
    rows of `right` below these are not read.
    """
    number = number_of(right.parts.device)
    told = out.told if isinstance(out, Pairs) else (out.data_ptr(), n, 0)
    _engine.cuda_product(number, stream_of(number), left.told, right.told, n, rows.start, len(rows), lower, told,
                         isinstance(out, Pairs))

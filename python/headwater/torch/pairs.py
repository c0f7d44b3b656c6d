"""Square matrices on a GPU whose numbers are pairs, the sum of two bfloat16: what headwater's own product of maps takes.

Together they hold 16 bits, as much as maps from half precision are worth.
"""
from __future__ import annotations

import torch
from torch import Tensor

from .. import _engine

ALIGNED = 64  # numbers: rows begin at multiples of it, as the copy engine needs


class Pairs:
    """[rows, n]; what it holds at first is anything."""

    def __init__(self, rows: int, n: int, device: torch.device):
        row = (n + ALIGNED - 1) // ALIGNED * ALIGNED
        self.parts = torch.empty(2, rows, row, dtype=torch.bfloat16, device=device)
        self.told = self.parts.data_ptr(), row, rows * row  # address, strides of rows and parts


def multiply(left: Pairs, right: Pairs, out: Pairs | Tensor, n: int, rows: range, lower: bool) -> None:
    """Rows of left right, [n, n] both; `left` has these rows alone. `out` is all of the product, as pairs or float32.

    `lower`: both are lower triangular. Then `out` gets no more than tiles that have a place on or below the diagonal.
    """
    device = right.parts.device
    pairs = isinstance(out, Pairs)
    target = out.parts[0] if isinstance(out, Pairs) else out
    told = (target[rows.start].data_ptr(), *(out.told[1:] if isinstance(out, Pairs) else (n, 0)))
    _engine.cuda_product(device.index, torch.cuda.current_stream(device).cuda_stream, left.told, right.told, n,
                         rows.start, len(rows), lower, told, pairs)

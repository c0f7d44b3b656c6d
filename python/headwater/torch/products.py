"""Matrix products on a device: float32 results for any operands, and no work on triangles that are zero."""
from __future__ import annotations

import torch
from torch import Tensor

BLOCK_ROWS = 1024  # of a product that is computed in pieces
SMALL = 2048  # below this, pieces cost more than they save
LONG = 2048  # tensor cores truncate where others round: they get no longer sums than these

_float_out: dict[torch.device, bool] = {}  # whether a device multiplies half precision into float32


def has_float_out(device: torch.device) -> bool:
    """Whether torch has such products: on CUDA, from 2.8 on."""
    if device not in _float_out:
        try:
            one = torch.ones(1, 8, 8, dtype=torch.bfloat16, device=device)
            _float_out[device] = bool((torch.bmm(one, one, out_dtype=torch.float32) == 8).all())
        except (TypeError, RuntimeError, NotImplementedError):
            _float_out[device] = False
    return _float_out[device]


def float_product(a: Tensor, b: Tensor) -> Tensor:
    """[k, m, n] float32 of [k, m, d] and [k, d, n]; sums are kept in float32."""
    if a.dtype == b.dtype and a.dtype in (torch.bfloat16, torch.float16) and a.device.type == "cuda" and \
            has_float_out(a.device):
        return torch.bmm(a, b, out_dtype=torch.float32)
    return torch.matmul(a.float(), b.float())


def halves(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Two bfloat16 matrices whose sum is this one to 16 bits."""
    high = matrix.bfloat16()
    return high, (matrix - high).bfloat16()


def product(a: Tensor, b: Tensor, *, lower: bool = False, coarse: bool = False, into: Tensor | None = None) -> Tensor:
    """a b of float32 [n, n] matrices.

    `lower`: both are lower triangular, and zeros are skipped. `coarse`: their numbers come from half precision, so 16
    bits of each are enough, which tensor cores can do: the relative error is at most 2 / 2^16 from the numbers, mostly
    half of that, and less from the sums. `into` may be `a`.
    """
    n = len(b)
    if len(a) != n or n < SMALL:
        return a @ b
    out = torch.empty_like(a) if into is None else into
    parts = halves(b) if coarse and has_float_out(b.device) else None
    for first in range(0, n, BLOCK_ROWS):
        rows = slice(first, min(first + BLOCK_ROWS, n))
        end = rows.stop if lower else n
        if parts is None:
            piece = a[rows, :end] @ b[:end, :end]
        else:
            piece = coarse_piece(a[rows, :end], parts[0][:end, :end], parts[1][:end, :end])
        out[rows, :end] = piece
        if end < n and out is not a:
            out[rows, end:] = 0
    return out


def coarse_piece(a: Tensor, b_high: Tensor, b_low: Tensor) -> Tensor:
    """Three products of halves; the fourth, of both low ones, is at most 2^-18 of the whole. Small ones come first."""
    a_high, a_low = halves(a)
    piece = torch.mm(a_high, b_low, out_dtype=torch.float32)
    add_product(piece, a_low, b_high)
    for first in range(0, len(b_high), LONG):
        part = slice(first, first + LONG)
        add_product(piece, a_high[:, part], b_high[part])
    return piece


_adds_in_place: dict[torch.device, bool] = {}  # whether a device adds such a product to a matrix in one operation


def add_product(total: Tensor, a: Tensor, b: Tensor) -> None:
    """total += a b, for half precision and a float32 total."""
    device = total.device
    if device not in _adds_in_place:
        try:
            probe, one = torch.ones(8, 8, device=device), torch.ones(8, 8, dtype=a.dtype, device=device)
            torch.addmm(probe, one, one, out_dtype=torch.float32, out=probe)
            _adds_in_place[device] = bool((probe == 9).all())
        except (TypeError, RuntimeError, NotImplementedError):
            _adds_in_place[device] = False
    if _adds_in_place[device]:
        torch.addmm(total, a, b, out_dtype=torch.float32, out=total)
    else:
        total += torch.mm(a, b, out_dtype=torch.float32)

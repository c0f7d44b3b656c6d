"""Attention's output by eager's formula, block by block: for what sdpa cannot do, and to check functions that nobody knows."""
from __future__ import annotations

import torch
from torch import Tensor

from ..errors import Error
from .by_hand import unwatched
from .record import Record


@unwatched
def check_formula(name: str, record: Record, value: Tensor, out: Tensor) -> None:
    """Raises if a function that someone registered did not return what its record says.

    Experiments register functions that leave heads out or change scores; a map of Q and K would show none of it.
    """
    if record.dropout:
        return  # cannot be checked: its output is random
    with torch.no_grad():
        own = blocked(record, value)
        if own.shape == out.shape:
            # Flash attention leaves rows of padding at 0, and where no key is seen, there is no formula.
            left = (out == 0).flatten(2).all(-1) | ~torch.isfinite(own).flatten(2).all(-1)
            off = (own.float() - out.float()).abs().flatten(2).amax(-1).masked_fill_(left, 0).max()
            if bool(off <= (1e-4 if out.dtype.itemsize > 2 else 3e-2) * torch.nan_to_num(value, 0, 0, 0).abs().max()):
                return
    raise Error(f"capture: the attention function '{name}', which is not one of transformers' own, returns something else "
                "than softmax(Q K^T + mask) V, expected that; capture with model.set_attn_implementation('sdpa'), or with "
                "how='eager'")


@unwatched
def blocked(record: Record, value: Tensor) -> Tensor:
    """Eager attention's output [B, Q, H, d], block by block, for soft caps and sinks, which sdpa does not support."""
    if torch.is_grad_enabled() and (record.q.requires_grad or value.requires_grad):
        return differentiable(record, value)
    batch, heads, queries, _ = record.q.shape
    out = torch.empty(batch, queries, heads, value.shape[-1], dtype=value.dtype, device=value.device)
    group = heads // value.shape[1]
    for item in range(batch):
        for some, block in record.probabilities(item, range(queries), None, None, range(heads)):
            keys = slice(block.low, block.low + block.values.shape[-1])
            values = value[item, [head // group for head in some], keys]
            out[item, block.first:block.first + block.count, some.start:some.stop] = torch.matmul(
                block.values.to(value.dtype), values).transpose(0, 1)
    return out


def differentiable(record: Record, value: Tensor) -> Tensor:
    """The same as one expression, for a backward pass."""
    group = record.heads // value.shape[1]
    keys, values = record.k.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    scores = torch.matmul(record.q, keys.transpose(-1, -2)) * record.scale
    if record.softcap is not None:
        scores = torch.tanh(scores / record.softcap) * record.softcap
    for added in (record.bias, record.mask):
        if added is not None:
            scores = scores.masked_fill(~added, float("-inf")) if added.dtype == torch.bool else scores + added
    if record.sinks is not None:
        sinks = record.sinks.view(1, -1, 1, 1).expand(scores.shape[0], -1, scores.shape[2], 1)
        probabilities = torch.softmax(torch.cat([scores, sinks.to(scores.dtype)], -1).float(), -1)[..., :-1]
    else:
        probabilities = torch.softmax(scores.float(), -1)
    return torch.matmul(probabilities.to(values.dtype), values).transpose(1, 2).contiguous()

"""Attention's output and its map in one pass: what the engine computes in place of torch's sdpa.

Q K^T is most of what a map costs, and the model's own attention has computed it already. So where nothing but
numbers is asked of sdpa, the engine's kernel gives both.
"""
from __future__ import annotations

import sys
from typing import Any

import torch

from .. import _engine
from .record import Record


def is_sdpa(function: Any) -> bool:
    """Whether a function of transformers' registry is its own for sdpa, not one that somebody put there."""
    module = sys.modules.get("transformers.integrations.sdpa_attention")
    return function is not None and function is getattr(module, "sdpa_attention_forward", None)


def serves(record: Record, value: Any) -> bool:
    """Self attention in float32 on the CPU, of which causal and window say all, and that nobody differentiates or
    compiles; at lengths where a map is no larger than the Q and K that are kept anyway.
    """
    query, key = record.query, record.key
    tensors = (query, key, value)
    if any(type(one) is not torch.Tensor or one.dtype != torch.float32 or one.device.type != "cpu" for one in tensors):
        return False
    if torch.is_grad_enabled() and any(one.requires_grad for one in tensors):
        return False
    if record.dropout or torch.is_autocast_enabled("cpu") or torch.compiler.is_compiling() or torch.jit.is_tracing():
        return False
    batch, heads, length, size = query.shape
    if not key.shape == value.shape == (batch, key.shape[1], length, size) or heads % key.shape[1] or length < 2:
        return False
    if batch * length * length > query.numel() + key.numel():
        return False
    return all(record.sight(item, None, None)[0] for item in range(batch))


def attend(record: Record, value: Any) -> Any:
    """The output [B, Q, H, d]; record.mean becomes the map."""
    batch, heads, length, size = record.query.shape
    out = torch.empty(batch, length, heads, size)
    record.mean = torch.empty(batch, length, length)
    for item in range(batch):
        _, causal, window = record.sight(item, None, None)
        rows = [side_by_side(one[item]) for one in (record.query, record.key, value)]
        _engine.attention(*rows, out[item].view(length, -1), record.mean[item], heads, record.key.shape[1],
                          float(record.scale), causal, window, "mean", torch.get_num_threads())
    return out


def side_by_side(heads: Any) -> Any:
    """[H, n, d] as [n, H d], which is how most models made it."""
    return heads.detach().transpose(0, 1).reshape(heads.shape[1], -1)

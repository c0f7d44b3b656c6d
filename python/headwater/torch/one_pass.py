"""Attention's output and its map in one pass, computed by the engine instead of torch's sdpa.

Q K^T is most of the cost of a map, and the model's own attention computes it anyway. So where sdpa only has to return
numbers, the engine's kernel computes both.
"""
from __future__ import annotations

import sys

import torch
from torch import Tensor

from .. import _engine
from .record import Record


def is_sdpa(function: object) -> bool:
    """Whether a function in transformers' registry is its own for sdpa, not one that was registered later."""
    module = sys.modules.get("transformers.integrations.sdpa_attention")
    return function is not None and function is getattr(module, "sdpa_attention_forward", None)


def tracing() -> bool:
    return bool(torch.jit.is_tracing())  # type: ignore[no-untyped-call,attr-defined]


def serves(record: Record, value: Tensor) -> bool:
    """Whether the engine can compute it: self attention in float32 on the CPU, whole, causal or within a window, without
    gradients and compilation, and with maps no larger than the Q and K that are kept anyway.
    """
    query, key = record.q, record.k
    tensors = (query, key, value)
    if query.is_cuda or any(type(one) is not torch.Tensor or one.dtype != torch.float32 or one.device.type != "cpu" for one in tensors):
        return False
    if torch.is_grad_enabled() and any(one.requires_grad for one in tensors):
        return False
    if record.dropout or torch.is_autocast_enabled("cpu") or torch.compiler.is_compiling() or tracing():
        return False
    batch, heads, length, size = query.shape
    if not key.shape == value.shape == (batch, key.shape[1], length, size) or heads % key.shape[1] or length < 2:
        return False
    if batch * length * length > query.numel() + key.numel():
        return False
    return all(record.sight(item, None, None)[0] for item in range(batch))


def attend(record: Record, value: Tensor) -> Tensor:
    """The output [B, Q, H, d]. Sets record.mean to the map."""
    batch, heads, length, size = record.q.shape
    out = torch.empty(batch, length, heads, size)
    mean = record.mean = torch.empty(batch, length, length)
    for item in range(batch):
        _, causal, window = record.sight(item, None, None)
        q, k, v = (side_by_side(one[item]).numpy() for one in (record.q, record.k, value))
        _engine.attention(q, k, v, out[item].view(length, -1).numpy(), mean[item].numpy(), heads, record.k.shape[1],
                          float(record.scale), causal, window, "mean", torch.get_num_threads())
    return out


def side_by_side(heads: Tensor) -> Tensor:
    """[H, n, d] as [n, H d], which is how most models compute it."""
    return heads.detach().transpose(0, 1).reshape(heads.shape[1], -1)

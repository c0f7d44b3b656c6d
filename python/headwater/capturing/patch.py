"""Capture by a patch of torch's scaled_dot_product_attention, for models that transformers' registry does not serve:
timm, nn.MultiheadAttention, nn.TransformerEncoder, and whatever people wrote.

The call itself names no module, so hooks keep the name of the module that is running. nn.MultiheadAttention asked
for weights goes around that function; then it is asked for every head's, and hands on their mean as before.
"""
from __future__ import annotations

import threading
from typing import Any

import torch
import torch.nn.functional as F

from .record import Record, heads_of

lock = threading.RLock()
stood: dict[str, Any] = {}
open_captures: list[Any] = []


def begin(capture: Any) -> None:
    with lock:
        if not open_captures:
            stood["sdpa"] = F.scaled_dot_product_attention
            stood["fast"] = torch.backends.mha.get_fastpath_enabled()
            F.scaled_dot_product_attention = attention
            torch.backends.mha.set_fastpath_enabled(False)  # it would go around all of this
        open_captures.append(capture)
    hook_names(capture)
    wrap_multihead(capture)


def end(capture: Any) -> None:
    with lock:
        if capture not in open_captures:
            return
        open_captures.remove(capture)
        if not open_captures:
            F.scaled_dot_product_attention = stood.pop("sdpa")
            torch.backends.mha.set_fastpath_enabled(stood.pop("fast"))


def hook_names(capture: Any) -> None:
    """capture.running: the modules that are in their forward, the innermost last."""
    def enter(module: Any, args: Any) -> None:
        capture.running.append(module)

    def leave(module: Any, args: Any, out: Any) -> None:
        if capture.running and capture.running[-1] is module:
            capture.running.pop()

    for module in capture.names:
        capture.handles.append(module.register_forward_pre_hook(enter))
        capture.handles.append(module.register_forward_hook(leave, always_call=True))


def owner_of(capture: Any) -> Any:
    """The module that asks for attention, or None where it is none of this model's."""
    return capture.running[-1] if capture.running else None


def attention(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
              scale: float | None = None, enable_gqa: bool = False, **words: Any) -> Any:
    function = stood["sdpa"]
    out = function(query, key, value, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, scale=scale,
                   **({"enable_gqa": True} if enable_gqa else {}), **words)
    for capture in list(open_captures):
        module = owner_of(capture)
        if module is None or not capture.wants(module):
            continue
        record = record_of(query, key, attn_mask, is_causal, scale, dropout_p)
        if out.requires_grad:
            record.value, record.out, record.heads_last = four(value), out, False
        capture.keep(record, module)
    return out


def four(tensor: Any) -> Any:
    """[..., n, d] as [B, H, n, d]."""
    while tensor.ndim < 4:
        tensor = tensor[None]
    return tensor if tensor.ndim == 4 else tensor.flatten(0, -4)


def record_of(query: Any, key: Any, mask: Any, causal: bool, scale: float | None, dropout: float) -> Record:
    query, key = four(query), four(key)
    if mask is not None:
        mask = four(mask.expand(*mask.shape[:-2], *mask.shape[-2:]))
    return Record(name="", query=query, key=key, scale=query.shape[-1] ** -0.5 if scale is None else float(scale),
                  causal=bool(causal), mask=mask, dropout=float(dropout))


def wrap_multihead(capture: Any) -> None:
    for module in capture.names:
        if isinstance(module, torch.nn.MultiheadAttention) and capture.wants(module):
            capture.restore.append((module, "forward", module.__dict__.get("forward")))
            module.forward = asked_for_weights(capture, module, module.forward)


def asked_for_weights(capture: Any, module: Any, forward: Any) -> Any:
    def call(query: Any, key: Any, value: Any, *args: Any, **words: Any) -> Any:
        names = ("key_padding_mask", "need_weights", "attn_mask", "average_attn_weights", "is_causal")
        words |= dict(zip(names, args))
        if not words.get("need_weights", True):
            return forward(query, key, value, **words)
        mean = words.pop("average_attn_weights", True)
        out, weights = forward(query, key, value, **words, average_attn_weights=False)
        heads = weights if weights.ndim == 4 else weights[None]
        capture.keep(of_weights(heads, capture.fuse), module)
        return out, weights.mean(-3) if mean else weights

    return call


def of_weights(weights: Any, fuse: str) -> Record:
    """[B, H, Q, K] probabilities, fused at once."""
    weights = weights.detach()
    if fuse == "mean":
        fused = weights.float().mean(1) if weights.dtype != torch.float64 else weights.mean(1).float()
    elif fuse in ("max", "min"):
        fused = (weights.amax(1) if fuse == "max" else weights.amin(1)).float()
    else:
        fused = weights[:, heads_of(fuse, weights.shape[1]).start].float()
    return Record(name="", weights=fused.contiguous(), fuse=fuse, heads_of_weights=weights.shape[1])

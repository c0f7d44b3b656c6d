"""Capture by a patch of torch's scaled_dot_product_attention, for models outside transformers' registry: timm,
nn.MultiheadAttention, nn.TransformerEncoder, and other torch code.

The call does not say which module made it, so hooks keep track of the module that is running. If nn.MultiheadAttention
is asked for weights, it does not call that function; it is then asked for the weights of every head, and returns their
mean as before.
"""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from .record import Record, heads_of

if TYPE_CHECKING:
    from .recording import Recording

lock = threading.RLock()
original: dict[str, Any] = {}  # what the patch replaced
open_captures: list[Recording] = []


def begin(capture: Recording) -> None:
    with lock:
        if not open_captures:
            original["sdpa"] = F.scaled_dot_product_attention
            original["fast"] = torch.backends.mha.get_fastpath_enabled()
            F.scaled_dot_product_attention = attention
            torch.backends.mha.set_fastpath_enabled(False)  # it would bypass the patch
        open_captures.append(capture)
    hook_names(capture)
    wrap_multihead(capture)


def end(capture: Recording) -> None:
    with lock:
        if capture not in open_captures:
            return
        open_captures.remove(capture)
        if not open_captures:
            F.scaled_dot_product_attention = original.pop("sdpa")
            torch.backends.mha.set_fastpath_enabled(original.pop("fast"))


def hook_names(capture: Recording) -> None:
    """Keeps capture._running up to date."""
    def enter(module: torch.nn.Module, args: Any) -> None:
        capture._running.append(module)

    def leave(module: torch.nn.Module, args: Any, out: Any) -> None:
        if capture._running and capture._running[-1] is module:
            capture._running.pop()

    for module in capture._names:
        capture._handles.append(module.register_forward_pre_hook(enter))
        capture._handles.append(module.register_forward_hook(leave, always_call=True))


def owner_of(capture: Recording) -> torch.nn.Module | None:
    """The module of this model that is running, if any."""
    return capture._running[-1] if capture._running else None


def attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0, is_causal: bool = False,
              scale: float | None = None, enable_gqa: bool = False, **words: Any) -> Tensor:
    """Stands in for torch.nn.functional.scaled_dot_product_attention."""
    function = original["sdpa"]
    out: Tensor = function(query, key, value, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, scale=scale,
                   **({"enable_gqa": True} if enable_gqa else {}), **words)
    for capture in list(open_captures):
        module = owner_of(capture)
        if module is None or not capture._wants(module):
            continue
        record = record_of(query, key, attn_mask, is_causal, scale, dropout_p)
        if out.requires_grad:
            record.value, record.out, record.heads_last = four(value), out, False
        capture._keep(record, module)
    return out


def four(tensor: Tensor) -> Tensor:
    """[..., n, d] as [B, H, n, d]."""
    while tensor.ndim < 4:
        tensor = tensor[None]
    return tensor if tensor.ndim == 4 else tensor.flatten(0, -4)


def record_of(query: Tensor, key: Tensor, mask: Tensor | None, causal: bool, scale: float | None, dropout: float) -> Record:
    query, key = four(query), four(key)
    if mask is not None:
        mask = four(mask.expand(*mask.shape[:-2], *mask.shape[-2:]))
    return Record(name="", query=query, key=key, scale=query.shape[-1] ** -0.5 if scale is None else float(scale),
                  causal=bool(causal), mask=mask, dropout=float(dropout))


def wrap_multihead(capture: Recording) -> None:
    for module in capture._names:
        if isinstance(module, torch.nn.MultiheadAttention) and capture._wants(module):
            capture._restore.append((module, "forward", module.__dict__.get("forward")))
            module.forward = asked_for_weights(  # type: ignore[method-assign]
                capture, module, module.forward)


def asked_for_weights(capture: Recording, module: torch.nn.Module, forward: Callable[..., Any]) -> Callable[..., Any]:
    """nn.MultiheadAttention's forward, which records the weights of every head."""
    def call(query: Tensor, key: Tensor, value: Tensor, *args: Any, **words: Any) -> Any:
        names = ("key_padding_mask", "need_weights", "attn_mask", "average_attn_weights", "is_causal")
        words |= dict(zip(names, args))
        if not words.get("need_weights", True):
            return forward(query, key, value, **words)
        mean = words.pop("average_attn_weights", True)
        out, weights = forward(query, key, value, **words, average_attn_weights=False)
        heads = weights if weights.ndim == 4 else weights[None]
        capture._keep(of_weights(heads, capture._fuse), module)
        return out, weights.mean(-3) if mean else weights

    return call


def of_weights(weights: Tensor, fuse: str) -> Record:
    """A record of [B, H, Q, K] probabilities, which are fused at once."""
    weights = weights.detach()
    if fuse == "mean":
        fused = weights.float().mean(1) if weights.dtype != torch.float64 else weights.mean(1).float()
    elif fuse in ("max", "min"):
        fused = (weights.amax(1) if fuse == "max" else weights.amin(1)).float()
    else:
        fused = weights[:, heads_of(fuse, weights.shape[1]).start].float()
    return Record(name="", weights=fused.contiguous(), fuse=fuse, heads_of_weights=weights.shape[1])

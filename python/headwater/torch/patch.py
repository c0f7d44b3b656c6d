"""Capture by a patch of torch's scaled_dot_product_attention, for models outside transformers' registry: timm,
nn.MultiheadAttention, nn.TransformerEncoder, and other torch code.

The call does not say which module made it, but the frames of passes.py know which module is running. If
nn.MultiheadAttention is asked for weights, it does not call that function; it is then asked for the weights of every
head, and returns their mean as before.
"""
from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from . import log_sums, switches
from .blocks import heads_of
from .by_hand import inside
from .record import Record

if TYPE_CHECKING:
    from .recording import Recording

sdpa: Callable[..., Tensor] = F.scaled_dot_product_attention  # torch's own, or its replacement when a capture opened
fast = True  # whether torch's fast path was on
users: list[Recording] = []


def begin(capture: Recording) -> None:
    global sdpa, fast
    with switches.lock:
        if not users:
            sdpa, fast = F.scaled_dot_product_attention, torch.backends.mha.get_fastpath_enabled()
            F.scaled_dot_product_attention = attention
            torch.backends.mha.set_fastpath_enabled(False)  # it would bypass the patch
        users.append(capture)
    replace_names(capture)
    for module in capture._names:
        if isinstance(module, torch.nn.MultiheadAttention) and capture._frames.wanted(module):
            switches.replace(capture, module, "forward", functools.partial(asked_for_weights, module))


def replace_names(capture: Recording) -> None:
    """Also where the files of a model's classes imported the function by its name, or keep it under one of their own."""
    files = {kind.__module__ for module in capture._names for kind in type(module).__mro__}
    for file in [sys.modules[name] for name in files if name in sys.modules and not name.startswith("torch.")]:
        for name in [name for name, value in vars(file).items() if value is sdpa or value is attention]:
            switches.replace(capture, file, name, lambda _: attention)


def serves_torchs_own() -> bool:
    """Whether `attention` stands in for torch's own function now."""
    return bool(users) and sdpa is log_sums.SDPA


def end(capture: Recording) -> None:
    with switches.lock:
        if capture not in users:
            return
        users.remove(capture)
        if not users:
            F.scaled_dot_product_attention = sdpa
            torch.backends.mha.set_fastpath_enabled(fast)


def attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
              is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False, **words: Any) -> Tensor:
    """Stands in for torch.nn.functional.scaled_dot_product_attention."""
    asking = getattr(log_sums.here, "asking", None)
    if asking is not None and attn_mask is None and not words:
        found: Tensor | None = asking.attend(query, key, value, dropout_p, is_causal, scale, enable_gqa)
        if found is not None:
            return found
    inside.depth += 1
    try:
        out: Tensor = sdpa(query, key, value, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, scale=scale,
                           **({"enable_gqa": True} if enable_gqa else {}), **words)
    finally:
        inside.depth -= 1
    for capture in list(users):
        frame = capture._frames.thread.frame
        if frame is None or not capture._wants(frame.module):
            continue
        record = record_of(query, key, attn_mask, is_causal, scale, dropout_p)
        if out.requires_grad:
            record.value, record.out, record.heads_last = four(value), out, False
        across = isinstance(frame.module, torch.nn.MultiheadAttention) and \
            is_across(frame.name, *of_call(frame.args, frame.words))
        capture._keep(record, frame.module, "sdpa", across)
    return out


def of_call(args: tuple[Any, ...], words: dict[str, Any]) -> tuple[object, object]:
    """The query and the key that nn.MultiheadAttention was called with."""
    return args[0] if args else words.get("query"), args[1] if len(args) > 1 else words.get("key")


def is_across(name: str, query: object, key: object) -> bool:
    """Whether nn.MultiheadAttention attends to something else than its queries."""
    if query is key or not isinstance(query, Tensor) or not isinstance(key, Tensor):
        return False
    return query.shape != key.shape or "multihead_attn" in name


def four(tensor: Tensor) -> Tensor:
    """[..., n, d] as [B, H, n, d]."""
    while tensor.ndim < 4:
        tensor = tensor[None]
    return tensor if tensor.ndim == 4 else tensor.flatten(0, -4)


def record_of(query: Tensor, key: Tensor, mask: Tensor | None, causal: bool, scale: float | None,
              dropout: float) -> Record:
    query, key = four(query), four(key)
    if mask is not None:
        mask = four(mask.expand(*mask.shape[:-2], *mask.shape[-2:]))
    return Record(name="", query=query, key=key, scale=query.shape[-1] ** -0.5 if scale is None else float(scale),
                  causal=bool(causal), mask=mask, dropout=float(dropout))


def asked_for_weights(module: torch.nn.Module, forward: Callable[..., Any]) -> Callable[..., Any]:
    """nn.MultiheadAttention's forward, which records the weights of every head."""
    @functools.wraps(forward)
    def call(query: Tensor, key: Tensor, value: Tensor, *args: Any, **words: Any) -> Any:
        names = ("key_padding_mask", "need_weights", "attn_mask", "average_attn_weights", "is_causal")
        words |= dict(zip(names, args))
        owners = [capture for capture in list(users) if capture._wants(module)]
        if not owners or not words.get("need_weights", True):
            return forward(query, key, value, **words)
        mean = words.pop("average_attn_weights", True)
        out, weights = forward(query, key, value, **words, average_attn_weights=False)
        heads = weights if weights.ndim == 4 else weights[None]
        for capture in owners:
            capture._keep(of_weights(heads, capture._fuse), module, "eager",
                          is_across(capture._names[module], query, key))
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

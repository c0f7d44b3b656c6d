"""Capture by hooks on modules that return their attention: the last resort, and the one for a pattern of names.

The weights [B, H, Q, K] are fused as they arrive; where this capture asked for them, nobody else keeps them.
"""
from __future__ import annotations

from typing import Any

import torch

from . import interface
from .patch import of_weights

KINDS = ("attention", "attn")


def begin(capture: Any, modules: list[Any], ask: bool) -> None:
    """Hooks on `modules`; with `ask`, the model is made to return its attention where it would not."""
    capture.asked = False
    wanted = asked_by_caller(capture)
    if interface.usable(capture.model):
        run_eager(capture)  # its modules return weights then, whether anybody asks or not
    elif ask:
        ask_configs(capture)

    def take(module: Any, args: Any, out: Any) -> Any:
        parts = out if isinstance(out, (tuple, list)) else [out]
        for place, part in enumerate(parts):
            if looks_like_attention(part):
                capture.keep(of_weights(part, capture.fuse), module)
                if capture.asked and isinstance(out, tuple) and not (wanted and wanted[-1]):
                    return (*out[:place], None, *out[place + 1:])
                return None
        return None

    for module in modules:
        capture.handles.append(module.register_forward_hook(take))


def asked_by_caller(capture: Any) -> list[bool]:
    """Whether the caller asked for weights, of each model within the model that is running; the innermost last.

    Some parts are called by themselves, as an encoder is by generate(), so the whole model's arguments do not tell.
    """
    wanted: list[bool] = []

    def enter(module: Any, args: Any, words: dict[str, Any]) -> None:
        wanted.append(bool(words.get("output_attentions")) or (wanted[-1] if wanted else False))

    def leave(module: Any, args: Any, out: Any) -> None:
        if wanted:
            wanted.pop()

    for module in capture.names:
        if hasattr(module, "config"):
            capture.handles.append(module.register_forward_pre_hook(enter, with_kwargs=True))
            capture.handles.append(module.register_forward_hook(leave, always_call=True))
    return wanted


def configs_of(capture: Any) -> list[Any]:
    """The configs in a model; an encoder and a decoder may have their own."""
    return list({id(module.config): module.config for module in capture.names if hasattr(module, "config")}.values())


def run_eager(capture: Any) -> None:
    """Eager attention for as long as the capture is open."""
    for config in configs_of(capture):
        stood = getattr(config, "_attn_implementation_internal", None)
        if stood not in (None, "eager"):
            capture.restore.append((config, "_attn_implementation_internal", stood))
            config._attn_implementation_internal = "eager"


def ask_configs(capture: Any) -> None:
    """The model's configs are told to return attention."""
    for config in configs_of(capture):
        if not getattr(config, "output_attentions", True) and \
                getattr(config, "_attn_implementation", "eager") == "eager":
            capture.restore.append((config, "output_attentions", False))
            config.output_attentions = True
            capture.asked = True


def looks_like_attention(part: Any) -> bool:
    """[B, H, Q, K], not negative, rows that sum to 1; with dropout none does."""
    if not isinstance(part, torch.Tensor) or part.ndim != 4 or not part.is_floating_point():
        return False
    first = part.detach()[0, 0].float()
    sums = first.sum(-1)
    whole = (sums - 1).abs() < 1e-2
    return bool((first >= 0).all()) and bool((whole | (sums == 0)).all()) and bool(whole.any())


def likely(capture: Any) -> list[Any]:
    """Modules that are called attention, the innermost of each branch."""
    named = [module for module, name in capture.names.items()
             if any(kind in type(module).__name__.lower() for kind in KINDS)
             and not isinstance(module, torch.nn.MultiheadAttention)]
    inner = [module for module in named if not any(other is not module and other in set(module.modules())
                                                   for other in named)]
    return inner

"""Capture by hooks on modules that return their attention: the last resort, and the choice for a pattern of names.

The weights [B, H, Q, K] are fused as they arrive. If only this capture asked for them, they are dropped then.
"""
from __future__ import annotations

import inspect
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Callable, TypeGuard

import torch

from . import interface, switches
from .patch import of_weights

if TYPE_CHECKING:
    from .recording import Recording

KINDS = ("attention", "attn")


def begin(capture: Recording, modules: list[torch.nn.Module]) -> None:
    """Hooks `modules`. The model is told to return its attention if it would not."""
    capture._asked = False
    wanted = asked_by_caller(capture)
    if interface.usable(capture.model):
        run_eager(capture)  # then its modules always return weights
    else:
        ask_configs(capture)
    take_from(capture, modules, wanted)


def begin_beside(capture: Recording) -> None:
    """Hooks modules that implement attention themselves in a model whose other parts use the registry, such as GIT."""
    take_from(capture, likely(capture, lambda module: not calls_registry(module)), [])


def calls_registry(module: torch.nn.Module) -> bool:
    """Whether a module's forward asks the registry for its attention."""
    code = getattr(inspect.unwrap(type(module).forward), "__code__", None)
    return code is not None and "ALL_ATTENTION_FUNCTIONS" in code.co_names


def take_from(capture: Recording, modules: list[torch.nn.Module], wanted: list[bool]) -> None:
    """Keeps what modules return, if it looks like attention. `wanted`: whether the caller asked for it, by nested model."""
    def take(module: torch.nn.Module, args: Any, out: Any) -> Any:
        frame = capture._frames.thread.frame
        if frame is None or frame.module is not module or frame.inside or not capture._wants(module):
            return None  # already recorded, or not wanted
        parts = out if isinstance(out, (tuple, list)) else [out]
        for place, part in enumerate(parts):
            if looks_like_attention(part):
                capture._keep(of_weights(part, capture._fuse), module, "eager")
                if capture._asked and isinstance(out, tuple) and not (wanted and wanted[-1]):
                    # Nobody else needs them. Some models look at their shape, so a stand-in of that shape stays.
                    rest = (*out[:place], part.new_zeros(()).expand(part.shape), *out[place + 1:])
                    return type(out)(*rest) if hasattr(out, "_fields") else rest  # of a named tuple
                return None
        return None

    for module in modules:
        capture._handles.append(module.register_forward_hook(take))


def asked_by_caller(capture: Recording) -> list[bool]:
    """Whether the caller asked for weights, for each nested model that is running; the innermost last.

    Some parts are called on their own, as generate() calls an encoder, so the arguments of the whole model do not tell.
    """
    wanted: list[bool] = []

    def enter(module: torch.nn.Module, args: tuple[Any, ...],
              words: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
        wanted.append(bool(words.get("output_attentions")) or (wanted[-1] if wanted else False))
        if capture._asked and words.get("output_attentions", True) is False:  # generate() says so at every step
            return args, {**words, "output_attentions": True}
        return None

    def leave(module: torch.nn.Module, args: object, out: object) -> None:
        if wanted:
            wanted.pop()

    for module in capture._names:
        if hasattr(module, "config"):
            capture._handles.append(module.register_forward_pre_hook(enter, with_kwargs=True))
            capture._handles.append(module.register_forward_hook(leave, always_call=True))
    return wanted


def configs_of(capture: Recording) -> list[Any]:
    """The configs of a model; an encoder and a decoder may have their own."""
    return list({id(module.config): module.config for module in capture._names if hasattr(module, "config")}.values())


def run_eager(capture: Recording) -> None:
    """Switches to eager attention while the capture is open."""
    for config in configs_of(capture):
        before = getattr(config, "_attn_implementation_internal", None)
        if before not in (None, "eager") or switches.is_replaced(config, "_attn_implementation_internal"):
            switches.replace(capture, config, "_attn_implementation_internal", lambda _: "eager")


def ask_configs(capture: Recording) -> None:
    """Tells the model to return attention, by its configs."""
    for config in configs_of(capture):
        asks = getattr(config, "output_attentions", True) and not switches.is_replaced(config, "output_attentions")
        if not asks and getattr(config, "_attn_implementation", "eager") == "eager":
            switches.replace(capture, config, "output_attentions", lambda _: True)
            capture._asked = True


def looks_like_attention(part: object) -> TypeGuard[torch.Tensor]:
    """Whether it is [B, H, Q, K], not negative, with rows that sum to 1. Dropout breaks the last.

    Rows with NaN may be anything: methods refuse them, with a sentence that says so.
    """
    if not isinstance(part, torch.Tensor) or part.ndim != 4 or not part.is_floating_point():
        return False
    first = part.detach()[0, 0].float()
    sums = first.sum(-1)
    whole = (sums - 1).abs() < 1e-2
    broken = ~torch.isfinite(sums)
    return bool(((first >= 0).all(-1) | broken).all()) and bool((whole | broken | (sums == 0)).all()) and \
        bool((whole | broken).any())


@lru_cache(maxsize=1024)
def is_named_attention(kind: str) -> bool:
    """Whether a class is named attention."""
    return any(word in kind.lower() for word in KINDS)


def likely(capture: Recording, like: Callable[[torch.nn.Module], bool] | None = None) -> list[torch.nn.Module]:
    """Modules named attention, the innermost of each branch; only those that are `like` it."""
    named = [module for module, name in capture._names.items()
             if is_named_attention(type(module).__name__)
             and not isinstance(module, torch.nn.MultiheadAttention) and (like is None or like(module))]
    among = set(named)
    return [module for module in named if not any(part in among for part in module.modules() if part is not module)]

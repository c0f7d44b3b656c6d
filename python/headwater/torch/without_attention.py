"""What layers do to tokens apart from attention, by a trial: a copy of a layer whose attention looks at nothing but the token
itself. If a change of one token then changes others, the layer also mixes tokens in another way.
"""
from __future__ import annotations

import copy
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from .mixing import tensor_of

MOST = 1 << 26  # parameters of a layer that is tried
MOST_NUMBERS = 1 << 22  # of its input
NUMBERED = ("idx", "index", "number", "layer_id")  # settings that tell a layer from the next, and nothing else

tried: WeakKeyDictionary[torch.nn.Module, bool] = WeakKeyDictionary()


class Alone(TorchFunctionMode):
    """Each token attends to itself alone."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        words, name = kwargs or {}, getattr(func, "__name__", "")
        if name == "scaled_dot_product_attention":
            query, value = args[0] if args else words["query"], args[2] if len(args) > 2 else words["value"]
            if query.shape[-2] != value.shape[-2]:
                raise NotImplementedError("attention to other tokens than its own")
            return value.repeat_interleave(query.shape[-3] // value.shape[-3], -3) if query.ndim > 3 else value.clone()
        if name == "multi_head_attention_forward":
            length = args[0].shape[0]
            return args[0].clone(), torch.eye(length, device=args[0].device).expand(args[0].shape[1], length, length)
        out = func(*args, **words)
        if name == "softmax" and isinstance(out, Tensor) and out.ndim > 1 and out.shape[-1] == out.shape[-2]:
            return torch.eye(out.shape[-1], dtype=out.dtype, device=out.device).expand_as(out)
        return out


def like_others(layer: torch.nn.Module) -> Any:
    """What layers have in common that run the same code: their parts, and plain settings."""
    return tuple((name, type(part), id(part.__dict__.get("forward")), tuple(
        (word, value) for word, value in sorted(vars(part).items()) if isinstance(value, (bool, int, float, str)) and
        not any(one in word for one in NUMBERED))) for name, part in layer.named_modules())


def mixing_otherwise(layers: list[torch.nn.Module], shape: tuple[int, ...] | None, length: int) -> list[torch.nn.Module]:
    """The layers of those given hidden states [B, n, d] that mix tokens beside attention. What cannot be tried is left out."""
    kinds: dict[Any, bool] = {}
    for layer in layers:
        if layer not in tried:
            own = like_others(layer)
            if own not in kinds:
                kinds[own] = mixes_otherwise(layer, shape, length)
            tried[layer] = kinds[own]
    return [layer for layer in layers if tried[layer]]


def mixes_otherwise(layer: torch.nn.Module, shape: tuple[int, ...] | None, length: int) -> bool:
    if shape is None or len(shape) != 3 or length not in shape[:2] or length < 2 or length * shape[2] > MOST_NUMBERS or \
            sum(one.numel() for one in layer.parameters()) > MOST:
        return False
    sizes = (1, length, shape[2]) if shape[1] == length else (length, 1, shape[2])
    try:
        shared: dict[int, Any] = {id(one): one for one in layer.parameters()}  # a trial changes none of them
        return takes_from_others(copy.deepcopy(layer, shared).eval(), sizes)
    except Exception:  # it needs more than hidden states, or cannot be copied: nobody knows
        return False


def takes_from_others(layer: torch.nn.Module, sizes: tuple[int, int, int]) -> bool:
    """Whether changing the first token changes the output for others."""
    like = next((one for one in layer.parameters() if one.is_floating_point()), torch.empty(0))
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(sizes, generator=generator)
    other = x.clone()
    other[0, 0] = torch.randn(sizes[2], generator=generator)
    with torch.no_grad(), Alone():
        before, after = (tensor_of(layer(one.to(like.device, like.dtype))).float() for one in (x, other))
    if before.shape[:2] != sizes[:2]:
        raise NotImplementedError("other tokens come out than go in")
    change = (after - before).abs().flatten(0, 1)
    return bool(change[1:].max() > 1e-3 * change[0].max())

"""Parts of a model that move something between tokens beside attention: convolutions, recurrences, Fourier transforms, and
whatever a trial shows to do so.
"""
from __future__ import annotations

import copy
import math
import re
from functools import lru_cache
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

MIXES = re.compile(r"attn|attention|mamba|(?-i:SSM|Ssm|ssm)|mixer|conv|recurrent|rnn|lstm|gru|delta|hyena|retention|fourier|rwkv|kda",
                   re.IGNORECASE)  # classes of modules that move something between tokens
BESIDE = re.compile(r"mamba|(?-i:SSM|Ssm|ssm)|mixer|recurrent|rwkv|gateddelta|kimidelta|retention|hyena", re.IGNORECASE)  # not attention
Convolution = torch.nn.modules.conv._ConvNd
# torch's own layers that may do so; all others treat each token separately.
OF_TORCH = (Convolution, torch.nn.RNNBase, torch.nn.GroupNorm, torch.nn.InstanceNorm1d, torch.nn.InstanceNorm2d)
MOST = 1 << 28  # parameters of a layer that is copied for a trial

tried: WeakKeyDictionary[torch.nn.Module, bool] = WeakKeyDictionary()  # each step of generate() asks again


def mixes(module: torch.nn.Module, shape: tuple[int, ...] | None, length: int) -> bool:
    """Whether a layer that was given hidden states of a shape, of `length` tokens, lets tokens take from each other.

    What cannot be tried counts as mixing.
    """
    if any(is_wide(inner) if isinstance(inner, Convolution) else MIXES.search(type(inner).__name__)
           for inner in module.modules()):
        return True
    if isinstance(module, Convolution):
        return False
    if shape is None or not 2 <= len(shape) <= 4 or sum(one.numel() for one in module.parameters()) > MOST:
        return True
    axes = [len(shape) - 1]
    if len(shape) == 4:  # pictures, channels last or first
        axes = [axis for axis, sides in ((3, shape[1:3]), (1, shape[2:])) if sides[0] * sides[1] == length] or [3, 1]
    if all(math.prod(shape) == shape[axis] for axis in axes):
        return False  # one token
    if module not in tried:
        try:
            twin = copy.deepcopy(module).eval()
            tried[module] = any(tokens_take(twin, tuple(shape), axis) for axis in axes)
        except Exception:  # it needs more than hidden states, or cannot be copied
            tried[module] = True
    return tried[module]


def tokens_take(module: torch.nn.Module, shape: tuple[int, ...], axis: int) -> bool:
    """Whether changing the first token along an axis changes the output for other tokens."""
    like = next((one for one in [*module.parameters(), *module.buffers()] if one.is_floating_point()), torch.empty(0))
    generator = torch.Generator().manual_seed(7)
    first = tuple(slice(None) if k == axis else 0 for k in range(len(shape)))
    x = torch.randn(shape, generator=generator)
    other = x.clone()
    other[first] = torch.randn(shape[axis], generator=generator)
    with torch.no_grad():
        before, after = (tensor_of(module(one.to(like.device, like.dtype))) for one in (x, other))
    if before.shape[:axis] + before.shape[axis + 1:] != shape[:axis] + shape[axis + 1:]:
        return True
    change = (after - before).float().abs()
    change[first] = 0
    return not bool(change.max() <= 1e-5 * before.float().abs().max())


def tensor_of(out: object) -> Tensor:
    """The hidden states of an output."""
    while isinstance(out, (tuple, list)):
        out = out[0]
    if not isinstance(out, Tensor):
        raise TypeError(type(out).__name__)
    return out


def beside(layers: list[torch.nn.Module], own: set[str]) -> list[str]:
    """The classes by which layers with attention, of the classes `own`, also mix tokens, as those of Falcon-H1 do."""
    return sorted({type(part).__name__ for layer in layers for part in parts_beside(layer)} - own)


def parts_beside(module: torch.nn.Module) -> list[torch.nn.Module]:
    """The parts of a module that mix tokens and are in no other such part."""
    found = []
    for part in module._modules.values():
        if part is not None:
            if is_wide(part) or is_beside(type(part).__name__):
                found.append(part)
            elif part._modules:
                found += parts_beside(part)
    return found


@lru_cache(maxsize=1024)
def is_beside(kind: str) -> bool:
    """Whether a class mixes tokens in another way than attention, by its name."""
    return BESIDE.search(kind) is not None


def is_wide(module: torch.nn.Module) -> bool:
    """Whether it is a convolution over more than one place."""
    return isinstance(module, Convolution) and any(size > 1 for size in module.kernel_size)

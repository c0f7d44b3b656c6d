"""What a module without parts computes, found out by asking it: a norm, an activation, or something else.

A norm is w z + b, where z is its input divided by its root mean square, or centred and divided by its standard
deviation. An activation treats every number alike, and gives 0 for 0. Both are tried in double on a copy.
"""
from __future__ import annotations

import copy
import functools
from dataclasses import dataclass
from typing import Any, Callable, Iterator

import torch
from torch import Tensor

from .backward import KNOWN, Function

CLOSE = 2e-5  # modules may compute in float32 whatever they are given
SURE = 1e-6  # no other epsilon comes as close on the rows of a trial, apart from 0 and 1e-12
ROWS = 12
EPSILONS = (0.0, 1e-5, 1e-6, 1e-8, 1e-12, 1.1920928955078125e-07)
OF_TORCH = frozenset(vars(torch.nn.Module()))  # attributes that every module has
MOST = 4_000_000  # numbers that a trial may take


@dataclass
class Norm:
    """w z + b over the last axis."""

    weight: Tensor | None
    bias: Tensor | None
    epsilon: float
    centred: bool


@dataclass
class Activation:
    """The same function of every number."""

    slope: Function | None  # f(x) / x, if it is a well-known one


# What modules without parameters turned out to be. A model has one in each layer.
known_kinds: dict[tuple[Any, ...], Norm | Activation | None] = {}


def stateless(module: torch.nn.Module) -> tuple[Any, ...] | None:
    """What tells such a module from others of its class; None if it has more than plain settings."""
    if next(module.parameters(), None) is not None or next(module.buffers(), None) is not None:
        return None
    own = {name: value for name, value in vars(module).items()
           if name != "forward" and name not in OF_TORCH}
    if not all(isinstance(value, (bool, int, float, str, type(None))) for value in own.values()):
        return None
    return type(module), *sorted((name, repr(value)) for name, value in own.items())


@functools.lru_cache(8)
def numbers(shape: tuple[int, ...]) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(5))


@functools.lru_cache(8)
def shuffled(count: int) -> Tensor:
    return torch.randperm(count, generator=torch.Generator().manual_seed(6))


def kind_of(module: torch.nn.Module, shape: torch.Size) -> Norm | Activation | None:
    """What a module does with an input of this shape; None if it is neither."""
    if len(shape) < 2 or not shape[-1]:
        return None
    sample = (ROWS, shape[-1]) if len(shape) == 2 else (1, ROWS, *shape[2:])
    if torch.Size(sample).numel() > MOST:
        return None
    alike = (stateless(module), sample, len(shape))
    if alike[0] is not None and alike in known_kinds:
        return known_kinds[alike]
    try:
        place = next((one.device for one in [*module.parameters(), *module.buffers()]), torch.device("cpu"))
        # On the CPU: a trial is many small steps, each of which a GPU would be waited for.
        twin = copy.deepcopy(module).to("cpu", torch.float64)
        twin.__dict__.pop("forward", None)  # what stands in for it while relevance is computed
        x = numbers(sample)
        with torch.no_grad():
            found = activation(twin.forward, x) or norm(twin, x, len(shape))
        if alike[0] is not None:
            known_kinds[alike] = found
        if isinstance(found, Norm):
            found.weight, found.bias = (None if one is None else one.to(place) for one in (found.weight, found.bias))
        return found
    except Exception:  # it takes something else than one tensor of numbers; what it computes is judged step by step
        return None


def activation(function: Callable[..., Any], x: Tensor) -> Activation | None:
    y = function(x)
    if not isinstance(y, Tensor) or y.shape != x.shape or y is x:
        return None
    order = shuffled(x.numel())
    moved = function(x.flatten()[order].view_as(x))
    zero = function(torch.zeros_like(x))
    alike = torch.allclose(moved.flatten(), y.flatten()[order], rtol=1e-6, atol=1e-7)
    if not alike or bool(zero.any()):
        return None
    same = (slope for known, slope in KNOWN if torch.allclose(known(x), y, rtol=1e-6, atol=1e-9))
    return Activation(next(same, None))


def epsilons(module: torch.nn.Module) -> Iterator[float]:
    for value in vars(module).values():
        if isinstance(value, float) and 0 <= value < 1e-2:
            yield value
    yield from EPSILONS


def norm(module: torch.nn.Module, x: Tensor, axes: int) -> Norm | None:
    rows = 0 if axes == 2 else 1  # the axis of the samples
    # Small rows tell the epsilons apart, and a mean that is not 0 tells whether it is taken off.
    scale = torch.logspace(-3, 1, ROWS, dtype=x.dtype, device=x.device)
    x = (x + 0.7) * scale.view([-1 if k == rows else 1 for k in range(x.ndim)])
    y = module.forward(x)
    if not isinstance(y, Tensor) or y.shape != x.shape:
        return None
    best: tuple[float, Norm] | None = None
    for centred in (False, True):
        centre = x - x.mean(-1, keepdim=True) if centred else x
        for epsilon in epsilons(module):
            z = centre / (centre.square().mean(-1, keepdim=True) + epsilon).sqrt()
            mean_z, mean_y = z.mean(rows, keepdim=True), y.mean(rows, keepdim=True)
            weight = ((z - mean_z) * (y - mean_y)).sum(rows, keepdim=True) / \
                (z - mean_z).square().sum(rows, keepdim=True)
            bias = mean_y - weight * mean_z
            off = float((weight * z + bias - y).abs().max() / y.abs().max())
            if best is None or off < best[0]:
                best = off, Norm(weight.squeeze(rows), bias.squeeze(rows), epsilon, centred)
            if off < SURE:
                break
        if best is not None and best[0] < SURE:
            break
    if best is None or not best[0] < CLOSE:
        return None
    found = best[1]
    assert found.weight is not None and found.bias is not None
    size = float(y.abs().max())
    found.weight = exact(module, found.weight)
    found.bias = None if float(found.bias.abs().max()) < CLOSE * size else exact(module, found.bias)
    return found


def exact(module: torch.nn.Module, fitted: Tensor) -> Tensor:
    """The parameter that was fitted, or 1 plus it; else what was fitted."""
    for parameter in module.parameters():
        for one in (parameter.detach(), parameter.detach() + 1):
            try:
                spread = one.expand_as(fitted)
            except RuntimeError:
                continue
            if torch.allclose(spread, fitted, rtol=1e-3, atol=1e-4 * float(fitted.abs().max())):
                return one
    return fitted

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
class Place:
    """A parameter of a module by its name, plus 0 or 1."""

    name: str
    more: int

    def of(self, module: torch.nn.Module) -> Tensor:
        found = module.get_parameter(self.name).detach()
        return found + self.more if self.more else found


@dataclass
class Activation:
    """The same function of every number."""

    slope: Function | None  # f(x) / x, if it is a well-known one


@dataclass
class Alike:
    """What all modules of one class with the same settings turned out to be, with places in their parameters."""

    kind: Norm | Activation | None
    weight: Place | None = None
    bias: Place | None = None

    def of(self, module: torch.nn.Module) -> Norm | Activation | None:
        if not isinstance(self.kind, Norm):
            return self.kind
        weight, bias = (None if one is None else one.of(module) for one in (self.weight, self.bias))
        return Norm(weight, bias, self.kind.epsilon, self.kind.centred)


# A model has a norm of the same class in each layer, and is asked about more than once.
known_kinds: dict[tuple[Any, ...], Alike | None] = {}


def settings(module: torch.nn.Module) -> tuple[Any, ...] | None:
    """What tells a module from others of its class, apart from the values of its parameters; None if it has more than
    parameters and plain settings.
    """
    own = {name: value for name, value in vars(module).items() if name != "forward" and name not in OF_TORCH}
    if next(module.buffers(), None) is not None or \
            not all(isinstance(value, (bool, int, float, str, tuple, type(None))) for value in own.values()):
        return None
    shapes = [(name, one.shape) for name, one in module.named_parameters()]
    return type(module), *shapes, *sorted((name, repr(value)) for name, value in own.items())


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
    own = settings(module)
    key = (own, sample, len(shape))
    if own is not None and key not in known_kinds:
        known_kinds[key] = trial(lambda: alike(module, sample, len(shape)))
    if own is not None and (known := known_kinds[key]) is not None:
        return known.of(module)
    found: Norm | Activation | None = trial(lambda: alone(module, sample, len(shape)))
    return found


def trial(work: Callable[[], Any]) -> Any:
    try:
        with torch.no_grad():
            return work()
    except Exception:  # it does not take a single tensor of numbers; its steps are judged one by one
        return None


def twin_of(module: torch.nn.Module) -> torch.nn.Module:
    # On the CPU: a trial is many small steps, and each would wait for the GPU.
    twin = copy.deepcopy(module).to("cpu", torch.float64)
    twin.__dict__.pop("forward", None)  # what stands in for it while relevance is computed
    return twin


def kind_by_trial(twin: torch.nn.Module, sample: tuple[int, ...], axes: int) -> Norm | Activation | None:
    x = numbers(sample)
    return activation(twin.forward, x) or norm(twin, x, axes)


def alike(module: torch.nn.Module, sample: tuple[int, ...], axes: int) -> Alike | None:
    """What all modules like this one compute, tried with other parameters; None if each must be asked."""
    twin = twin_of(module)
    for k, parameter in enumerate(twin.parameters()):  # all different, and all with an effect
        parameter.copy_(1 + (0.3 + 0.1 * k) * numbers(tuple(parameter.shape)).roll(k))
    found = kind_by_trial(twin, sample, axes)
    if not isinstance(found, Norm):
        return Alike(found)
    weight, bias = (None if one is None else place_of(twin, one) for one in (found.weight, found.bias))
    same = (weight is None) == (found.weight is None) and (bias is None) == (found.bias is None)
    return Alike(found, weight, bias) if same else None


def alone(module: torch.nn.Module, sample: tuple[int, ...], axes: int) -> Norm | Activation | None:
    device = next((one.device for one in [*module.parameters(), *module.buffers()]), torch.device("cpu"))
    found = kind_by_trial(twin_of(module), sample, axes)
    if isinstance(found, Norm):
        found.weight, found.bias = (None if one is None else one.to(device) for one in (found.weight, found.bias))
    return found


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
    place = place_of(module, fitted)
    return fitted if place is None else place.of(module)


def place_of(module: torch.nn.Module, fitted: Tensor) -> Place | None:
    for name, parameter in module.named_parameters():
        for more in (0, 1):
            try:
                spread = (parameter.detach() + more).expand_as(fitted)
            except RuntimeError:
                continue
            if torch.allclose(spread, fitted, rtol=1e-3, atol=1e-4 * float(fitted.abs().max())):
                return Place(name, more)
    return None

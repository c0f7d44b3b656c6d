"""The backward passes of relevance as functions of autograd. Each leaves the forward pass as it is.

    Scaled   y = x,              dx = s dy
    Normed   y = w z(x) + b,     dx = (u - mean u) / deviation,  u = w dy;  root mean square: dx = u / rms
    Secant   y = f(x),           dx = (f(x) / x) dy
    Gated    y = f(x) u,         dx = (f(x) / x) u dy / 2,  du = f(x) dy / 2

What they need later goes through save_for_backward, so that a checkpoint can drop it and compute it again.
"""
from __future__ import annotations

import math
from typing import Any, Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from .attended import Attended

Function = Callable[[Tensor], Tensor]


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        return grads[0] * ctx.factor, None


class Normed(torch.autograd.Function):
    """`function` gives what the model computes, `size` [..., 1] is what it divides by."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, bias: Tensor | None, function: Callable[[], Tensor], weight: Tensor | None,
                size: Tensor, axes: tuple[int, ...], centred: bool) -> Tensor:
        ctx.save_for_backward(size, weight)
        ctx.axes, ctx.centred, ctx.dtype, ctx.of_bias = axes, centred, x.dtype, None if bias is None else bias.shape
        return function()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        size, weight = ctx.saved_tensors
        grad = grads[0]
        to_bias = None
        if ctx.of_bias is not None and ctx.needs_input_grad[1]:
            to_bias = grad.sum_to_size(ctx.of_bias)
        u = grad.to(size.dtype)
        u = u * weight.to(size.dtype) if weight is not None else u
        if ctx.centred:
            u = u - u.mean(ctx.axes, keepdim=True)
        return (u / size).to(ctx.dtype), to_bias, None, None, None, None, None


class Secant(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, function: Function, slope: Function) -> Tensor:
        ctx.save_for_backward(x)
        ctx.slope = slope
        y = function(x)
        return y.view_as(y) if y is x else y

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, = ctx.saved_tensors
        return ctx.slope(x).mul_(grads[0]), None, None


class Gated(torch.autograd.Function):
    """`y` is f(x), which the model computed already."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, other: Tensor, y: Tensor, slope: Function) -> Tensor:
        ctx.save_for_backward(x, other)
        ctx.slope = slope
        return y * other

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        x, other = ctx.saved_tensors
        shared = ctx.slope(x).mul_(grads[0]).mul_(0.5)
        to_other = shared * x
        return shared.mul_(other), to_other, None, None


OURS: tuple[type, ...] = tuple(getattr(one, "_backward_cls") for one in (Scaled, Normed, Secant, Gated, Attended))


# -- f(x) / x


def of_silu(x: Tensor) -> Tensor:
    return torch.sigmoid(x)


def of_gelu(x: Tensor) -> Tensor:
    return torch.erf(x * math.sqrt(0.5)).add_(1).mul_(0.5)


def of_tanh_gelu(x: Tensor) -> Tensor:
    inner = x.square().mul_(0.044715).add_(1).mul_(x).mul_(math.sqrt(2 / math.pi))
    return inner.tanh_().add_(1).mul_(0.5)


def of_quick_gelu(x: Tensor) -> Tensor:
    return torch.sigmoid(1.702 * x)


def of_relu(x: Tensor) -> Tensor:
    return (x > 0).to(x.dtype)


# Functions that modules may compute, and their slopes.
KNOWN: tuple[tuple[Function, Function], ...] = (
    (F.silu, of_silu), (F.gelu, of_gelu), (F.relu, of_relu), (lambda x: F.gelu(x, approximate="tanh"), of_tanh_gelu),
    (lambda x: x * torch.sigmoid(1.702 * x), of_quick_gelu))


def slope_of(function: Function) -> Function:
    """f(x) / x of any function with f(0) = 0; at 0 the mean of the slopes on both sides."""
    def slope(x: Tensor) -> Tensor:
        with torch.no_grad():
            near = torch.tensor([1e-3, -1e-3], dtype=x.dtype, device=x.device)
            at_zero = (function(near) / near).mean()
            zero = x == 0
            return torch.where(zero, at_zero, function(x) / torch.where(zero, torch.ones_like(x), x))

    return slope

"""One pass in the changed network of relevance: which steps are as the rules say, and which constants were added."""
from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import Any, Callable, Iterable, Iterator

import torch
from torch import Tensor

from .attended import Parts
from .backward import Function, Normed, Scaled, Secant

FROM = "_headwater_activation_of"
step_number: Callable[[], int] = getattr(torch.autograd, "_get_sequence_nr")  # of the next step of autograd's graph


def tensors(values: Iterable[object]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (one for one in value if isinstance(one, Tensor))


def is_stream(value: object) -> bool:
    """Whether a value depends on the rows of the tokens."""
    return isinstance(value, Tensor) and value.requires_grad and not isinstance(value, torch.nn.Parameter)


def without_parameters(value: Any) -> Any:
    if isinstance(value, torch.nn.Parameter):
        return value.detach()
    if type(value) in (list, tuple):
        return type(value)(map(without_parameters, value))
    return value


def detached(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach() if value.requires_grad and value.is_floating_point() else value
    if type(value) in (list, tuple):
        return type(value)(map(detached, value))
    return value


class Local(threading.local):
    """The state of one thread."""

    def __init__(self) -> None:
        self.on = False
        self.quiet = 0  # above 0: torch's functions run as they are
        self.layer: int | None = None  # the number of the layer that runs


class Network:
    """What is known about one pass: the rule, the steps that were changed, and the constants that were added."""

    def __init__(self, rule: str, length: int, parts: Parts | None = None):
        self.frozen = rule == "frozen"
        self.plain = rule == "integrated"  # nothing is changed; only the rows are looked for
        self.parts = parts
        self.layers = 0  # how many were called
        self.length = length
        self.known: list[tuple[int, int]] = []  # numbers of steps that are as the rules say
        self.constants: list[Tensor] = []
        self.softmaxes: list[int] = []  # numbers of steps: softmaxes that are no attention's, taken as constants
        self.recording = True  # false once the graph is there: a checkpoint then computes parts of it again
        self.searching = True  # until the first layer begins
        self.roots: dict[int, tuple[Tensor, Tensor]] = {}  # by the id of a tensor: itself, and the rows it is made of
        self.local = Local()
        self.leaves: list[Tensor] = []  # candidates for the rows
        self.instead: tuple[int, Tensor] | None = None  # the number of a leaf, and other values for it

    # -- steps that are left alone

    @property
    def quiet(self) -> int:
        return self.local.quiet

    @contextmanager
    def paused(self) -> Iterator[None]:
        self.local.quiet += 1
        try:
            yield
        finally:
            self.local.quiet -= 1

    @contextmanager
    def as_it_is(self) -> Iterator[None]:
        """Steps whose own derivative is the rule."""
        before = step_number()
        with self.paused():
            yield
        if self.recording:
            self.known.append((before, step_number()))

    @contextmanager
    def in_layer(self, number: int) -> Iterator[None]:
        before, self.local.layer = self.local.layer, number
        try:
            yield
        finally:
            self.local.layer = before

    # -- parts that the rules know

    def constant(self, value: Tensor) -> Tensor:
        """A constant that is added, as a leaf."""
        leaf = value.detach().clone().requires_grad_()
        if self.recording:
            self.constants.append(leaf)
        return leaf

    def scaled(self, x: Tensor, factor: float) -> Tensor:
        found: Tensor = Scaled.apply(x, factor)
        return found

    def halved(self, product: Callable[[], Any]) -> Any:
        """A product both of whose sides get half of their gradient."""
        with self.as_it_is():
            out = product()
        out.register_hook(lambda grad: grad * 0.5)
        return out

    def normed(self, x: Tensor, bias: Tensor | None, function: Callable[[], Tensor], weight: Tensor | None, size: Tensor,
               axes: tuple[int, ...], centred: bool) -> Tensor:
        y: Tensor = Normed.apply(x, bias, function, weight, size, axes, centred)
        return y

    def secant(self, x: Tensor, function: Function, slope: Function) -> Tensor:
        y: Tensor = Secant.apply(x, function, slope)
        setattr(y, FROM, (x, slope))  # for a gate
        return y

    def rooted(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """Before the first layer: the input of a norm or a linear map, as rows that relevance can be read from."""
        if not self.searching or not x.is_floating_point() or x.ndim < 2 or x.shape[-2] != self.length or \
                x.numel() != self.length * x.shape[-1]:
            return x, None
        if id(x) in self.roots:
            return x, self.roots[id(x)][1]
        if x.requires_grad:
            return x, None
        leaf = self.leaf(x)
        return leaf, leaf

    def leaf(self, x: Tensor) -> Tensor:
        """Rows to take gradients of, or the rows that replace them."""
        if self.instead is not None and self.instead[0] == len(self.leaves):
            x = self.instead[1]
        leaf = x.detach().requires_grad_()
        self.leaves.append(leaf)
        return leaf

    def follow(self, y: Tensor, root: Tensor | None) -> Tensor:
        if root is not None:
            self.roots[id(y)] = y, root
        return y

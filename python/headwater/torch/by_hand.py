"""Attention that a model computes by steps of its own, where no other door sees it: a softmax that is multiplied with tokens,
torch's attention under a name of the model's own, an operator that others wrote.

A watch sees each function of torch that a pass calls. It follows softmaxes until a product shares tokens out by them.
"""
from __future__ import annotations

import functools
import re
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, TypeVar

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from .mixing import BESIDE

if TYPE_CHECKING:
    from .passes import Frame, Pass, Thread

SOFTMAX = {"softmax", "_softmax", "special_softmax"}
EXPONENTIAL = {"exp", "exp_"}  # a softmax begins with it, and decays are made by it
DIVISIONS = {"div", "div_", "__truediv__", "__itruediv__", "true_divide", "divide"}
PRODUCTS = {"matmul", "__matmul__", "mm", "bmm", "baddbmm", "addmm", "addbmm", "linear"}
OPERATOR = re.compile("attention|attn|fmha", re.IGNORECASE)  # names of operators that compute attention

Made = TypeVar("Made", bound=Callable[..., Any])


class Inside(threading.local):
    """Above 0: what runs in this thread is headwater's, or recorded already."""

    depth = 0
    watches = 0  # how many watches see this thread's functions


inside = Inside()


def unwatched(function: Made) -> Made:
    """A function whose steps are headwater's own."""
    @functools.wraps(function)
    def call(*args: Any, **words: Any) -> Any:
        inside.depth += 1
        try:
            return function(*args, **words)
        finally:
            inside.depth -= 1

    return call  # type: ignore[return-value]


@dataclass
class ByHand:
    """A call of a module in which attention was seen that cannot be recorded."""

    name: str
    kind: str
    path: list[int]  # the numbers of the calls around it, and its own
    after: int  # how many attention calls the pass had made


class Watch(TorchFunctionMode):
    """Looks for attention in the functions of torch that a pass calls."""

    def __init__(self, one: Pass, thread: Thread, known: set[Any], sort: Any,
                 attention: Callable[..., Tensor] | None):
        super().__init__()
        self._one, self._thread, self._known, self._sort = one, thread, known, sort
        self._attention = attention  # records what torch's attention is given, and calls it
        # Softmaxes and what was made of them, by id; and whether they are softmaxes beyond doubt.
        self._shares: dict[int, tuple[weakref.ref[Tensor], bool]] = {}
        self._found = False

    def begin(self) -> None:
        torch._C._push_on_torch_function_stack(self)
        inside.watches += 1

    def end(self, failed: bool) -> None:
        """Takes the watch off. A pass in which nothing was found is not watched again."""
        above: list[Any] = []
        top: Any = None
        while torch._C._len_torch_function_stack() and (top := torch._C._pop_torch_function_stack()) is not self:
            above.append(top)
            top = None
        inside.watches -= top is self
        for other in reversed(above):
            torch._C._push_on_torch_function_stack(other)
        if not failed and not self._found:
            self._known.add(self._sort)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        words = kwargs or {}
        name = getattr(func, "__name__", "").partition(".")[0]
        if name == "__get__" and not self._shares or inside.depth or self._thread.deaf:
            return func(*args, **words)
        if name == "scaled_dot_product_attention":
            self._found = True
            if self._attention is not None:
                return self._attention(*args, **words)
            self._note()
        out = func(*args, **words)
        if name in SOFTMAX or name in EXPONENTIAL:
            self._follow(out, name in SOFTMAX)
        elif name == "multi_head_attention_forward":
            if words.get("need_weights", True):  # otherwise it calls torch's attention
                self._note()
        elif OPERATOR.search(name) and str(getattr(func, "__module__", "")).startswith("torch._ops"):
            self._note()
        elif self._shares:
            self._step(name, args, words, out)
        return out

    def _step(self, name: str, args: Any, words: Mapping[str, Any], out: Any) -> None:
        """Follows what a function made of softmaxes."""
        for value in tensors([*args, *words.values()]):
            share, sure = self._shares.get(id(value), (None, False))
            if share is None or share() is not value:
                continue
            if name in PRODUCTS or name == "einsum":
                if shares_out(name, args, words, value, self._lengths()):
                    self._note(sure)
            elif isinstance(out, Tensor) and value.numel() >= out.numel() > value.numel() // 2:
                self._follow(out, sure or name in DIVISIONS and value is args[0])

    def _follow(self, out: Any, sure: bool) -> None:
        if isinstance(out, Tensor) and out.ndim > 1:
            number = id(out)
            self._shares[number] = weakref.ref(out, lambda _: self._shares.pop(number, None)), sure

    def _lengths(self) -> set[int]:
        """What may be the number of tokens of the modules that are running."""
        found: set[int] = set()
        for frame in self._frames():
            shape = frame.shape() or ()
            found.update(shape[:-1] if len(shape) > 2 else shape)
        return found

    def _frames(self) -> Iterator[Frame]:
        return self._thread.frame.out() if self._thread.frame is not None else iter(())

    def _note(self, sure: bool = True) -> None:
        frames = list(self._frames())
        if not frames or not sure and any(BESIDE.search(type(frame.module).__name__) for frame in frames):
            return  # a note says that these mix tokens
        self._found = True
        if not any(one.path[-1] == frames[0].number for one in self._one.by_hand):
            path = [frame.number for frame in reversed(frames)]
            self._one.by_hand.append(ByHand(frames[0].name, type(frames[0].module).__name__, path,
                                            len(self._one.entries)))


def tensors(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tensors(value)


def is_parameter(value: Tensor) -> bool:
    return isinstance(value, torch.nn.Parameter) or isinstance(getattr(value, "_base", None), torch.nn.Parameter)


def shares_out(name: str, args: Any, words: Mapping[str, Any], share: Tensor, lengths: set[int]) -> bool:
    """Whether a product gives several rows of a softmax a share each of the same tokens. A router's has one row for each
    token's experts.
    """
    given = list(tensors([*args, *words.values()]))
    if name == "einsum":
        sizes = sizes_of_einsum(args, share)
    else:
        left, right = given[-2:] if name != "linear" else given[:2]
        own = left is share
        sizes = None if min(left.ndim, right.ndim) < 2 else \
            (share.shape[-2 if own else -1], share.shape[-1 if own or name == "linear" else -2])
    if sizes is None or any(is_parameter(one) for one in given if one is not share):
        return False
    rows, keys = sizes
    return rows > 1 and keys > 1 and (rows == keys or keys in lengths)


def sizes_of_einsum(args: Any, share: Tensor) -> tuple[int, int] | None:
    """Of a softmax in torch.einsum: the size of its axis that no other operand has, and of the one that is summed over."""
    if not args or not isinstance(args[0], str) or "->" not in args[0]:
        return None
    left, right = args[0].replace(" ", "").replace("...", "").split("->")
    parts, operands = left.split(","), list(tensors(args[1:]))
    place = next((k for k, one in enumerate(operands) if one is share), None)
    if place is None or len(parts) != len(operands):
        return None
    own, others = parts[place], "".join(part for k, part in enumerate(parts) if k != place)
    sizes = dict(zip(reversed(own), reversed(share.shape)))  # from the end: '...' comes first
    rows = [sizes[one] for one in own if one in right and one not in others]
    keys = [sizes[one] for one in own if one not in right and one in others]
    return (max(rows), max(keys)) if rows and keys else None


def drop_recorded(one: Pass) -> None:
    """Leaves out the steps of modules that returned their attention, or whose name already says what they are."""
    known = {entry.frame for entry in one.entries if entry.record is None or entry.way == "eager"}
    one.by_hand = [found for found in one.by_hand if known.isdisjoint(found.path)]


def listed_by_hand(found: Iterable[ByHand]) -> str:
    """The modules, for a person."""
    names = sorted({f"{one.name} ({one.kind})" for one in found})
    return ", ".join(names[:6]) + (" and more" if len(names) > 6 else "")

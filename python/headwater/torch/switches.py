"""What captures change in a process and in a model while they are open, and how it is put back.

Captures of several threads may overlap, on one model too. So a change is made by the first that needs it and undone by
the last, and whatever stands in asks for the captures that are open now.
"""
from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, ContextManager

import torch

from ..errors import Error

if TYPE_CHECKING:
    from .recording import Recording

lock = threading.RLock()
open_captures: list[Recording] = []  # the latest last
ABSENT = object()


@dataclass
class Change:
    owner: Any
    name: str
    before: Any  # ABSENT: only the class of the owner had it
    count: int = 1

    def undo(self) -> None:
        if self.before is ABSENT:
            self.owner.__dict__.pop(self.name, None)
        else:
            setattr(self.owner, self.name, self.before)


changes: dict[tuple[int, str], Change] = {}


def replace(capture: Recording, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Sets owner.name to make(what it was) until the last capture that asked for it closes."""
    with lock:
        key = id(owner), name
        if (capture, key) in capture._changed:
            return
        capture._changed.append((capture, key))
        if key in changes:
            changes[key].count += 1
            return
        if isinstance(owner, torch.nn.Module):  # its class has the method: what is set on the module itself goes again
            before = owner.__dict__.get(name, ABSENT)
        else:
            before = getattr(owner, name)
        changes[key] = Change(owner, name, before)
        setattr(owner, name, make(getattr(owner, name, None)))


def is_replaced(owner: object, name: str) -> bool:
    return (id(owner), name) in changes


def restore(capture: Recording) -> None:
    """Undoes what a capture replaced."""
    with lock:
        while capture._changed:
            _, key = capture._changed.pop()
            change = changes[key]
            change.count -= 1
            if not change.count:
                del changes[key]
                change.undo()


def sharing(module: torch.nn.Module) -> list[Recording]:
    """The open captures of models that hold a module."""
    return [capture for capture in open_captures if module in capture._names]


# -- torch.compile

stance: list[ContextManager[None]] = []  # what ends the stance that is set, if one is
stance_users: set[int] = set()


def run_uncompiled(capture: Recording, needed: bool) -> None:
    """Lets compiled code run as it is written: a compiled graph calls no hooks. `needed`: the model is compiled."""
    if "torch._dynamo" not in sys.modules:
        return  # nothing is compiled yet
    set_stance = getattr(torch.compiler, "set_stance", None)
    if set_stance is None:
        if needed:
            raise Error("capture: the model is compiled, which needs torch 2.6 or newer; capture and call the model "
                        "itself instead")
        return
    with lock:
        if not stance_users:
            stance.append(set_stance("force_eager"))
        stance_users.add(id(capture))


def run_compiled(capture: Recording) -> None:
    with lock:
        if id(capture) in stance_users:
            stance_users.remove(id(capture))
            if not stance_users:
                stance.pop().__exit__(None, None, None)

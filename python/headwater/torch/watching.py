"""Which passes are watched for attention that nothing else sees (by_hand.py). Watching takes Python's time, so a pass is not
watched if one like it was, and nothing was found.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from . import interface, patch
from .by_hand import Watch
from .passes import Call, Pass

if TYPE_CHECKING:
    from .recording import Recording

quiet: WeakKeyDictionary[torch.nn.Module, set[Any]] = WeakKeyDictionary()  # by model: passes in which nothing was found


def watching(seen: Recording) -> Callable[[Pass, Call], Watch | None]:
    """What begins to watch a pass of a capture, if it is to be watched."""
    code = hash(tuple((type(module), id(module.__dict__.get("forward"))) for module in seen._names))

    def watch(one: Pass, call: Call) -> Watch | None:
        way = interface.implementation(seen.model)
        if seen._keep_what == "nothing" or way == "flex_attention":  # which torch compiles, and a watch would be compiled too
            return None
        known = quiet.setdefault(seen.model, set())
        sort = code, way, seen.model.training, sort_of(call.root, call.args, call.words)
        if sort in known:
            return None
        found = Watch(one, seen._frames.thread, known, sort, patch.attention if seen in patch.users else None)
        found.begin()
        return found

    return watch


def end_all(passes: Iterable[Pass]) -> None:
    """Takes off what watches passes that were interrupted."""
    for one in passes:
        if one.watch is not None:
            one.watch.end(True)


def sort_of(root: str, args: tuple[Any, ...], words: Mapping[str, Any]) -> Any:
    """What passes have in common that run the same code: which arguments they were given, and how long about."""
    given = [*enumerate(args), *sorted(words.items())]
    return root, tuple((name, tuple(size.bit_length() for size in value.shape) if isinstance(value, Tensor) else
                        value if isinstance(value, (bool, str)) else type(value)) for name, value in given if value is not None)

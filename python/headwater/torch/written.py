"""Whether a tensor that is kept without a copy was written to since: models may use the memory of queries and keys again."""
from __future__ import annotations

from typing import Hashable, Iterable, TypeAlias

import torch
from torch import Tensor

State: TypeAlias = Tensor | int | None


def state_of(tensor: Tensor | None) -> State:
    """What shows a write later: torch's counter, or in inference mode, where there is none, some of the numbers."""
    if tensor is None or not tensor.numel():
        return None
    return last_of(tensor).clone() if tensor.is_inference() else tensor._version


def is_as_it_was(tensor: Tensor | None, state: State) -> bool:
    if tensor is None or state is None:
        return True
    if not isinstance(state, Tensor):
        return bool(tensor._version == state)
    now = last_of(tensor)
    return bool(((now == state) | (now != now) & (state != state)).all())


def are_as_they_were(pairs: Iterable[tuple[Tensor | None, State]]) -> bool:
    """is_as_it_was for many tensors and states: a GPU is asked once for all of a size, as every answer is waited for."""
    alike: dict[Hashable, list[tuple[Tensor, Tensor]]] = {}
    for tensor, state in pairs:
        if tensor is not None and isinstance(state, Tensor):
            alike.setdefault((state.shape, state.dtype, state.device), []).append((last_of(tensor), state))
        elif not is_as_it_was(tensor, state):
            return False
    for group in alike.values():
        now, before = (torch.stack(side) for side in zip(*group))
        if not bool(((now == before) | (now != now) & (before != before)).all()):
            return False
    return True


def last_of(tensor: Tensor) -> Tensor:
    """The last row of the first matrix."""
    return tensor[(0,) * (tensor.ndim - 2) + (-1,)]

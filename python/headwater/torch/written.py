"""Whether a tensor that is kept without a copy was written to since: models may use the memory of queries and keys again."""
from __future__ import annotations

from typing import Any

from torch import Tensor


def state_of(tensor: Tensor | None) -> Any:
    """What shows a write later: torch's counter, or in inference mode, where there is none, some of the numbers."""
    if tensor is None or not tensor.numel():
        return None
    return last_of(tensor).clone() if tensor.is_inference() else tensor._version


def is_as_it_was(tensor: Tensor | None, state: Any) -> bool:
    if tensor is None or state is None:
        return True
    if not isinstance(state, Tensor):
        return bool(tensor._version == state)
    now = last_of(tensor)
    return bool(((now == state) | (now != now) & (state != state)).all())


def last_of(tensor: Tensor) -> Tensor:
    """The last row of the first matrix."""
    return tensor[(0,) * (tensor.ndim - 2) + (-1,)]

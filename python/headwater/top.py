"""The largest of some values."""
from __future__ import annotations

from typing import Sequence

import numpy as np

from . import _engine
from .arrays import NumPyArray


def largest(values: NumPyArray, names: Sequence[str], k: int, filter: str = "") -> list[tuple[str, float]]:
    """The k largest values with their names, by the engine's order: equal values keep theirs."""
    values = np.ascontiguousarray(values)
    places = _engine.top(values, k, filter, names if filter else [])
    return [(names[j], float(values[j])) for j in places]

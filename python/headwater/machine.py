"""How much of the machine the engine uses."""
from __future__ import annotations

import operator

from . import _engine
from .errors import Error


def threads() -> int:
    """How many threads the engine uses."""
    return _engine.threads()


def set_threads(count: int) -> None:
    """Sets how many threads the engine uses; results do not depend on it. Raises headwater.Error."""
    try:
        number = operator.index(count)
    except TypeError:
        number = 0
    if not 1 <= number <= 1024:
        raise Error(f"set_threads: was given {count!r}, expected 1 to 1024")
    _engine.set_threads(number)

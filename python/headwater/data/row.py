"""The attribution of one text."""
from __future__ import annotations

import dataclasses
from typing import Sequence

import numpy as np

from .. import _engine
from ..arrays import NumPyArray


@dataclasses.dataclass
class Answer:
    """What a row of the result says. With an `error`, nothing else."""

    length: int | None = None
    positions: list[int] | None = None
    token_ids: list[int] | None = None
    tokens: list[str] | None = None
    starts: list[int] | None = None
    ends: list[int] | None = None
    row: int | None = None
    target: str | None = None
    probability: float | None = None
    values: NumPyArray | None = None
    error: str | None = None


def answer_of(ids: Sequence[int], tokens: Sequence[str], places: Sequence[tuple[int, int]], values: NumPyArray, *,
              row: int | None, target: str | None, probability: float | None, top: int | None) -> Answer:
    """The answer with all tokens, or with the `top` whose values are largest without their signs, largest first."""
    starts, ends = map(list, zip(*places, strict=True)) if places else ([], [])
    answer = Answer(len(tokens), None, list(ids), list(tokens), starts, ends, row, target, probability, values)
    if top is None:
        return answer
    at = _engine.top(np.ascontiguousarray(np.abs(values)), top, "", [])
    answer.positions, answer.values = at, values[at]
    answer.token_ids, answer.tokens = [ids[j] for j in at], [tokens[j] for j in at]
    answer.starts, answer.ends = [starts[j] for j in at], [ends[j] for j in at]
    return answer


def not_a_text(value: object) -> str | None:
    """What is wrong with a value that should be a text; None if it is one."""
    if value is None or isinstance(value, float) and value != value:
        return "is missing, expected a text; give one"
    if not isinstance(value, str):
        return f"is not text (its type is {type(value).__name__}); convert the column first"
    if not is_unicode(value):
        return "is not Unicode text (it holds half of a surrogate pair); repair it first"
    return None


def is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

"""Results as print() shows them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

import numpy as np

from . import _engine
from .arrays import NumPyArray, to_numpy

if TYPE_CHECKING:
    from .result import Attribution

STRONGEST = 5  # tokens of a row
MOST_ROWS = 20  # generated tokens, or panels


class Printed:
    """A result whose print() shows a line about it, the strongest tokens, and the notes."""

    notes: list[str]

    def __str__(self) -> str:
        rows = rows_of(self)
        more = [f"  ... and {len(rows) - MOST_ROWS} more"] if len(rows) > MOST_ROWS else []
        return "\n".join([repr(self), *rows[:MOST_ROWS], *more, *(f"  note: {note}" for note in self.notes)])


def rows_of(result: Printed) -> list[str]:
    """A line for each row that is shown; none for a batch."""
    from .generated import Generation
    from .result import Attribution, Comparison
    if isinstance(result, Attribution) and not result.batch:
        shown = _engine.labels([output_of(result)])[0]
        return [f"  {'of' if result.relevance is None else 'for'} '{shown}': {strongest_of(result)}"]
    if isinstance(result, Comparison):
        return [f"  {panel.label}: {strongest_of(panel)}" for panel in result.panels]
    if isinstance(result, Generation):
        values = to_numpy(result.values)
        return [f"  '{label}': {strongest(values[s], result._inputs())}"
                for s, label in enumerate(_engine.labels(result._rows()))]
    return []


def output_of(result: Attribution) -> str:
    """What the values of the shown row are about."""
    if result.relevance is not None:
        return str(result.relevance["target"]["name"])
    return "mean" if list(result.rows) == ["mean"] else result.tokens[result.rows[result.shown_row()]]


def strongest_of(result: Attribution) -> str:
    """The strongest tokens of the shown row."""
    tokens = [result.tokens[j] for j in result.columns] if result.columns else result.tokens
    return strongest(result.row(result.shown_row()), tokens)


def strongest(values: NumPyArray, tokens: Sequence[str]) -> str:
    """The tokens with the largest values, by size: "keys 0.3039, to 0.1505"."""
    row = np.ascontiguousarray(values)
    names = _engine.labels(list(tokens))
    return ", ".join(f"{names[j]} {float(row[j]):.4g}" for j in _engine.top(np.abs(row), STRONGEST))

"""A result as print() shows it."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _engine

if TYPE_CHECKING:
    from .result import Attribution

STRONGEST = 5  # tokens


def printed(result: Attribution) -> str:
    """The result in a line, the strongest tokens of the row that is shown, and the notes; of a batch, no tokens."""
    notes = [f"  note: {note}" for note in result.notes]
    if result.batch:
        return "\n".join([repr(result), *notes])
    row = result.shown_row()
    told = result.relevance
    shown = told["target"]["name"] if told is not None else \
        "mean" if list(result.rows) == ["mean"] else result.tokens[result.rows[row]]
    names = _engine.labels([result.tokens[j] for j in result.columns] if result.columns else result.tokens)
    values = np.ascontiguousarray(result.row(row))
    strongest = ", ".join(f"{names[j]} {float(values[j]):.4g}" for j in _engine.top(np.abs(values), STRONGEST))
    return "\n".join([repr(result), f"  {'of' if told is None else 'for'} '{_engine.labels([shown])[0]}': {strongest}",
                      *notes])

"""Rows of a result by the words of its text."""
from __future__ import annotations

from typing import Sequence, cast

from .arguments import make_options
from .errors import Error
from .kinds import Row


def rows_within(row: Row, rows: Sequence[int | str], tokens: Sequence[str], name: str) -> list[int]:
    """Which of a result's rows a word, or several words and numbers of rows, are."""
    wanted: list[int] = []
    each: Sequence[int | str] = row if isinstance(row, (list, tuple, range)) else [cast(int | str, row)]
    for one in each:
        if not isinstance(one, str):
            wanted.append(one)
            continue
        found = make_options(row=one).rows(tokens, name)
        for place in [found] if isinstance(found, str) else found:
            if place not in rows:
                raise Error(f"{name}: the result has no row '{one}', expected one of those that were asked for; ask the "
                            f"method with row={one!r}")
            wanted.append(list(rows).index(place))
    return wanted

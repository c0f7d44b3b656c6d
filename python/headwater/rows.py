"""Rows by the words of a text: 'keys' is its first token of that name, 'keys#2' the second, as the command has it."""
from __future__ import annotations

import difflib
import re
from typing import Any, Sequence

from . import _engine
from .arguments import make_options, row_words
from .errors import Error

NAMES = ("all", "cls", "last", "mask", "mean")


def is_word(row: Any) -> bool:
    """Whether a row is a word of a text: neither a number nor a name of rows, nor several of these."""
    return isinstance(row, str) and row != "" and \
        any(one not in NAMES and not re.fullmatch(r"[-+]?\d+", one) for one in row.split(","))


def has_words(row: Any) -> bool:
    """Whether a row, or one of several, is a word of a text."""
    return is_word(row) or isinstance(row, (list, tuple)) and any(map(is_word, row))


def find_row(row: str, tokens: Sequence[str], name: str) -> int:
    """The number of the token that a word names."""
    word, mark, number = row.rpartition("#")
    if not mark or not word or not number.isdigit() or int(number) < 1:
        word, number = row, "1"
    labels = _engine.labels(tokens)
    places = [k for k, token in enumerate(tokens) if word in (token, labels[k], labels[k].strip())]
    if len(places) >= int(number):
        return places[int(number) - 1]
    if places:
        raise Error(f"{name}: has '{word}' {len(places)} time{'s' if len(places) > 1 else ''}, expected at least "
                    f"{number} for `row` {row}; choose a smaller number")
    near = difflib.get_close_matches(word, [*dict.fromkeys(labels), *NAMES], 1, 0.6)
    raise Error(f"{name}: has no token '{word}', expected one of its {len(tokens)} tokens, a number, cls, last, mask, mean "
                f"or all for `row`; {f'did you mean {near[0]!r}' if near else 'see its tokens'}")


def with_numbers(row: Any, tokens: Sequence[str], name: str) -> Any:
    """A row, or several, with numbers in place of words."""
    if isinstance(row, (list, tuple)):
        return [find_row(one, tokens, name) if is_word(one) else one for one in row]
    return find_row(row, tokens, name) if is_word(row) else row


def rows_within(row: Any, rows: Sequence[int | str], tokens: Sequence[str], name: str) -> list[int]:
    """Which of a result's rows a word, or several words and numbers of rows, are."""
    wanted: list[int] = []
    for one in row if isinstance(row, (list, tuple, range)) else [row]:
        if not isinstance(one, str):
            wanted.append(one)
            continue
        found = make_options(row=row_words(with_numbers(one, tokens, name))).rows(tokens, name)
        for place in [found] if isinstance(found, str) else found:
            if place not in rows:
                raise Error(f"{name}: the result has no row '{one}', expected one of those that were asked for; ask the "
                            f"method with row={one!r}")
            wanted.append(list(rows).index(place))
    return wanted

"""The words of the options: the same in Python, in C++ and on the command line."""
from __future__ import annotations

from typing import Any

from ._engine import Error, Options

WORDS = ("preset", "fuse", "residual", "discard", "order", "empty", "divide", "layers", "row", "head")


def layers_text(layers: Any) -> str:
    """'j:i' of a text, a slice, a range, a pair of numbers or a single layer."""
    if isinstance(layers, str):
        return layers
    if isinstance(layers, slice):
        if layers.step not in (None, 1):
            raise Error(f"layers {layers}: has a step, expected j:i; leave the step out")
        return f"{'' if layers.start is None else layers.start}:{'' if layers.stop is None else layers.stop}"
    if isinstance(layers, range):
        if layers.step != 1:
            raise Error(f"layers {layers}: has a step, expected j:i; leave the step out")
        return f"{layers.start}:{layers.stop}"
    if isinstance(layers, (tuple, list)) and len(layers) == 2:
        return f"{int(layers[0])}:{int(layers[1])}"
    raise Error(f"layers {layers!r}: expected 'j:i', slice(j, i), range(j, i) or (j, i); see docs/python.md")


def make_options(*, head: int | None = None, **words: Any) -> Options:
    """Options of keywords; those that are None are as the preset has them."""
    given = {word: value for word, value in words.items() if value is not None}
    if head is not None:
        if "fuse" in given:
            raise Error("head: was given beside fuse, expected one of them; leave one out")
        given["fuse"] = f"head:{int(head)}"
    if "layers" in given:
        given["layers"] = layers_text(given["layers"])
    if "row" in given:
        given["row"] = str(given["row"])
    for word in ("residual", "discard"):
        if word in given:
            given[word] = number(word, given[word])
    return Options(**given)


def number(word: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise Error(f"{word} {value}: expected a number from 0 up to but not including 1; for example 0.5") from None


def split(words: dict[str, Any]) -> tuple[Options, dict[str, Any]]:
    """The options among keywords, and the keywords that are none."""
    options = {word: words[word] for word in WORDS if word in words}
    return make_options(**options), {word: value for word, value in words.items() if word not in options}


def one_row(words: dict[str, Any]) -> bool:
    """Whether the keywords ask for a single row, whose axis a result drops."""
    row = words.get("row")
    return row is not None and str(row) not in ("all", "mask")

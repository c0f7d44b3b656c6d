"""The request for a data set, checked before the first text runs."""
from __future__ import annotations

import dataclasses
import difflib
import operator
import re
from typing import Any, Mapping, Sequence

from .. import _engine
from ..arguments import NOT_OF_RAW, OPTIONS, make_options, refuse
from ..errors import Error

class BadUsage(Error):
    """Words of a command that do not fit: exit status 2."""


METHODS = ("rollout", "flow", "average", "raw", "gradient", "relevance")
OF_OUTPUTS = ("gradient", "relevance")  # methods that ask about an output of the model
RULES = {"gradient": ("gradient", "gradient-rollout", "chefer"), "relevance": ("frozen", "attnlrp", "integrated")}


@dataclasses.dataclass(frozen=True)
class Settings:
    """The method, its words, and which values are kept."""

    method: str
    row: str | None
    target: str
    against: str
    rule: str
    layer: int
    top: int | None
    truncate: bool
    options: tuple[tuple[str, Any], ...]  # those that were given

    @property
    def asks_output(self) -> bool:
        return self.method in OF_OUTPUTS

    def engine_options(self, row: str | None) -> _engine.Options:
        """The engine's options, with the row of output tokens."""
        words: dict[str, Any] = dict(self.options)
        return make_options(**words, row=row)

    def record(self) -> dict[str, Any]:
        """The settings in a block's metadata, from which its name is made."""
        found: dict[str, Any] = dict(method=self.method, row=self.row, top=self.top, truncate=self.truncate)
        if self.asks_output:
            found |= dict(target=self.target, against=self.against, rule=self.rule)
        if self.method == "raw":
            found["layer"] = self.layer
        if self.method != "relevance":
            found |= self.engine_options(None).words() | dict(layers=dict(self.options).get("layers"))
        return found


def nearest(word: str, known: Sequence[str]) -> str:
    """'; did you mean ...?', or the known words."""
    found = difflib.get_close_matches(word, known, 1)
    return f"; did you mean '{found[0]}'?" if found else f"; there are {', '.join(known)}"


def is_count(value: Any) -> bool:
    """Whether it is a whole number, 1 or more."""
    try:
        return operator.index(value) >= 1
    except TypeError:
        return False


def make_settings(method: str, row: int | str | None, target: str | int, against: str | int, rule: str | None,
                  layer: int, top: int | None, truncate: bool, words: Mapping[str, Any]) -> Settings:
    """The settings. Raises headwater.Error for a word that the method cannot use."""
    if method not in METHODS:
        raise Error(f"unknown method '{method}'{nearest(method, METHODS)}")
    given = {word: value for word, value in words.items() if value is not None}
    assert set(given) <= set(OPTIONS)
    if method in RULES:
        rule = RULES[method][0] if rule is None else rule
        if rule not in RULES[method]:
            raise Error(f"unknown rule '{rule}'{nearest(rule, RULES[method])}")
    else:
        for word, value, usual in (("rule", rule, None), ("target", str(target), "best"), ("against", str(against), "")):
            if value != usual:
                raise Error(f"`{word}` {value}: was given with method {method}, which does not look at an output; leave it "
                            "out, or take method relevance or gradient")
    if method == "relevance" and given:
        raise Error(f"`{next(iter(given))}`: was given with method relevance, which prepares no attention; leave it out")
    if method == "raw":
        refuse(given, "method raw", NOT_OF_RAW)
    if layer != -1 and method != "raw":
        raise Error(f"`layer` {layer}: is for method raw; leave it out")
    if str(row) == "all":
        raise Error("`row` all: gives a matrix for each text, expected one output token; give a number, cls, last, mask "
                    "or mean")
    if isinstance(row, (list, tuple)) or re.fullmatch(r"-?[0-9]+(\s*,\s*-?[0-9]+)+", str(row)):
        raise Error(f"`row` {row}: several rows were given, expected one; run once for each")
    if top is not None and not is_count(top):
        raise Error(f"`top` {top}: expected a whole number, 1 or more; leave it out for all values")
    layers = given.get("layers")
    if layers is not None and not isinstance(layers, str):
        from ..arguments import layers_text
        given["layers"] = layers_text(layers)
    made = Settings(method, None if row is None else str(row), str(target), str(against), rule or "", layer,
                    None if top is None else operator.index(top), truncate, tuple(sorted(given.items())))
    made.engine_options(made.row)  # raises for an option that is wrong
    return made

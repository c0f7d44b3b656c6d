"""The keywords of the methods: the same words in Python, in C++ and on the command line."""
from __future__ import annotations

import difflib
import functools
import inspect
import os
from typing import Any, Callable, Mapping, Sequence, TypeAlias, TypedDict, TypeVar, Unpack, cast

from ._engine import Options
from .errors import Error
from .kinds import AnyPath, Ids, Images, Mask, Offsets, Row, Texts, Tokens
from .values import checked_values, plain_row, whole

Layers: TypeAlias = str | slice | range | Sequence[int]


class OptionWords(TypedDict, total=False):
    """The options that every method takes. A word that is missing or None takes the preset's value."""

    preset: str | None
    fuse: str | None
    head: int | None
    residual: float | None
    discard: float | None
    order: str | None
    empty: str | None
    divide: str | None
    layers: Layers | None
    row: Row | None


class AskedWords(TypedDict, total=False):
    """Which part of a capture a question is about, and how to read it."""

    tokens: Tokens | None
    attention_mask: Mask | None
    nan: str
    stack: str | None
    call: int | None
    missing: str
    repeated: str


class InputWords(AskedWords, total=False):
    """How a source is opened and read: the keywords of `headwater.open` except text."""

    axes: str
    sums: str
    text_pair: str | None
    ids: Ids | None
    image: Images | None
    against_text: str | None
    against_image: AnyPath | None
    truncate: bool
    ignore_code: bool
    name: str | None


class SourceWords(InputWords, total=False):
    """The keywords of `headwater.open`."""

    text: Texts | None
    prompt: Texts | None


class RunWords(OptionWords, InputWords, total=False):
    """What `headwater.run` takes besides its own keywords."""

    item: int | None


class ModelWords(SourceWords, total=False):
    """What relevance takes besides its own keywords: nothing is fused or prepared for it."""

    item: int | None


class Words(OptionWords, SourceWords, total=False):
    """What a method takes besides its own keywords."""

    item: int | None


class CaptureWords(OptionWords, AskedWords, total=False):
    """What the methods of a capture take besides their own keywords."""

    item: int | None


class WritingWords(OptionWords, total=False):
    """What generate_all takes besides texts."""

    count: int
    temperature: float
    top_k: int
    top_p: float
    seed: int
    stop: str | int | Sequence[str | int]
    ignore_end: bool
    position: str
    method: str
    rule: str | None
    span: Layers | None
    score: str
    ignore_code: bool


OPTIONS = tuple(OptionWords.__annotations__)
READING = ("item", "tokens", "attention_mask", "sums")  # what torch/device.py knows besides the options
ASKED = tuple(AskedWords.__annotations__)  # and what it knows of captures
OF_CAPTURES = ("stack", "call", "missing", "repeated")
PREPARING = ("preset", "residual", "discard", "order", "empty", "divide")
# Options that a method does not use, and what to do instead.
NOT_OF_RAW = {**dict.fromkeys(PREPARING, "raw attention is unchanged; leave it out"),
              "layers": "raw attention is of one layer; choose it with `layer`"}
NOT_OF_METRICS = {"row": "metrics are over all rows; leave it out"}
NOT_BY_HEAD = {**dict.fromkeys(PREPARING, "raw attention is unchanged; leave it out"),
               **dict.fromkeys(("fuse", "head"), "every head is shown; leave it out")}
DEFAULTS: Mapping[str, Any] = dict(axes="", sums="checked", nan="error", truncate=False, ignore_code=False,
                                   missing="error", repeated="error", count=20, temperature=0.0, top_k=0, top_p=1.0,
                                   seed=0, stop=(), ignore_end=False, position="predicting", method="rollout",
                                   score="logit")
Function = TypeVar("Function", bound=Callable[..., Any])

ABOUT = """
    Options: preset ('paper', 'tutorial', 'vit-explain', 'metrics'), fuse ('mean', 'max', 'min', 'head:K') or
    head=K, residual in [0, 1), discard in [0, 1), order ('residual-first', 'discard-first'), empty ('identity',
    'zero'), divide ('always', 'changed'), layers ('j:i', slice or range), row (a number, 'cls', 'last', 'mask',
    'mean', 'all', or a list of numbers). tokens, attention_mask, item and the remaining keywords are those of
    `headwater.open`. Raises headwater.Error.
"""


class Annotation(str):
    """An annotation that help() shows without the quotes of a string."""

    def __repr__(self) -> str:
        return str(self)


def unquoted(annotation: object) -> object:
    return Annotation(annotation) if isinstance(annotation, str) else annotation


def words_of(signature: inspect.Signature) -> str:
    """The name of the keywords behind **words: Unpack[...]; nothing if there are none."""
    last = next((one for one in signature.parameters.values() if one.kind is one.VAR_KEYWORD), None)
    return "" if last is None else str(last.annotation).removeprefix("Unpack[").removesuffix("]")


def spelled_out(function: Function) -> Function:
    """Shows the keywords behind **words: Unpack[...] one by one in help(), and describes the options."""
    signature = inspect.signature(function)
    shown = []
    for parameter in signature.parameters.values():
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            shown.append(parameter.replace(annotation=unquoted(parameter.annotation)))
            continue
        words = function.__globals__[words_of(signature)]
        for word, kind in words.__annotations__.items():
            if word not in signature.parameters:
                shown.append(inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS.get(word),
                                               annotation=unquoted(getattr(kind, "__forward_arg__", kind))))
    if "headwater.Error" not in (function.__doc__ or ""):
        function.__doc__ = (function.__doc__ or "").rstrip() + "\n" + ABOUT
    # A capture refuses these itself, and says why; what run() is given goes to the method.
    refused = SourceWords.__annotations__ if words_of(signature) == "CaptureWords" else ()
    passes_on = words_of(signature) == "RunWords"
    known = [one.name for one in shown if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)]

    @functools.wraps(function)
    def checked(*args: Any, **words: Any) -> Any:
        for word in words:
            if word not in known and word not in refused and not passes_on:
                near = difflib.get_close_matches(word, known, 1, 0.6)
                meant = f", did you mean '{near[0]}'" if near else ""
                there = ", ".join(one for one in known if one != "self")
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{word}'{meant}; there are "
                                f"{there}")
        return function(*args, **checked_values(words))

    gives = unquoted(signature.return_annotation)
    setattr(checked, "__signature__", signature.replace(parameters=shown, return_annotation=gives))
    return cast(Function, checked)


def layers_text(layers: Layers) -> str:
    """'j:i' for a text, a slice, a range or a pair of numbers."""
    if isinstance(layers, str):
        return layers
    if isinstance(layers, (slice, range)):
        if layers.step not in (None, 1):
            raise Error(f"`layers` {layers}: has a step, expected j:i; leave the step out")
        return f"{'' if layers.start is None else layers.start}:{'' if layers.stop is None else layers.stop}"
    if isinstance(layers, (tuple, list)) and len(layers) == 2:
        return f"{whole('layers', layers[0])}:{whole('layers', layers[1])}"
    raise Error(f"`layers` {layers!r}: expected 'j:i', slice(j, i), range(j, i) or (j, i); see docs/python.md")


def make_options(**words: Unpack[OptionWords]) -> Options:
    """The engine's options. A word that is None has the value of the preset."""
    given: dict[str, Any] = {word: value for word, value in words.items() if value is not None}
    head = given.pop("head", None)
    if head is not None:
        if "fuse" in given:
            raise Error("`head`: was given beside fuse, expected one of them; leave one out")
        given["fuse"] = f"head:{whole('head', head)}"
    if "layers" in given:
        given["layers"] = layers_text(given["layers"])
    if "row" in given:
        given["row"] = row_words(given["row"])
    for word in ("residual", "discard"):
        if word in given:
            given[word] = number(word, given[word])
    return Options(**given)


def row_words(row: Row | None) -> str | list[str]:
    """A row as the engine reads it; several as a list."""
    row = plain_row(row)
    return [str(one) for one in row] if isinstance(row, (list, tuple, range)) else str(row)


def number(word: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise Error(f"`{word}` {value}: expected a number from 0 up to but not including 1; for example 0.5") from None


def split(words: Mapping[str, Any], known: Sequence[str] = ()) -> tuple[Options, dict[str, Any]]:
    """The options among `words`, and the other words. Raises TypeError for a word that is neither option nor known."""
    for word in words:
        if word not in OPTIONS and word not in known:
            raise TypeError(f"got an unexpected keyword argument '{word}'; there are {', '.join([*OPTIONS, *known])}")
    chosen: dict[str, Any] = {word: words[word] for word in OPTIONS if word in words}
    return make_options(**chosen), {word: value for word, value in words.items() if word not in chosen}


def one_row(words: Mapping[str, Any]) -> bool:
    """Whether the keywords ask for a single row, so that the result has no axis for rows."""
    row = words.get("row")
    text = row_words(row)
    return row is not None and isinstance(text, str) and "," not in text and text not in ("all", "mask")


def refuse(words: Mapping[str, Any], what: str, refused: Mapping[str, str]) -> None:
    """Raises Error for options that a method cannot take; `refused` says what to do instead."""
    for word, instead in refused.items():
        if words.get(word) is not None:
            raise Error(f"`{word}` {words[word]}: is not an option of {what}; {instead}")


def offset_pairs(offsets: Any) -> list[tuple[int, int]] | None:
    """A tokenizer's offset_mapping, of any library."""
    try:
        return None if offsets is None else [(int(begin), int(end)) for begin, end in offsets]
    except (TypeError, ValueError):
        raise Error(f"`offsets` {offsets!r}: expected a pair (begin, end) for each token, the tokenizer's "
                    "offset_mapping") from None

"""Checks of keyword values, the same for every function: a sentence for a value of the wrong kind."""
from __future__ import annotations

import operator
import os
from typing import Any, Iterable, Mapping

import numpy as np

from .errors import Error
from .kinds import Images, Row
from .protocols import Listed

FLAGS = ("by_layer", "every_layer", "normalise", "certify", "cut", "truncate", "ignore_code", "heads", "faithfulness",
         "ignore_end")
WHOLE = ("head", "layer", "column", "item", "limit", "count", "top_k", "edges", "steps", "seed", "call")
TEXTS = ("preset", "fuse", "order", "empty", "divide", "rule", "axes", "sums", "nan", "stack", "missing", "repeated", "by",
         "method", "filter")


def checked_values(words: Mapping[str, object]) -> dict[str, Any]:
    """The keywords, with plain numbers and truth values. Raises Error for a value of the wrong kind."""
    return {word: checked_value(word, value) for word, value in words.items()}


def checked_value(word: str, value: object) -> object:
    if value is None:
        return None
    if word in FLAGS:
        if not isinstance(value, (bool, np.bool_)):
            raise Error(f"`{word}` {value!r}: expected True or False")
        return bool(value)
    if word in WHOLE:
        return whole(word, value)
    if word in TEXTS and not isinstance(value, str):
        raise Error(f"`{word}` {value!r}: expected a word, as a string; see docs/python.md")
    return value


def whole(word: str, value: Any) -> int:
    """A whole number of any library; neither a truth value nor a fraction."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError("a truth value")
        return operator.index(value)
    except (TypeError, ValueError):
        raise Error(f"`{word}` {value!r}: expected a whole number") from None


def plain_row(row: Row | None) -> Row | None:
    """A row, or several, as Python's own numbers, where an array or a tensor holds them."""
    found: Row | None = row.tolist() if isinstance(row, Listed) else row
    return found


def target_text(word: str, target: object) -> str:
    """A target as the engine reads it: a name, or the number of a class or token."""
    if isinstance(target, str):
        return target
    try:
        return str(whole(word, target))
    except Error:
        raise Error(f"`{word}` {target!r}: expected 'best', or a class or word by its name or number; functions are for "
                    "captures") from None


def path_of(what: str, path: object) -> str:
    """The name or folder of a model."""
    if not isinstance(path, (str, os.PathLike)):
        raise Error(f"{what}: was given a {type(path).__name__}, expected a model directory, or the name of a model")
    return os.fspath(path)


def text_list(word: str, texts: object) -> list[str]:
    """One or several texts."""
    if texts is None:
        return []
    found = []
    for one in [texts] if isinstance(texts, str) or not isinstance(texts, Iterable) else list(texts):
        if not isinstance(one, str):
            raise Error(f"`{word}` {texts!r}: expected a string, or a list of strings")
        found.append(readable(word, one))
    return found


def readable(word: str, text: str) -> str:
    """The text itself, if it holds characters only."""
    try:
        text.encode()
    except UnicodeEncodeError as wrong:
        raise Error(f"`{word}`: holds half of a surrogate pair (U+{ord(text[wrong.start]):04X}) at {wrong.start}, which no "
                    "encoding has; write it with text.encode('utf-8', 'replace').decode()") from None
    return text


def id_list(ids: Any) -> list[int]:
    """The ids of one text: a list, an array or a tensor, also with an axis for a batch of one."""
    try:
        array = np.asarray(ids.tolist() if isinstance(ids, Listed) else list(ids))
    except (TypeError, ValueError):
        array = np.empty((0, 0))
    array = array[0] if array.ndim == 2 and len(array) == 1 else array
    if array.ndim != 1 or array.size and array.dtype.kind not in "iu":
        shape = getattr(ids, "shape", None)
        found = f"is {ids!r}" if shape is None else f"has shape {list(shape)}"
        raise Error(f"`ids`: {found}, expected the numbers of one text's tokens, [n]")
    return [int(one) for one in array]


def image_paths(images: Images | None) -> list[str]:
    """One or several files of images."""
    paths = []
    for one in images if isinstance(images, (list, tuple)) else [] if images is None else [images]:
        if not isinstance(one, (str, os.PathLike)):
            raise Error(f"`image`: is of type {type(one).__name__}, expected the path of a PNG or JPEG file; save the picture "
                        "first")
        paths.append(os.fspath(one))
    return paths

"""The outputs of a model by name: classes by its config, words by its tokenizer, as the engine looks them up."""
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import torch

from ..errors import Error

if TYPE_CHECKING:
    from .recording import Recording


def config_of(model: torch.nn.Module) -> Any:
    """The config of a model, or of the only model with one that it wraps; None if there is none, or several."""
    own = getattr(model, "config", None)
    if own is not None:
        return own
    found: list[Any] = []

    def look(module: torch.nn.Module) -> None:
        for child in module.children():
            if getattr(child, "config", None) is not None:
                found.append(child.config)
            else:
                look(child)

    look(model)
    return found[0] if len(found) == 1 else None


def labels_of(seen: Recording, count: int, rows: bool) -> dict[int, str]:
    """The names of `count` classes. `rows`: every token has logits, which are words unless there are as many classes."""
    config = config_of(seen.model)
    labels = {int(number): str(label) for number, label in (getattr(config, "id2label", None) or {}).items()}
    if not rows:
        return labels
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    return labels if len(labels) == count != getattr(text, "vocab_size", None) else {}


def name_of(seen: Recording, number: int, count: int, rows: bool) -> str:
    """The name of an output, or its number."""
    labels = labels_of(seen, count, rows)
    name = labels.get(number)
    if rows and not labels and seen._tokenizer is not None:
        name = seen._tokenizer.convert_ids_to_tokens([number])[0]
    return str(number if name is None else name)


def number_of(seen: Recording, wanted: object, count: int, rows: bool, what: str = "target") -> int:
    """The number of an output by its number or name. Raises if there is none, or if it is no output of `count`."""
    if isinstance(wanted, str) and not wanted.lstrip("-").isdigit():
        number = named(seen, wanted, count, rows, what)
    else:
        try:
            number = int(wanted) if isinstance(wanted, str) else whole(wanted)
        except (TypeError, ValueError):
            raise Error(f"`{what}` {wanted!r}: expected 'best', a class or word by number or name, or a function of "
                        "the model's output") from None
    if not 0 <= number < count:
        raise Error(f"there is no `{what}` {wanted}, expected 0 to {count - 1}; choose another")
    return number


def whole(value: Any) -> int:
    """A whole number of any library; neither a truth value nor a fraction."""
    if isinstance(value, bool):
        raise TypeError("a truth value")
    return operator.index(value)


def named(seen: Recording, name: str, count: int, rows: bool, what: str) -> int:
    labels = labels_of(seen, count, rows)
    if rows and not labels:
        return word_number(seen, name, what)
    found = [number for number, label in labels.items() if label == name]
    if len(found) == 1:
        return found[0]
    if found:
        raise Error(f"`{what}` '{name}': is the name of {len(found)} classes, {', '.join(map(str, found))}, expected one; "
                    "give its number")
    there = ", ".join(list(labels.values())[:12]) or "none"
    raise Error(f"`{what}` '{name}': is not a class of the model's config; there are {there}, and 'best'")


def word_number(seen: Recording, name: str, what: str) -> int:
    """The id of a word: as spelt inside a text, at its start, then as the vocabulary spells it."""
    tokenizer: Any = seen._tokenizer
    word = name.removeprefix("token:")
    if tokenizer is None:
        raise Error(f"`{what}` '{name}': the capture has no tokenizer to look it up; give the number of the token, or "
                    "capture with tokenizer=...")
    special, pieces = set(getattr(tokenizer, "all_special_ids", ())), []
    for written in (" " + word, word) if callable(getattr(tokenizer, "encode", None)) else ():
        ids = tokenizer.encode(written, add_special_tokens=False)
        pieces = tokenizer.convert_ids_to_tokens(list(ids))
        # A special token here stands for unknown words, unless it was asked for by name.
        if len(ids) == 1 and (ids[0] not in special or pieces[0] == word):
            return int(ids[0])
    find = getattr(tokenizer, "convert_tokens_to_ids", None)
    number = find(word) if find is not None else None
    if number is not None and (number != getattr(tokenizer, "unk_token_id", None) or
                               word == getattr(tokenizer, "unk_token", None)):
        return int(number)
    split = f", which splits it into {', '.join(map(repr, pieces))}" if pieces else ""
    raise Error(f"`{what}` '{name}': is not a single token of the capture's tokenizer{split}; give one of its tokens, or "
                "the number of a token")

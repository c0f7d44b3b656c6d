"""Which output of a model is explained: a logit, the difference of two, or what a function makes of the output."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor

from ..arguments import make_options, row_words
from ..errors import Error
from ..kinds import Score, Target
from . import output_names
from .answer import Answer

if TYPE_CHECKING:
    from .recording import Recording

Logit: TypeAlias = tuple[str, int, int, float]  # name, number, row, value


@dataclass
class Chosen:
    y: Tensor
    target: Logit
    against: Logit | None
    notes: list[str] = field(default_factory=list)


def check_row(output: object, target: Target, row: int | str | None) -> None:
    """Raises for a row that would have no effect."""
    if row is None:
        return
    if callable(target):
        raise Error(f"`row` {row}: was given beside a function as `target`, which chooses its own; leave it out")
    logits = getattr(output, "logits", output)
    if isinstance(logits, Tensor) and logits.ndim == 2 or hasattr(output, "start_logits"):
        raise Error(f"`row` {row}: was given, but the model has one output for each item; leave it out")


def row_of(seen: Recording, asked: Answer, item: int, row: int | str | None, last: bool) -> int | None:
    """The token whose logits are meant, among all positions of an item; None if nothing says it.

    `last`: without a word, it is the last one.
    """
    tokens, keep = asked.tokens[item], asked.real[item]
    if row is None and not last:
        found = masks(seen, asked, item)
        if len(found) != 1:
            return None
        return found[0]
    places = make_options(row="last" if row is None else row_words(row)).rows(tokens, asked.name)
    if isinstance(places, str) or len(places) != 1:
        what = "the mean" if isinstance(places, str) else f"{len(places)} tokens"
        raise Error(f"`row` {row}: is {what}, expected one output token; give its number")
    return places[0] if keep is None else int(keep[places[0]])


def masks(seen: Recording, asked: Answer, item: int) -> list[int]:
    """Where the text has the mask of its tokenizer."""
    mask = getattr(seen._tokenizer, "mask_token_id", None)
    ids = next((one["input_ids"] for entry in asked.run.entries for one in entry.told if "input_ids" in one), None)
    if mask is None or not isinstance(ids, Tensor) or ids.ndim != 2:
        return []
    return [int(place) for place in (ids[item] == mask).nonzero()[:, 0]]


def choose(seen: Recording, output: Any, target: Target, against: str | int | None, row: int | None, kept: list[int] | None,
           length: int) -> Chosen:
    """`row` is the token whose logits are meant, `kept` the tokens that the model gives logits for, if not all."""
    if callable(target):
        return by_function(target, against, output)
    for name in ("start", "end"):
        if getattr(output, f"{name}_logits", None) is not None:
            return of_answers(output, target, against)
    logits = getattr(output, "logits", output)
    if not isinstance(logits, Tensor) or logits.ndim not in (2, 3) or len(logits) != 1:
        raise Error("relevance: the model returns no logits, expected [1, classes] or [1, n, words]; give `target` a "
                    "function of its output")
    if logits.ndim == 3:
        if row is None:
            raise Error("relevance: the model has logits for every token, expected one to be chosen; choose it with "
                        "`row`")
        places = list(range(logits.shape[1])) if kept is None else kept
        if logits.shape[1] not in (length, len(places)) or row not in places:
            raise Error(f"relevance: the model returns logits of {logits.shape[1]} positions for {length} tokens, "
                        "expected as many; give `target` a function of its output")
        line = logits[0, places.index(row)]
    elif logits.shape[1] == length and length != getattr(output_names.config_of(seen.model), "num_labels", length):
        raise Error("relevance: the model has one output for every token; give `target` a function of its output")
    else:
        line, row = logits[0], 0 if row is None else row
    words = logits.ndim == 3
    number = number_of(seen, target, line, None, words, "target")
    other = None if against is None or against == "" else number_of(seen, against, line, number, words, "against")
    y = line[number] - line[other] if other is not None else line[number]
    return Chosen(y, logit(seen, line, number, row, words),
                  None if other is None else logit(seen, line, other, row, words))


def by_function(target: Score, against: str | int | None, output: Any) -> Chosen:
    if against not in (None, ""):
        raise Error("`against`: was given beside a function as `target`; subtract it there")
    y = torch.as_tensor(target(output))
    if y.numel() != 1 or not y.requires_grad:
        raise Error(f"`target`: the function returned shape {list(y.shape)}, expected one number that depends on the "
                    "model's output, which holds one item")
    y = y.reshape(())
    return Chosen(y, (getattr(target, "__name__", "function"), -1, -1, float(y.detach())), None)


def of_answers(output: object, target: Target, against: str | int | None) -> Chosen:
    """start:K or end:K; start and end are the best of theirs, and so is best of the starts."""
    def find(word: Target) -> tuple[Tensor, Logit]:
        side, _, place = str("start" if word == "best" else word).partition(":")
        logits = getattr(output, f"{side}_logits", None) if side in ("start", "end") else None
        if logits is None or place and not place.isdigit() or place and int(place) >= logits.shape[1]:
            raise Error(f"`target` {word!r}: expected start, end, start:K or end:K with K below the number of tokens")
        at = int(place) if place else int(logits[0].argmax())
        return logits[0, at], (f"{side}:{at}", int(side == "end"), at, float(logits[0, at].detach()))

    y, first = find(target)
    if against in (None, ""):
        return Chosen(y, first, None)
    other, second = find(against)
    if second[0] == first[0]:
        raise Error(f"`against` {against!r}: is the target itself, expected another output; choose another")
    return Chosen(y - other, first, second)


def number_of(seen: Recording, wanted: Target, line: Tensor, taken: int | None, words: bool, what: str) -> int:
    """The number of a class or word; 'best' is the largest logit, or the largest beside the one that is taken."""
    if isinstance(wanted, str) and wanted == "best":
        order = line.detach().argsort(descending=True)[:2].tolist()
        return int(next((one for one in order if one != taken), order[0]))
    number = output_names.number_of(seen, wanted, len(line), words, what)
    if number == taken:
        raise Error(f"`{what}` {wanted!r}: is the target itself, expected another output; choose another")
    return number


def logit(seen: Recording, line: Tensor, number: int, row: int, words: bool) -> Logit:
    return output_names.name_of(seen, number, len(line), words), number, row, float(line[number].detach())

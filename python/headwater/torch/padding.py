"""Which positions of a batch are real, and what its tokens are."""
from __future__ import annotations

from functools import lru_cache
from typing import Sequence

import torch
from torch import Tensor

from ..errors import Error
from ..kinds import Given, Mask, Tokens
from ..protocols import Tokenizer
from ..source import token_lists
from .passes import INVERTED, MASKS
from .blocks import Positions
from .record import Record


def mask_of(given: Mask, items: int, length: int, device: torch.device) -> Tensor:
    """A mask that the user gave, as [B, n], true where a position is real."""
    mask = torch.as_tensor(given, device=device)
    mask = mask[None] if mask.ndim == 1 else mask
    if mask.ndim != 2 or mask.shape[1] != length or mask.shape[0] not in (1, items):
        raise Error(f"attention_mask: has shape {list(mask.shape)}, expected [{items}, {length}], one number for each "
                    "position; give the mask of the same input")
    return (mask != 0).expand(items, length)


def told_mask(told: Sequence[Given], items: int, length: int, device: torch.device) -> Tensor | None:
    """The innermost mask [B, n] that the model was given, true where a position is real."""
    for one in told:
        for name, value in one.items():
            if name not in MASKS and name not in INVERTED or not isinstance(value, Tensor) or value.ndim != 2:
                continue
            if value.shape[1] != length or value.shape[0] not in (1, items):
                continue
            value = value.to(device)
            if name in INVERTED:
                real = ~value if value.dtype == torch.bool else value == 0
            else:
                real = value > 0 if value.is_floating_point() and bool((value < 0).any()) else value != 0
            return real.expand(items, length)
    return None


def masked_keys(record: Record) -> Tensor | None:
    """[B, K], true where no query sees a key; None if the record's mask cannot tell."""
    if record.mask is None or record.mask.ndim != 4 or record.mask.shape[-1] != record.keys:
        return None
    mask = record.mask[:, 0]
    unseen = ~mask if mask.dtype == torch.bool else mask < -1e4
    return unseen.all(1).expand(record.batch, -1)


def attends_to(record: Record, real: Tensor) -> bool:
    """Whether real positions attend to padding, so that the mask was not used."""
    if record.weights is not None:
        if record.weights.shape[-1] != real.shape[1]:
            return False
        outside = record.weights * (real[:, :, None] & ~real[:, None, :])
        return bool(torch.nan_to_num(outside).max() > 1e-6)
    if record.mask is None or record.mask.ndim != 4 or record.mask.shape[-1] != real.shape[1]:
        # A causal row sees no padding that comes after it.
        first_pad = (~real).float().argmax(1)
        after = bool(((~real).sum(1) == real.shape[1] - first_pad).logical_or(real.all(1)).all())
        return record.mask is None and not (record.causal and after)
    mask = record.mask
    seen = mask if mask.dtype == torch.bool else mask >= -1e4
    return bool((seen & real[:, None, :, None] & ~real[:, None, None, :]).any())


def is_causal(record: Record, item: int, real: Positions) -> bool:
    """Whether no real position of an item sees a later one. Where there is a mask, it says so."""
    if record.mask is None or record.mask.ndim != 4:
        return record.causal
    mask = record.mask[item if record.mask.shape[0] > 1 else 0, 0]
    seen = (mask if mask.dtype == torch.bool else mask >= -1e4).expand(record.queries, record.keys)
    seen = seen if real is None else seen[real][:, real]
    return seen.shape[0] == seen.shape[1] and not bool(seen.triu(1).any())


def real_positions(record: Record, told: Sequence[Given], given: Mask | None) -> tuple[list[Positions], list[str]]:
    """The real positions of each item of a record of self attention, and what to note.

    `given` is the user's mask, and is trusted. What the model was told is trusted if its attention followed it. Else
    attention's own mask says it: a key that no query sees is padding.
    """
    items, length, device = record.batch, record.queries, record.device
    notes: list[str] = []
    if given is not None:
        mask: Tensor | None = mask_of(given, items, length, device)
    else:
        mask = told_mask(told, items, length, device)
        if mask is not None and not bool(mask.all()) and attends_to(record, mask):
            notes.append("the model was given an attention_mask and attends to what it hides: nothing was cropped")
            mask = None
        elif mask is None and (unseen := masked_keys(record)) is not None:
            mask = ~unseen
    if mask is None:
        return [None] * items, notes
    there = mask.cpu()  # once, as each look at a GPU's memory waits for it
    return [None if bool(row.all()) else row.nonzero()[:, 0].to(device) for row in there], notes


def lengths(real: list[Positions], length: int) -> list[int]:
    return [length if one is None else len(one) for one in real]


def ids_of(told: Sequence[Given], items: int, length: int) -> Tensor | None:
    """The innermost input_ids [B, n] that the model was given."""
    for one in told:
        ids = one.get("input_ids")
        if isinstance(ids, Tensor) and ids.ndim == 2 and tuple(ids.shape) == (items, length):
            return ids
    return None


def names_of(ids: Tensor | None, tokenizer: Tokenizer | None, real: list[Positions]) -> list[list[str]] | None:
    """The tokens of the ids that the model saw; None without ids or a tokenizer."""
    if tokenizer is None or ids is None:
        return None
    rows = [row if keep is None else row[keep.to(row.device)] for row, keep in zip(ids, real)]
    return [[str(token) for token in tokenizer.convert_ids_to_tokens(row.tolist())] for row in rows]


@lru_cache(maxsize=8)
def numbers(length: int) -> tuple[str, ...]:
    """0 ... length - 1 as tokens. A short text's layers take less time than writing them."""
    return tuple(map(str, range(length)))


def words_of(tokens: Tokens | None, real: list[Positions], length: int,
             named: list[list[str]] | None) -> list[list[str]]:
    """The tokens of each item: those that were given, those of the tokenizer, or numbers."""
    sizes = lengths(real, length)
    lists = token_lists(tokens)
    if not lists:
        return named or [list(numbers(length)[:size]) for size in sizes]
    if len(lists) not in (1, len(real)):
        raise Error(f"capture: {len(lists)} lists of tokens were given, expected {len(real)}, one for each item; give "
                    "one list, or one for each")
    out = []
    for item, size in enumerate(sizes):
        words = lists[item if len(lists) > 1 else 0]
        keep = real[item]
        if len(words) == length and keep is not None:
            words = [words[j] for j in keep.tolist()]
        if len(words) != size:
            raise Error(f"capture: {len(words)} tokens were given, expected {size}, one for each position of item "
                        f"{item}; give those of the same input")
        out.append(words)
    return out

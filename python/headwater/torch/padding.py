"""Which positions of a batch are real, and what its tokens are."""
from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor

from ..protocols import Tokenizer

Positions = Tensor | None  # the numbers of the real positions of an item; None: all are real
NAMES = ("attention_mask", "decoder_attention_mask", "input_ids", "decoder_input_ids", "src_key_padding_mask",
         "output_attentions")


def arguments_of(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a model that say what its tokens are and which are padding."""
    found = {name: kwargs[name] for name in NAMES if kwargs.get(name) is not None}
    if args:
        try:
            bound = inspect.signature(module.forward).bind_partial(*args).arguments
        except (TypeError, ValueError):
            return found
        found |= {name: bound[name] for name in NAMES if bound.get(name) is not None}
    return found


def real_positions(mask: Any, items: int, length: int, device: torch.device) -> list[Positions]:
    """The real positions of each item."""
    if mask is None:
        return [None] * items
    mask = torch.as_tensor(mask, device=device)
    if mask.ndim == 1:
        mask = mask[None]
    if mask.ndim != 2 or mask.shape[-1] < length or mask.shape[0] not in (1, items):
        return [None] * items
    mask = mask[:, -length:] != 0
    out: list[Positions] = []
    for item in range(items):
        row = mask[item if mask.shape[0] > 1 else 0]
        out.append(None if bool(row.all()) else row.nonzero()[:, 0])
    return out


def lengths(real: list[Positions], length: int) -> list[int]:
    return [length if one is None else len(one) for one in real]


def names_of(ids: Tensor | None, tokenizer: Tokenizer | None, real: list[Positions],
             length: int) -> list[list[str]] | None:
    """The tokens of the ids that the model saw; None without ids or a tokenizer."""
    if tokenizer is None or ids is None or ids.ndim != 2 or ids.shape[1] != length:
        return None
    lists = []
    for row, keep in zip(ids, real):
        row = row if keep is None else row[keep]
        lists.append([str(token) for token in tokenizer.convert_ids_to_tokens(row.tolist())])
    return lists

"""Pieces of words put together again: columns of one word are added, rows of one word averaged."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _engine
from .arguments import make_options
from .arrays import NumPyArray, to_numpy
from .errors import Error

if TYPE_CHECKING:
    from .result import Attribution

BEGINS = ("\u0120", "\u2581", " ")  # how pieces that begin a word begin: byte-level BPE, SentencePiece, plain


def groups_of(tokens: Sequence[str], offsets: Sequence[Sequence[int]] | None) -> list[list[int]]:
    """The positions of each word. Offsets say it: a piece that begins where the one before ended goes on with it."""
    if offsets is not None and len(offsets) != len(tokens):
        raise Error(f"`offsets`: has {len(offsets)} pairs for {len(tokens)} tokens, expected as many; give the "
                    "offset_mapping of the same text, without padding")
    marked = any(token.startswith(BEGINS[:2]) for token in tokens)
    out: list[list[int]] = []
    for j, token in enumerate(tokens):
        if offsets is not None:
            begin, end = offsets[j]
            before = offsets[j - 1] if j else (0, 0)
            goes_on = bool(j and end > begin and before[1] > before[0] and begin == before[1])
        elif marked:
            goes_on = bool(out) and not token.startswith(BEGINS) and not token.startswith("<") and \
                not tokens[j - 1].startswith("<")
        else:
            goes_on = bool(out) and token.startswith("##")
        if goes_on:
            out[-1].append(j)
        else:
            out.append([j])
    return out


def name_of(tokens: Sequence[str], group: list[int]) -> str:
    pieces = [tokens[j] for j in group]
    pieces = [pieces[0], *[piece.removeprefix("##") for piece in pieces[1:]]]
    return "".join(pieces).lstrip("".join(BEGINS))


def merged(result: Attribution, offsets: Any) -> Attribution:
    """The result by words."""
    from .result import Attribution
    if result.batch:
        raise Error(f"{result.source}: holds a batch, expected one item; take .item(k) first")
    if result.columns or list(result.rows) == ["mean"] or result.method == "flow":
        raise Error("words: need all columns of rows of a rollout, an average, raw attention or a gradient; ask "
                    "without column and mean")
    groups = groups_of(result.tokens, None if offsets is None else [tuple(map(int, pair)) for pair in offsets])
    values = to_numpy(result.values)
    whole = values.ndim == 2 + bool(result.by_layer) and list(result.rows) == list(range(len(result.tokens)))
    out = np.stack([values[..., group].sum(-1) for group in groups], -1)
    word = {j: k for k, group in enumerate(groups) for j in group}
    rows = [word[row] for row in result.rows]
    if whole:
        out, rows = np.stack([out[..., group, :].mean(-2) for group in groups], -2), list(range(len(groups)))
    options = {name: value for name, value in result.options.items() if name not in ("layers", "position")}
    results = _engine.Results()
    names = [name_of(result.tokens, group) for group in groups]
    results.add(result.method, make_options(**options), names, rows, result.by_layer, [1], [
        *result.notes, f"{len(result.tokens)} tokens merged to {len(names)} words"], result.source, 0, 1, len(names))
    flat: NumPyArray = np.ascontiguousarray(out.reshape(len(result.by_layer) or 1, -1, len(names)), dtype=np.float32)
    results.fill(0, flat)
    return Attribution(results, result._kind, one_row=values.ndim < 2 + bool(result.by_layer))

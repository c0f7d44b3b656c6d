"""Steps of generate(): which positions of a text each step computed, and the rows of the text put together from them."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Sequence, TypeAlias

import numpy as np

from .arrays import Array, NumPyArray, to_numpy
from .errors import Error

Map: TypeAlias = Callable[[str], NumPyArray]  # the fused map of a layer, by the word of the fusion


@dataclass
class Step:
    """One step of generate(): how many positions are new, the map of each layer, [new, positions], and the first of the
    new positions.

    A step may begin before the end of the step before: without a cache each step reads the whole text again, and
    guesses that turned out wrong are read again.
    """

    new: int
    layers: list[Map]
    begin: int


def rows_of_text(begins: Sequence[int], news: Sequence[int]) -> list[tuple[int, int]]:
    """The step, and the row in it, that each position of the text comes from: the last that computed it."""
    rows: list[tuple[int, int]] = []
    for step, (begin, new) in enumerate(zip(begins, news)):
        if begin > len(rows):
            raise Error(f"generate: step {step} begins at position {begin}, expected {len(rows)} or less; capture the "
                        "whole of generate()")
        rows[begin:] = [(step, row) for row in range(new)]
    return rows


def whole_rows(steps: Sequence[NumPyArray], begins: Sequence[int], chosen: Sequence[tuple[int, int]],
               square: bool) -> NumPyArray:
    """The rows of a text, [t, t] if `square` (keys are positions of the text), else [t, keys]."""
    width = len(chosen) if square else max(step.shape[1] for step in steps)
    out = np.zeros((len(chosen), width), dtype=np.float32)
    for place, (step, row) in enumerate(chosen):
        keys = steps[step][row]
        if not square:
            out[place, :len(keys)] = keys
            continue
        end = begins[step] + len(steps[step])
        first = max(0, end - len(keys))  # a sliding window drops positions that it no longer sees
        keys = keys[:min(end, width) - first]
        out[place, first:first + len(keys)] = keys
    return out


def begins_of(steps: Sequence[Sequence[Array]]) -> list[int]:
    """The first position of each step of an output, by the shapes of its attention, [B, H, new, keys]."""
    new, keys = steps[0][0].shape[-2:]
    fixed = keys > new
    if fixed and float(to_numpy(steps[0][0][..., new:]).max()) > 0:
        raise Error(f"generate: its first step has {new} rows over {keys} positions, expected the whole prompt, as "
                    "without prefill_chunk_size; capture generate() instead")
    begins, end = [], 0
    for step in steps:
        new, keys = step[0].shape[-2:]
        longest = max(layer.shape[-1] for layer in step)
        if longest == new and new >= end:
            begin = 0  # the whole text is read again
        else:  # fewer keys than positions: a window dropped what it no longer sees
            begin = end if fixed or longest < end + new else longest - new
        if begin > end:
            raise Error(f"generate: a step begins at position {begin}, expected {end} or less; give all steps of one "
                        "generate()")
        begins.append(begin)
        end = begin + new
    return begins


def finite(rows: NumPyArray, layer: int, what: str = "generate") -> NumPyArray:
    """The rows. Raises, in the name of `what`, if a number is negative or not finite."""
    if not (np.isfinite(rows).all() and (rows >= 0).all()):
        raise Error(f"{what}: layer {layer} holds a number that is negative or not finite, expected probabilities; the "
                    "model computed it: check its weights and precision")
    return rows


def pieces(chosen: Sequence[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """Ranges of positions whose rows follow one another in one step; the end of the prompt ends one too."""
    out: list[tuple[int, int]] = []
    for place, (step, row) in enumerate(chosen):
        if out and place != length and chosen[place - 1] == (step, row - 1):
            out[-1] = out[-1][0], place + 1
        else:
            out.append((place, place + 1))
    return out


def placed(rows: NumPyArray, step: Step) -> NumPyArray:
    """The rows of a step with one column for each position."""
    gone = step.begin + step.new - rows.shape[1]  # a sliding window drops positions that it no longer sees
    return np.pad(rows, [(0, 0), (gone, 0)]) if gone > 0 else rows

"""Counts, sums and sums of squares that merge exactly, in any order.

A value counts as the nearest multiple of 2^-40, and so does its square. Sums of these are whole numbers, which have no
rounding: parts of a data set can be added in any order, and give the same numbers as the whole.
"""
from __future__ import annotations

import math
from typing import Any, Hashable, Iterator, Mapping, Sequence

import numpy as np

from .student import quantile

BITS = 40
LARGEST = 2.0 ** 22  # of what is added with 64 bits; larger numbers take a slower way
Floats = np.ndarray[Any, np.dtype[np.float64]]
Places = np.ndarray[Any, np.dtype[np.int64]]


class Moments:
    """Of the values of one key: how many, their mean and its interval."""

    __slots__ = ("count", "total", "squares")

    def __init__(self, count: int = 0, total: int = 0, squares: int = 0):
        self.count, self.total, self.squares = count, total, squares  # the sums in units of 2^-40

    def add(self, other: Moments) -> None:
        self.count += other.count
        self.total += other.total
        self.squares += other.squares

    @property
    def mean(self) -> float:
        return self.total / self.count / 2 ** BITS if self.count else math.nan

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        if self.count < 2:
            return math.nan
        # In whole numbers up to here, so that nothing cancels.
        spread = self.squares * self.count * 2 ** BITS - self.total ** 2
        return math.sqrt(max(0, spread) / (self.count - 1) / self.count) / math.sqrt(self.count) / 2.0 ** BITS

    @property
    def interval(self) -> tuple[float, float]:
        """In which the mean lies, with 95 %, by Student's t; not a number for one value, which says nothing of it."""
        reach = quantile(self.count - 1) * self.error if self.count > 1 else math.nan
        return self.mean - reach, self.mean + reach

    def difference(self, other: Moments) -> tuple[float, float, float]:
        """How much larger the mean of `other` is, the standard error, and the reach of its interval (Welch's)."""
        a, b = self.error ** 2, other.error ** 2
        error = math.sqrt(a + b)
        freedom = (a + b) ** 2 / (a * a / (self.count - 1) + b * b / (other.count - 1)) if error > 0 else 0.0
        return other.mean - self.mean, error, quantile(freedom) * error if error > 0 else 0.0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Moments) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[int]:
        return iter((self.count, self.total, self.squares))


def whole(values: Floats) -> list[Any] | Places:
    """The values in units of 2^-40, rounded; as Python's numbers if 64 bits might not hold them."""
    scaled = values * 2.0 ** BITS
    if not len(values) or float(np.abs(values).max()) < LARGEST:
        return np.rint(scaled).astype(np.int64)
    return [int(value) for value in np.rint(scaled)]


def sums(units: list[Any] | Places, places: Places, count: int) -> list[int]:
    """The sum of the units of each place, without overflow."""
    if isinstance(units, list):
        out = [0] * count
        for unit, place in zip(units, places):
            out[place] += unit
        return out
    high, low = np.zeros(count, np.int64), np.zeros(count, np.int64)
    np.add.at(high, places, units >> 32)
    np.add.at(low, places, units & (2 ** 32 - 1))
    return [(int(a) << 32) + int(b) for a, b in zip(high, low)]


def add_values(table: dict[Hashable, Moments], keys: Sequence[Hashable], places: Places, values: Floats) -> None:
    """Adds values[i] to the moments of keys[places[i]]."""
    counts = np.bincount(places, minlength=len(keys))
    totals, squares = (sums(whole(numbers), places, len(keys)) for numbers in (values, values * values))
    for key, count, total, square in zip(keys, counts, totals, squares):
        if count:
            table.setdefault(key, Moments()).add(Moments(int(count), total, square))


def add_tables(into: dict[Hashable, Moments], other: Mapping[Hashable, Moments]) -> None:
    for key, moments in other.items():
        into.setdefault(key, Moments()).add(moments)

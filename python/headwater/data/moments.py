"""Counts, sums and sums of squares that merge exactly, in any order.

A value is a whole number of units of 2^-149, as every float is, and its square one of 2^-298. Sums of these have no
rounding, however large or small the values: parts of a data set can be added in any order, and give the same numbers as
the whole. What is smaller than a unit, which only doubles can be, is cut off.
"""
from __future__ import annotations

import math
from typing import Hashable, Iterator, Mapping, Sequence, TypeAlias

import numpy as np
import numpy.typing as npt

from ..errors import Error
from .student import quantile

BITS = 149
Floats: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]


class Moments:
    """The number of values of one key, their mean and its interval."""

    __slots__ = ("count", "total", "squares")

    def __init__(self, count: int = 0, total: int = 0, squares: int = 0):
        self.count, self.total, self.squares = count, total, squares  # the sums in their units

    def add(self, other: Moments) -> None:
        self.count += other.count
        self.total += other.total
        self.squares += other.squares

    @property
    def mean(self) -> float:
        return self.total / (self.count << BITS) if self.count else math.nan

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        if self.count < 2:
            return math.nan
        # In whole numbers up to here, so that nothing cancels.
        spread = self.squares * self.count - self.total ** 2
        return math.sqrt(max(0, spread) / (self.count ** 2 * (self.count - 1) << 2 * BITS))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean, by Student's t; NaN for a single value."""
        reach = quantile(self.count - 1) * self.error if self.count > 1 else math.nan
        return self.mean - reach, self.mean + reach

    def difference(self, other: Moments) -> tuple[float, float, float]:
        """How much larger the mean of `other` is, the standard error, and half the width of the interval (Welch's)."""
        a, b = self.error ** 2, other.error ** 2
        error = math.sqrt(a + b)
        freedom = (a + b) ** 2 / (a * a / (self.count - 1) + b * b / (other.count - 1)) if error > 0 else 0.0
        return other.mean - self.mean, error, quantile(freedom) * error if error > 0 else 0.0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Moments) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[int]:
        return iter((self.count, self.total, self.squares))


def sums(values: Floats, places: Places, count: int, bits: int) -> list[int]:
    """The sum of the values of each place, as whole numbers of units of 2^-bits, one exponent at a time."""
    mantissas, exponents = np.frexp(values)
    shifts = exponents + (bits - 53)
    units = (mantissas * 2.0 ** 53).astype(np.int64) >> np.clip(-shifts, 0, 63)
    shifts = np.maximum(shifts, 0)
    out = [0] * count
    for shift in np.unique(shifts):
        chosen = shifts == shift
        where, inverse = np.unique(places[chosen], return_inverse=True)
        high, low = np.zeros(len(where), np.int64), np.zeros(len(where), np.int64)
        np.add.at(high, inverse, units[chosen] >> 32)  # in halves, so that 64 bits hold the sums of 2^31 values
        np.add.at(low, inverse, units[chosen] & (2 ** 32 - 1))
        for place, a, b in zip(where.tolist(), high.tolist(), low.tolist()):
            out[place] += (a << 32) + b << int(shift)
    return out


def add_values(table: dict[Hashable, Moments], keys: Sequence[Hashable], places: Places, values: Floats) -> None:
    """Adds values[i] to the moments of keys[places[i]]."""
    counts = np.bincount(places, minlength=len(keys))
    with np.errstate(over="ignore"):
        squared = np.square(values)
    if not np.isfinite(squared).all():
        raise Error("summarise: the blocks hold values that are not numbers, or are too large to square; run `headwater "
                    "attribute` again")
    totals, squares = sums(values, places, len(keys), BITS), sums(squared, places, len(keys), 2 * BITS)
    for key, count, total, square in zip(keys, counts, totals, squares):
        if count:
            table.setdefault(key, Moments()).add(Moments(int(count), total, square))


def add_tables(into: dict[Hashable, Moments], other: Mapping[Hashable, Moments]) -> None:
    for key, moments in other.items():
        into.setdefault(key, Moments()).add(moments)

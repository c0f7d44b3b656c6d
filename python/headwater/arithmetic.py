"""Results in expressions: `result * 2`, `a - b`, `np.log(result)` give plain arrays of the kind that the values are."""
from __future__ import annotations

import operator
from typing import Any, Callable, TypeAlias

import numpy as np

from .arrays import Array, to_numpy
from .errors import Error

Operation: TypeAlias = Callable[[Array, Array], Array]


def plain(value: object) -> object:
    """The values of a result, or the value itself."""
    return value.values if isinstance(value, Arithmetic) else value


def each(function: Operation, a: Array, b: Array) -> Array:
    """Applies a function to two values; item by item for a batch of several lengths, which gives a list."""
    if not isinstance(a, list) and not isinstance(b, list):
        return function(a, b)
    count = len(a) if isinstance(a, list) else len(b)
    pairs = [one if isinstance(one, list) else [one] * count for one in (a, b)]
    if len(pairs[0]) != len(pairs[1]):
        raise Error(f"batch: has {len(pairs[0])} and {len(pairs[1])} items, expected equal numbers; take .item(k) of each")
    return [function(one, other) for one, other in zip(*pairs)]


def forward(function: Operation) -> Callable[[Any, object], Array]:
    def of(self: Arithmetic, other: object) -> Array:
        return each(function, self.values, plain(other))
    return of


def reflected(function: Operation) -> Callable[[Any, object], Array]:
    def of(self: Arithmetic, other: object) -> Array:
        return each(function, plain(other), self.values)
    return of


class Arithmetic:
    """Operators for a class with `values`. They give an array, no longer a result. For a batch of several lengths, it
    is a list of arrays.
    """

    values: Array

    def _one_array(self) -> Array:
        """The values, if they are one array."""
        if isinstance(self.values, list):
            name = getattr(self, "source", "batch")
            raise Error(f"{name}: its items have different lengths, expected one array; take .item(k)")
        return self.values

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **words: Any) -> Array:
        return getattr(ufunc, method)(*(to_numpy(one._one_array()) if isinstance(one, Arithmetic) else one
                                        for one in inputs), **words)

    __add__, __radd__ = forward(operator.add), reflected(operator.add)
    __sub__, __rsub__ = forward(operator.sub), reflected(operator.sub)
    __mul__, __rmul__ = forward(operator.mul), reflected(operator.mul)
    __truediv__, __rtruediv__ = forward(operator.truediv), reflected(operator.truediv)
    __pow__ = forward(operator.pow)
    __matmul__, __rmatmul__ = forward(operator.matmul), reflected(operator.matmul)
    __lt__, __le__ = forward(operator.lt), forward(operator.le)
    __gt__, __ge__ = forward(operator.gt), forward(operator.ge)

    def __neg__(self) -> Array:
        return [-one for one in self.values] if isinstance(self.values, list) else -self.values

    def __abs__(self) -> Array:
        return [abs(one) for one in self.values] if isinstance(self.values, list) else abs(self.values)

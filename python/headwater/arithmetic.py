"""Results in expressions: `result * 2`, `a - b`, `np.log(result)` give plain arrays of the kind that the values are."""
from __future__ import annotations

import operator
from typing import Any, Callable

from .errors import Error


def plain(value: Any) -> Any:
    """The values of a result, or the value itself."""
    return value.values if isinstance(value, Arithmetic) else value


def each(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Applies a function to two values; item by item for a batch of several lengths, which gives a list."""
    if not isinstance(a, list) and not isinstance(b, list):
        return function(a, b)
    count = len(a) if isinstance(a, list) else len(b)
    pairs = [one if isinstance(one, list) else [one] * count for one in (a, b)]
    if len(pairs[0]) != len(pairs[1]):
        raise Error(f"batch: has {len(pairs[0])} and {len(pairs[1])} items, expected equal numbers; take .item(k) of each")
    return [function(one, other) for one, other in zip(*pairs)]


def forward(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def of(self: Any, other: Any) -> Any:
        return each(function, self.values, plain(other))
    return of


def reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def of(self: Any, other: Any) -> Any:
        return each(function, plain(other), self.values)
    return of


class Arithmetic:
    """Operators for a class with `values`. They give an array, no longer a result. For a batch of several lengths, it
    is a list of arrays.
    """

    values: Any

    def _one_array(self) -> Any:
        """The values, if they are one array."""
        if isinstance(self.values, list):
            name = getattr(self, "source", "batch")
            raise Error(f"{name}: its items have different lengths, expected one array; take .item(k)")
        return self.values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **words: Any) -> Any:
        from .arrays import to_numpy
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

    def __neg__(self) -> Any:
        return [-one for one in self.values] if isinstance(self.values, list) else -self.values

    def __abs__(self) -> Any:
        return [abs(one) for one in self.values] if isinstance(self.values, list) else abs(self.values)

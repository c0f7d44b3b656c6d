"""Results in expressions: `result * 2`, `a - b`, `np.log(result)` give plain arrays of the kind that the values are."""
from __future__ import annotations

import operator
from typing import Any, Callable


def plain(value: Any) -> Any:
    """The values of a result, or the value itself."""
    return value.values if isinstance(value, Arithmetic) else value


def forward(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def of(self: Any, other: Any) -> Any:
        return function(self.values, plain(other))
    return of


def reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def of(self: Any, other: Any) -> Any:
        return function(plain(other), self.values)
    return of


class Arithmetic:
    """Operators for a class with `values`. What comes out is an array, no longer a result."""

    values: Any

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **words: Any) -> Any:
        from .arrays import to_numpy
        return getattr(ufunc, method)(*(to_numpy(one.values) if isinstance(one, Arithmetic) else one for one in inputs),
                                      **words)

    __add__, __radd__ = forward(operator.add), reflected(operator.add)
    __sub__, __rsub__ = forward(operator.sub), reflected(operator.sub)
    __mul__, __rmul__ = forward(operator.mul), reflected(operator.mul)
    __truediv__, __rtruediv__ = forward(operator.truediv), reflected(operator.truediv)
    __pow__ = forward(operator.pow)
    __matmul__, __rmatmul__ = forward(operator.matmul), reflected(operator.matmul)
    __lt__, __le__ = forward(operator.lt), forward(operator.le)
    __gt__, __ge__ = forward(operator.gt), forward(operator.ge)

    def __neg__(self) -> Any:
        return -self.values

    def __abs__(self) -> Any:
        return abs(self.values)

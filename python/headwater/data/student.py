"""Quantiles of Student's t distribution, for intervals of means."""
from __future__ import annotations

import functools
import math

Z = 1.959963984540054  # of the normal distribution, two-sided 95 %
LEVEL = 0.95


def tail(t: float, freedom: float) -> float:
    """The probability that |T| is larger than t, by the incomplete beta function."""
    x = freedom / (freedom + t * t)
    a, b = freedom / 2, 0.5
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * fraction(a, b, x) / a
    return 1 - front * fraction(b, a, 1 - x) / b


def fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, from its front (Lentz's way)."""
    tiny = 1e-300
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    value = d
    for m in range(1, 300):
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / ((1 + step * d) or tiny)
            c = (1 + step / c) or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return value


@functools.lru_cache(maxsize=65536)
def quantile(freedom: float) -> float:
    """The t such that |T| is below it with 95 %, for `freedom` degrees of freedom, which need not be whole."""
    if freedom <= 0 or math.isnan(freedom):
        return math.nan
    if freedom > 30:
        return expanded(freedom)
    low, high = Z, 2 * Z
    while tail(high, freedom) > 1 - LEVEL:
        low, high = high, high * 2
    while high - low > 1e-11 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle, freedom) > 1 - LEVEL else (low, middle)
    return (low + high) / 2


def expanded(freedom: float) -> float:
    """The quantile around that of the normal distribution, in powers of 1 / freedom."""
    z, inverse = Z, 1 / freedom
    terms = (z ** 3 + z) / 4, (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96, (
        3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384, (
        79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92160
    return z + sum(term * inverse ** (k + 1) for k, term in enumerate(terms))

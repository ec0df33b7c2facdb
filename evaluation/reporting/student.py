"""Student's t distribution, for intervals from few independent values."""

from __future__ import annotations

from functools import cache
from math import atan, inf, pi, sqrt

# Halvings until a double cannot tell the two ends apart.
_HALVINGS = 60


def chance_within(t: float, freedom: int) -> float:
    """Return the probability that a variable of the distribution lies within ±t.

    Abramowitz and Stegun, 1964, 26.7.3 and 26.7.4: a finite sum for whole degrees.

    Args:
        t: At least 0.
        freedom: Degrees of freedom, at least 1.
    """
    import numpy as np  # noqa: PLC0415 - an extra, and slow

    angle = atan(t / sqrt(freedom))
    # sin and cos of the angle, without the rounding of either function.
    sine, cosine = t / sqrt(freedom + t * t), sqrt(freedom / (freedom + t * t))
    odd = freedom % 2
    steps = np.arange(1 + odd, freedom - 1, 2, dtype=float)
    ratios = steps / (steps + 1) * cosine * cosine
    series = 1 + float(np.cumprod(ratios).sum())
    if not odd:
        return min(1.0, sine * series)
    odd_part = sine * cosine * series if freedom > 1 else 0.0
    return min(1.0, 2 / pi * (angle + odd_part))


@cache
def quantile(freedom: int, level: float = 0.95) -> float:
    """Return the t within which `level` of the distribution lies; inf without freedom.

    Example:
        >>> round(quantile(2), 3)
        4.303
    """
    if freedom < 1:
        return inf
    low, high = 0.0, 1.0
    while chance_within(high, freedom) < level:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if chance_within(middle, freedom) < level:
            low = middle
        else:
            high = middle
    return high

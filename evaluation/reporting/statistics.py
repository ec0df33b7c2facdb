"""Statistics of a report: intervals of shares, and paired tests.

Pure functions; a missing figure is None, never zero. A *cluster* holds the answers
about one schema: intervals and tests take clusters, not answers, for independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, inf, sqrt
from typing import TypeVar

_T = TypeVar("_T")
#: The two-sided 95 % quantile of the standard normal distribution.
_Z = 1.959963984540054
# Minimum clusters for a spread between them.
_SPREAD = 2


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile, or its lower bound if time-outs cut off the values above."""

    value: float
    at_least: bool = False


def quantile(
    percent: float, values: Sequence[float], bounds: Sequence[float] = ()
) -> Quantile | None:
    """Return a quantile of measured values; None of no values.

    Interpolated (Hyndman and Fan, 1996, definition 7). It is a lower bound if a value
    cut off could be below it.

    Args:
        percent: Which quantile.
        values: The measured values.
        bounds: Lower bounds of the values that were cut off.
    """
    import numpy as np  # noqa: PLC0415 - an extra, and slow

    combined = [*values, *bounds]
    if not combined:
        return None
    value = np.percentile(combined, percent)
    above = np.percentile(combined, percent, method="higher")
    return Quantile(float(value), at_least=bool(min(bounds, default=inf) <= above))


def wilson(count: float, of: float, *, worth: float | None = None) -> Interval | None:
    """Return Wilson's score interval of a share, of 95 %; None of nothing.

    E. B. Wilson, 1927, "Probable inference, the law of succession, and statistical
    inference", without continuity correction.

    Args:
        count: Number of hits among them.
        of: How many there are.
        worth: How many independent ones they are worth (`independent_worth`), where
            they are not.
    """
    if of == 0:
        return None
    share = count / of
    size = of if worth is None else worth
    middle = share + _Z**2 / (2 * size)
    spread = _Z * sqrt(share * (1 - share) / size + _Z**2 / (4 * size * size))
    scale = 1 + _Z**2 / size
    # At the ends the bound is exact; rounding must not push it past the share.
    return Interval(
        low=0.0 if count == 0 else min(share, (middle - spread) / scale),
        high=1.0 if count == of else max(share, (middle + spread) / scale),
    )


def independent_worth(clusters: Iterable[tuple[int, int]]) -> float:
    """Return how many independent answers the answers of clusters are worth.

    Their number over the design effect, estimated with clusters and Student's t (E. L.
    Korn and B. I. Graubard, 1998, "Confidence intervals for proportions with small
    expected number of positive counts estimated from survey data"): the variance by
    the jackknife over clusters, with as many degrees of freedom as clusters of one
    size would leave. Never above the number of answers, never below their worth if a
    cluster always agrees (L. Kish, 1965, "Survey Sampling", 8.2).

    Args:
        clusters: Hits and size of each cluster.

    Example:
        Twenty texts for each of three schemas, every one valid, are three successes:

        >>> independent_worth([(20, 20), (20, 20), (20, 20)])
        3.0
    """
    counted = [(count, of) for count, of in clusters if of]
    of = sum(size for _, size in counted)
    if not of:
        return 0.0
    share = sum(count for count, _ in counted) / of
    agreeing = of * of / sum(size * size for _, size in counted)
    if share in (0, 1) or len(counted) < _SPREAD:
        return agreeing
    number = len(counted)
    # Of the mean, by leaving each cluster out.
    squares = fsum(
        ((count - share * size) / (1 - size / of)) ** 2 for count, size in counted
    )
    error = sqrt(squares * (number - 1) / number) / of
    if not error:
        return float(of)
    wide = t_quantile(degrees_of_freedom([size for _, size in counted])) / _Z
    estimated = share * (1 - share) / (error * wide) ** 2
    return min(float(of), max(agreeing, estimated))


def degrees_of_freedom(sizes: Sequence[int]) -> int:
    """Return the degrees of freedom that clusters of such sizes leave; one at least."""
    return max(1, round(sum(sizes) ** 2 / sum(size * size for size in sizes)) - 1)


def t_quantile(freedom: int) -> float:
    """Return the t within which 95 % of Student's distribution lies.

    Example:
        >>> round(t_quantile(2), 3)
        4.303
    """
    from scipy import stats  # noqa: PLC0415 - an extra, and slow

    return float(stats.t.ppf(0.975, freedom))


def mcnemar(only_a: int, only_b: int) -> float:
    """Return the exact two-sided p of McNemar's test for two paired shares.

    `only_a` and `only_b` count the subjects that only one of the two passes. Without
    such subjects p is 1.
    """
    from scipy import stats  # noqa: PLC0415 - an extra, and slow

    of = only_a + only_b
    return float(stats.binomtest(only_a, of).pvalue) if of else 1.0


def sign_flip(differences: Iterable[int]) -> float:
    """Return the exact two-sided p of paired counts with this difference.

    One difference a cluster: how many more answers b has right than a. p is the share
    of sign choices whose sum is at least as far from 0 (R. A. Fisher, 1935, "The Design
    of Experiments", 21). With one answer a cluster it is `mcnemar`.
    """
    nonzero = [difference for difference in differences if difference]
    if all(abs(difference) == 1 for difference in nonzero):
        return mcnemar(nonzero.count(-1), nonzero.count(1))
    total = sum(map(abs, nonzero))
    # chances[n]: that those with a plus sign add up to n.
    import numpy as np  # noqa: PLC0415 - an extra, and slow

    chances = np.zeros(total + 1)
    chances[0] = 1
    for size in map(abs, nonzero):
        chances[size:] = (chances[size:] + chances[:-size]) / 2
        chances[:size] /= 2
    sums = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, float(chances[sums >= abs(sum(nonzero))].sum()))


def holm(ps: Mapping[_T, float]) -> dict[_T, float]:
    """Return p-values adjusted for multiple tests (Holm, 1979)."""
    adjusted: dict[_T, float] = {}
    largest = 0.0
    for rank, name in enumerate(sorted(ps, key=lambda name: ps[name])):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[name]))
        adjusted[name] = largest
    return {name: adjusted[name] for name in ps}

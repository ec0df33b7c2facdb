"""The statistics of a report: intervals, paired tests, quantiles under time-outs.

Everything here is a pure function of figures; nothing that is missing is ever taken
for zero: where there is no answer, the answer is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, floor, log, sqrt
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_T = TypeVar("_T")
#: The two-sided 95 % quantile of the standard normal distribution.
_Z = 1.959963984540054
#: What a table of times shows, in per cent; 100 is the largest.
PERCENTILES = (25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 100.0)
# Draws of a bootstrap, and how many values it may hold at a time.
_RESAMPLES = 2_000
_TAILS = (2.5, 97.5)
_HELD = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float


def wilson(count: int, of: int, z: float = _Z) -> Interval | None:
    """Return Wilson's score interval of a share (95 % by default), None of nothing.

    E. B. Wilson, 1927, "Probable inference, the law of succession, and statistical
    inference", without continuity correction.

    Raises:
        ValueError: `count` is negative or more than `of`.
    """
    if not 0 <= count <= of:
        raise ValueError((count, of))
    if of == 0:
        return None
    share = count / of
    middle = share + z * z / (2 * of)
    spread = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    scale = 1 + z * z / of
    # At the ends the bound is exact; rounding must not push it past the share.
    return Interval(
        low=0.0 if count == 0 else min(share, (middle - spread) / scale),
        high=1.0 if count == of else max(share, (middle + spread) / scale),
    )


def mcnemar(only_a: int, only_b: int) -> float:
    """Return the exact two-sided p of McNemar's test for two paired shares.

    `only_a` and `only_b` count the subjects that only one of the two passes; those
    that both pass or both fail say nothing. With no such subject p is 1.

    Raises:
        ValueError: a count is negative.
    """
    if min(only_a, only_b) < 0:
        raise ValueError((only_a, only_b))
    of = only_a + only_b
    tail = ways = 1
    for count in range(min(only_a, only_b)):
        ways = ways * (of - count) // (count + 1)
        tail += ways
    # Whole numbers up to the last division: no share is too small for a double.
    return min(1.0, 2 * tail / (1 << of)) if of else 1.0


def holm(ps: Mapping[_T, float]) -> dict[_T, float]:
    """Return p-values adjusted for having asked so many questions (Holm, 1979)."""
    adjusted: dict[_T, float] = {}
    largest = 0.0
    for rank, (name, p) in enumerate(sorted(ps.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, (len(ps) - rank) * p))
        adjusted[name] = largest
    return {name: adjusted[name] for name in ps}


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile, or what it is at least where time-outs cut off the values above."""

    value: float
    at_least: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Quantiles:
    """Measured values in order, and lower bounds of those that were cut off."""

    #: In order; both kinds together.
    values: np.ndarray
    #: The smallest lower bound; None if every value was measured.
    first_bound: float | None = None
    #: How many were cut off.
    cut_off: int = 0

    @classmethod
    def of(
        cls, values: Sequence[float] | np.ndarray, censored: Sequence[float] = ()
    ) -> Quantiles:
        """Sort values; a censored one is known to be at least so much."""
        both = np.concatenate([np.asarray(values), np.asarray(censored)])
        bound = min(censored, default=None)
        return cls(np.sort(both), bound, len(censored))

    def __len__(self) -> int:
        """Count the values, those that were cut off among them."""
        return len(self.values)

    @property
    def mean(self) -> float | None:
        """The mean, too small where values were cut off; None of no values."""
        return float(self.values.mean()) if len(self.values) else None

    def at(self, percent: float) -> Quantile | None:
        """Return the quantile; None of no values.

        Between two values it is interpolated (Hyndman and Fan, 1996, definition 7).
        Lower bounds stand for the values that were cut off, so that the answer is
        a lower bound as soon as one of them could be below it.

        Raises:
            ValueError: `percent` is not between 0 and 100.
        """
        if not 0 <= percent <= 100:  # noqa: PLR2004 (per cent)
            raise ValueError(percent)
        if not len(self.values):
            return None
        place = (len(self.values) - 1) * percent / 100
        low, high = (float(self.values[end(place)]) for end in (floor, ceil))
        value = low + (high - low) * (place - floor(place))
        bound = self.first_bound
        return Quantile(value, at_least=bound is not None and bound <= high)

    def share_above(self, value: float) -> float | None:
        """Return the share of values that are larger; None of no values."""
        if not len(self.values):
            return None
        below = int(np.searchsorted(self.values, value, side="right"))
        return 1 - below / len(self.values)


def index_percentile(ordered: Sequence[float], percent: float) -> float | None:
    """Return MaskBench's percentile of sorted values: the one at int(n * p / 100)."""
    if not ordered:
        return None
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


@dataclass(frozen=True, slots=True)
class PairedRatio:
    """How much larger one figure is than the other on the same subjects."""

    #: b / a.
    value: float
    interval: Interval | None
    #: Subjects that have both figures.
    pairs: int


def geometric_ratio(
    a: Sequence[float], b: Sequence[float], seed: int = 0
) -> PairedRatio | None:
    """Return the geometric mean of b / a over pairs, with a 95 % bootstrap interval.

    The interval is of percentiles over resampled pairs (Efron, 1979), the same for
    the same seed; None with fewer than two pairs. Pairs that are not both positive
    say nothing of a ratio and are left out. None if no pair is left.

    Raises:
        ValueError: `a` and `b` are not of one length.
    """
    logs = [log(y / x) for x, y in zip(a, b, strict=True) if x > 0 and y > 0]
    if not logs:
        return None
    value = exp(sum(logs) / len(logs))
    between = _bootstrap_mean(logs, seed)
    interval = between and Interval(exp(between.low), exp(between.high))
    return PairedRatio(value, interval, len(logs))


def mean_difference(
    a: Sequence[float], b: Sequence[float], seed: int = 0
) -> tuple[float, Interval | None] | None:
    """Return the mean of b - a over pairs, with a 95 % bootstrap interval.

    Raises:
        ValueError: `a` and `b` are not of one length.
    """
    differences = [y - x for x, y in zip(a, b, strict=True)]
    if not differences:
        return None
    mean = sum(differences) / len(differences)
    return mean, _bootstrap_mean(differences, seed)


def _bootstrap_mean(values: Sequence[float], seed: int) -> Interval | None:
    """Return the 95 % percentile bootstrap interval of a mean."""
    if len(values) < 2:  # noqa: PLR2004 (one value has no spread)
        return None
    given = np.asarray(values, dtype=float)
    draw = np.random.default_rng(seed)
    batch = max(1, _HELD // len(given))
    means = [
        given[draw.integers(0, len(given), (min(batch, left), len(given)))].mean(axis=1)
        for left in range(_RESAMPLES, 0, -batch)
    ]
    # Two means of equal values may differ in their last digit, in either order.
    low, high = sorted(map(float, np.percentile(np.concatenate(means), _TAILS)))
    return Interval(low, high)

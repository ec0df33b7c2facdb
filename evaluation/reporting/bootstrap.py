"""Bootstrap over schemas: paired ratios and differences.

What was measured on one schema is one cluster (`evaluation.reporting.statistics`):
clusters are drawn, with all that is in them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp, floor, log, sqrt
from statistics import NormalDist
from typing import TypeVar

import numpy as np

from evaluation.reporting import student
from evaluation.reporting.statistics import Interval, clustered_error, freedom_of

_T = TypeVar("_T")
# Draws of a bootstrap, and how many values it may hold at a time.
_RESAMPLES = 2_000
_MOST_IN_MEMORY = 4_000_000
# Clusters without which there is no spread between them, and without which too few
# different samples can be drawn to tell an interval of 95 % from the range of them all.
_SPREAD = 2
_RESAMPLED = 5


@dataclass(frozen=True, slots=True)
class PairedFigure:
    """How a figure b compares with a on the same subjects: b / a, or b - a."""

    value: float
    interval: Interval | None
    #: Pairs that have both figures.
    pairs: int
    #: Two-sided p of there being no difference; None with fewer than two clusters.
    p: float | None


def geometric_ratio(
    a: Sequence[float],
    b: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> PairedFigure | None:
    """Return the geometric mean of b / a over pairs, with a 95 % bootstrap interval.

    The exponential of `mean_difference` of logarithms. Pairs that are not both positive
    are left out. None if no pair is left.

    Raises:
        ValueError: arguments are not of one length.
    """
    groups = range(len(a)) if clusters is None else clusters
    logs = [
        (log(x), log(y), group)
        for x, y, group in zip(a, b, groups, strict=True)
        if x > 0 and y > 0
    ]
    mean = mean_difference(
        [x for x, _, _ in logs],
        [y for _, y, _ in logs],
        [group for _, _, group in logs],
        seed,
    )
    if mean is None:
        return None
    between = mean.interval and Interval(
        exp(mean.interval.low), exp(mean.interval.high)
    )
    return PairedFigure(exp(mean.value), between, mean.pairs, mean.p)


def ratio_over(
    pairs: Iterable[tuple[_T, _T]],
    figure: Callable[[_T], float | None],
    cluster: Callable[[_T], Hashable],
) -> PairedFigure | None:
    """Return the `geometric_ratio` of a figure over the pairs that both have it.

    Args:
        pairs: Subjects a and b.
        figure: The figure of a subject; None where it has none.
        cluster: The cluster of a pair, by its subject a.
    """
    known = [
        (first, second, cluster(a))
        for a, b in pairs
        if (first := figure(a)) is not None and (second := figure(b)) is not None
    ]
    return geometric_ratio(
        [first for first, _, _ in known],
        [second for _, second, _ in known],
        [group for _, _, group in known],
    )


def mean_difference(
    a: Sequence[float],
    b: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> PairedFigure | None:
    """Return the mean of b - a over pairs, with a 95 % bootstrap interval.

    Percentiles over resampled clusters (B. Efron, 1979), the same for the same seed,
    widened for the number of clusters that their sizes are worth (T. Hesterberg, 2015,
    "What teachers should know about the bootstrap", 3.3); Student's interval, with the
    error of the jackknife, where that is below five; None below two clusters.
    p is below 0.05 where 0 is outside.

    Args:
        a: A figure of each subject.
        b: Another figure of the same subjects.
        clusters: To which cluster each belongs, that is, its schema; None: each is
            alone.
        seed: Of the draws.

    Raises:
        ValueError: arguments are not of one length.
    """
    sums: dict[Hashable, float] = {}
    sizes: dict[Hashable, int] = {}
    groups = range(len(a)) if clusters is None else clusters
    for x, y, group in zip(a, b, groups, strict=True):
        sums[group] = sums.get(group, 0.0) + y - x
        sizes[group] = sizes.get(group, 0) + 1
    if not sums:
        return None
    pairs = sum(sizes.values())
    mean = sum(sums.values()) / pairs
    if len(sums) < _SPREAD:
        return PairedFigure(mean, None, pairs, None)
    number = freedom_of([*sizes.values()]) + 1
    if number < _RESAMPLED:
        interval, p = _students(mean, list(sums.values()), list(sizes.values()))
        return PairedFigure(mean, interval, pairs, p)
    means = _resampled_means(list(sums.values()), list(sizes.values()), seed)
    return PairedFigure(mean, _interval_of(means, number), pairs, _p_of(means, number))


def _students(
    mean: float, sums: Sequence[float], sizes: Sequence[int]
) -> tuple[Interval, float]:
    """Return the 95 % interval of a mean over clusters by Student's t, and its p."""
    freedom = freedom_of(sizes)
    error = clustered_error([*zip(sums, sizes, strict=True)])
    wide = student.quantile(freedom) * error
    if error:
        p = 1 - student.chance_within(abs(mean) / error, freedom)
    else:
        p = 0.0 if mean else 1.0
    return Interval(mean - wide, mean + wide), p


def _resampled_means(
    sums: Sequence[float], sizes: Sequence[int], seed: int
) -> np.ndarray:
    totals, counts = np.asarray(sums, dtype=float), np.asarray(sizes, dtype=float)
    draw = np.random.default_rng(seed)
    batch = max(1, _MOST_IN_MEMORY // len(totals))
    means = []
    for remaining in range(_RESAMPLES, 0, -batch):
        sampled = draw.integers(0, len(totals), (min(batch, remaining), len(totals)))
        means.append(totals[sampled].sum(axis=1) / counts[sampled].sum(axis=1))
    return np.sort(np.concatenate(means))


def _interval_of(means: np.ndarray, clusters: int) -> Interval:
    wide = student.quantile(clusters - 1) * sqrt(clusters / (clusters - 1))
    tail = 100 * NormalDist().cdf(-wide)
    # Two means of equal values may differ in their last digit, in either order.
    low, high = sorted(map(float, np.percentile(means, (tail, 100 - tail))))
    return Interval(low, high)


def _p_of(means: np.ndarray, clusters: int) -> float:
    """Return the p at which 0 is on the edge of such an interval."""
    beyond = min(int((means <= 0).sum()), int((means >= 0).sum()))
    tail = min(0.5, (beyond + 1) / (len(means) + 1))
    t = -NormalDist().inv_cdf(tail) / sqrt(clusters / (clusters - 1))
    return 1 - student.chance_within(t, clusters - 1)


def bootstrap_means(
    values: np.ndarray,
    weights: np.ndarray,
    *,
    clusters: np.ndarray | None = None,
    resamples: int = _RESAMPLES,
    seed: int = 0,
) -> list[Interval | None]:
    """Return a 95 % bootstrap interval of the weighted mean of every column.

    All columns share the draws. The bounds are drawn means, the outer one of two, and
    not widened if each row is a cluster, as SOB's authors do; else as those of
    `mean_difference`.

    Args:
        values: One row a subject, one column a figure.
        weights: One weight a row, none negative.
        clusters: The number of each row's cluster; None: each row is one.
        resamples: How often as many rows as there are are drawn with replacement.
        seed: The same gives the same intervals.

    Returns:
        An interval a column; None for each where fewer than two rows have a weight.
    """
    rows, columns = values.shape
    if np.count_nonzero(weights) < _SPREAD:
        return [None] * columns
    groups = rows if clusters is None else int(clusters.max()) + 1
    if groups < _SPREAD:
        return [None] * columns
    counts = _draw_counts(groups, resamples, seed)
    tail = 0.025
    if clusters is not None and groups < rows:
        counts = counts[:, clusters]
        wide = student.quantile(groups - 1) * sqrt(groups / (groups - 1))
        tail = NormalDist().cdf(-wide)
    total = counts @ weights
    means = (counts @ (values * weights[:, None]))[total > 0] / total[total > 0, None]
    means.sort(axis=0)
    low, high = (at * (len(means) - 1) for at in (tail, 1 - tail))
    return [
        Interval(float(column[floor(low)]), float(column[ceil(high)]))
        for column in means.T
    ]


@lru_cache(maxsize=8)  # three sources, each plain and weighted
def _draw_counts(rows: int, resamples: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    counts = np.empty((resamples, rows))
    for resample in counts:
        sampled = draw.integers(0, rows, rows)
        resample[:] = np.bincount(sampled, minlength=rows)
    return counts

"""Bootstrap over schemas: paired ratios and differences.

What was measured on one schema is one cluster (`evaluation.reporting.statistics`):
clusters are drawn, with all that is in them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from math import exp, log, sqrt
from statistics import NormalDist

import numpy as np

from evaluation.reporting.statistics import Interval, degrees_of_freedom, t_quantile
from evaluation.reporting.tables import Estimate, Ratio

# Draws of a bootstrap, and how many values it may hold at a time.
_RESAMPLES = 2_000
_MAX_IN_MEMORY = 4_000_000
# Minimum clusters for a spread between them, and minimum clusters for enough
# different samples to separate a 95 % interval from the whole range.
_SPREAD = 2
_RESAMPLED = 5


def geometric_ratio(
    pairs: Iterable[tuple[Hashable, float | None, float | None]],
) -> Ratio | None:
    """Return the geometric mean of b / a over pairs, with a 95 % bootstrap interval.

    The exponential of `mean_difference` of logarithms. Pairs that are not both known
    and positive are left out. None if no pair is left.

    Args:
        pairs: As of `mean_difference`.
    """
    logarithms = [
        (cluster, log(a), log(b))
        for cluster, a, b in pairs
        if a is not None and b is not None and min(a, b) > 0
    ]
    mean = mean_difference(logarithms)
    if mean is None:
        return None
    interval = mean.interval
    if interval is not None:
        interval = Interval(exp(interval.low), exp(interval.high))
    return Ratio(exp(mean.value), interval)


def mean_difference(
    pairs: Iterable[tuple[Hashable, float, float]],
) -> Estimate | None:
    """Return the mean of b - a over pairs, with a 95 % bootstrap interval.

    Percentiles over resampled clusters (B. Efron, 1979), always the same draws,
    widened for the number of clusters that their sizes are worth (T. Hesterberg, 2015,
    "What teachers should know about the bootstrap", 3.3). Unknown of fewer than five
    clusters.

    Args:
        pairs: The cluster of each subject, that is, its schema, and its two figures, a
            and b.
    """
    sums: dict[Hashable, float] = defaultdict(float)
    counts: Counter[Hashable] = Counter()
    for cluster, a, b in pairs:
        sums[cluster] += b - a
        counts[cluster] += 1
    if not sums:
        return None
    sizes = [*counts.values()]
    mean = sum(sums.values()) / sum(sizes)
    number = degrees_of_freedom(sizes) + 1
    if number < _RESAMPLED:
        return Estimate(mean, None)
    totals = np.array([*sums.values()])[:, None]
    means = _drawn_means(totals, np.array(sizes), _RESAMPLES, seed=0)
    (interval,) = _intervals(means, _tail(number))
    return Estimate(mean, interval)


def _drawn_means(
    sums: np.ndarray, sizes: np.ndarray, resamples: int, seed: int
) -> np.ndarray:
    """Return the means of resampled clusters, each column in order.

    Args:
        sums: One row a cluster, one column a figure.
        sizes: What each cluster weighs.
        resamples: How often as many clusters as there are are drawn with replacement.
        seed: The same gives the same means.
    """
    draw = np.random.default_rng(seed)
    count = len(sums)
    batch = max(1, _MAX_IN_MEMORY // count)
    means = []
    for remaining in range(resamples, 0, -batch):
        sampled = draw.integers(0, count, (min(batch, remaining), count))
        weights = np.array([np.bincount(row, minlength=count) for row in sampled])
        total = weights @ sizes
        means.append((weights @ sums)[total > 0] / total[total > 0, None])
    return np.sort(np.concatenate(means), axis=0)


def _tail(clusters: int) -> float:
    """Return the share of draws beyond either bound, for so few clusters."""
    wide = t_quantile(clusters - 1) * sqrt(clusters / (clusters - 1))
    return NormalDist().cdf(-wide)


def _intervals(means: np.ndarray, tail: float) -> list[Interval]:
    """Return the bounds of each column, which is in order: drawn means, the outer."""
    lows = np.quantile(means, tail, axis=0, method="lower")
    highs = np.quantile(means, 1 - tail, axis=0, method="higher")
    return [
        Interval(float(low), float(high)) for low, high in zip(lows, highs, strict=True)
    ]


def bootstrap_means(
    values: np.ndarray,
    weights: np.ndarray,
    *,
    clusters: np.ndarray | None = None,
    resamples: int = _RESAMPLES,
    seed: int = 0,
) -> list[Interval | None]:
    """Return a 95 % bootstrap interval of the weighted mean of every column.

    All columns share the draws. The bounds are not widened if each row is a cluster, as
    SOB's authors do; otherwise as in `mean_difference`.

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
    if clusters is None:
        clusters = np.arange(rows)
    groups = int(clusters.max()) + 1
    if groups < _SPREAD:
        return [None] * columns
    sizes = np.bincount(clusters, weights)
    sums = np.zeros((groups, columns))
    np.add.at(sums, clusters, values * weights[:, None])
    means = _drawn_means(sums, sizes, resamples, seed)
    return [*_intervals(means, _tail(groups) if groups < rows else 0.025)]

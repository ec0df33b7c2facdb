"""One model on one source: means over its records, plain and weighted."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from evaluation.reporting.bootstrap import bootstrap_means
from evaluation.suites.sob.metrics.names import CATEGORIES, Category, Metric

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evaluation.reporting.statistics import Interval

#: Resamples and seed of the bootstrap, as the authors chose them.
RESAMPLES: Final = 1_000
SEED: Final = 42
_METRICS: Final = tuple(Metric)
_CATEGORIES: Final = tuple(Category)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its 95 % bootstrap interval; no interval of fewer than two."""

    value: float
    interval: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFigures:
    """The figures of one record's answer, as they are averaged."""

    record: str
    weight: float
    values: Mapping[Metric, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Every metric and every category, averaged over records in one way."""

    metrics: Mapping[Metric, Mean]
    categories: Mapping[Category, Mean]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSummary:
    """One model on one source."""

    model: str
    source: str
    #: How many records were answered and scored.
    records: int
    #: The sum of their weights.
    weight: float
    #: Every record counts the same.
    plain: Means
    #: Every record counts by its complexity; None where no record has a weight.
    weighted: Means | None


def summarise(
    model: str, source: str, figures: Sequence[RecordFigures]
) -> SourceSummary:
    """Return the means of one model's answers on one source.

    The intervals are of percentiles over 1,000 resamples with the seed 42, and 43 for
    the weighted means, as the authors' are; their generator of random numbers is not
    known, so that the last digits differ.

    Raises:
        ValueError: there is no record.
    """
    if not figures:
        raise ValueError((model, source))
    values = np.array([_columns(record.values) for record in figures])
    weights = np.array([record.weight for record in figures])
    total = float(weights.sum())
    return SourceSummary(
        model=model,
        source=source,
        records=len(figures),
        weight=total,
        plain=_means(values, np.ones(len(figures)), SEED),
        weighted=_means(values, weights, SEED + 1) if total else None,
    )


def _columns(values: Mapping[Metric, float]) -> list[float]:
    """Return a record's metrics, then its categories, each the mean of some metrics."""
    metrics = [values[metric] for metric in _METRICS]
    return metrics + [
        sum(values[metric] for metric in CATEGORIES[category])
        / len(CATEGORIES[category])
        for category in _CATEGORIES
    ]


def _means(values: np.ndarray, weights: np.ndarray, seed: int) -> Means:
    means = (weights @ values) / weights.sum()
    intervals = bootstrap_means(values, weights, resamples=RESAMPLES, seed=seed)
    found = [
        Mean(float(mean), interval)
        for mean, interval in zip(means, intervals, strict=True)
    ]
    metrics = zip(_METRICS, found[: len(_METRICS)], strict=True)
    categories = zip(_CATEGORIES, found[len(_METRICS) :], strict=True)
    return Means(
        metrics=MappingProxyType(dict(metrics)),
        categories=MappingProxyType(dict(categories)),
    )

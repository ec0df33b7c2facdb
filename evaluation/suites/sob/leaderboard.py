"""The leaderboard: from figures of records to means of sources to one ranking."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from evaluation.reporting.bootstrap import bootstrap_means
from evaluation.reporting.tables import Estimate
from evaluation.suites.sob.metrics import SEVEN, Metric
from evaluation.suites.sob.records import SourceTotal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evaluation.core.suite import ScoredResponse

#: The sources in the order of the paper.
SOURCES: Final = ("text", "image", "audio")
#: Resamples and seed of the bootstrap, as the authors chose them.
RESAMPLES: Final = 1_000
SEED: Final = 42
#: Perfect Response is not reported for audio (equation 5).
PERFECT_SOURCES: Final = frozenset({"text", "image"})
# Ties are broken by four digits of Overall, as in the authors' table.
_DIGITS: Final = 4


class Category(NamedTuple):
    """A mean of some metrics of one record (the paper's Table 11)."""

    #: The name of its column.
    short: str
    name: str
    question: str
    metrics: tuple[Metric, ...]

    def mean(self, means: Mapping[Metric, Estimate]) -> float:
        """Return the mean of its metrics (appendix G)."""
        return fmean(means[metric].value for metric in self.metrics)


CATEGORIES: Final = (
    Category(
        "long context",
        "Long Context Extraction",
        "are the right values found in a long context?",
        (Metric.VALUE_ACCURACY, Metric.FAITHFULNESS, Metric.PATH_RECALL),
    ),
    Category(
        "schema",
        "Complex Schema Handling",
        "is a nested schema met, with the right types?",
        (Metric.JSON_PASS, Metric.STRUCTURE_COVERAGE, Metric.TYPE_SAFETY),
    ),
    Category(
        "linking",
        "Multi-Context Linking",
        "are facts of several passages brought together?",
        (Metric.VALUE_ACCURACY, Metric.FAITHFULNESS),
    ),
    Category(
        "contract",
        "Output Contract Reliability",
        "is the output usable at all?",
        (Metric.JSON_PARSE, Metric.JSON_PASS, Metric.TYPE_SAFETY),
    ),
    Category(
        "strict", "Strict Precision", "is the whole answer right?", (Metric.PERFECT,)
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSummary:
    """One model on one source: the means of its metrics with their intervals."""

    model: str
    source: str
    #: How many records were answered and scored.
    records: int
    #: Every record counts the same.
    plain: Mapping[Metric, Estimate]
    #: Every record counts by its complexity; None if no record has a weight.
    weighted: Mapping[Metric, Estimate] | None

    @property
    def means(self) -> Mapping[Metric, Estimate]:
        """The weighted means; the plain ones if no record has a weight."""
        return self.weighted or self.plain


def summarise(
    model: str,
    source: str,
    responses: Sequence[ScoredResponse],
    weights: Mapping[str, float],
) -> SourceSummary:
    """Return the means of one model's answers on one source.

    The intervals are percentiles over 1,000 resamples with the seed 42, and 43 for the
    weighted means, as the authors' are; their generator of random numbers is not
    published, so that the last digits differ.

    Args:
        model: The model.
        source: The source.
        responses: Its answers, one at least.
        weights: The weight of each record; missing ones weigh nothing.
    """
    values = np.array(
        [[figure(response, name) for name in Metric] for response in responses]
    )
    heavy = np.array([weights.get(response.record, 0.0) for response in responses])
    names = [response.cluster for response in responses]
    clusters = np.unique(names, return_inverse=True)[1]
    return SourceSummary(
        model=model,
        source=source,
        records=len({response.record for response in responses}),
        plain=_means(values, np.ones(len(responses)), clusters, SEED),
        weighted=_means(values, heavy, clusters, SEED + 1) if heavy.sum() else None,
    )


def _means(
    values: np.ndarray, weights: np.ndarray, clusters: np.ndarray, seed: int
) -> Mapping[Metric, Estimate]:
    means = (weights @ values) / weights.sum()
    intervals = bootstrap_means(
        values, weights, clusters=clusters, resamples=RESAMPLES, seed=seed
    )
    return {
        metric: Estimate(float(mean), interval)
        for metric, mean, interval in zip(Metric, means, intervals, strict=True)
    }


def totals_of(records: Iterable[tuple[str, float]]) -> dict[str, SourceTotal]:
    """Return the totals by source of pairs of a record's source and weight."""
    totals: dict[str, SourceTotal] = {}
    for source, weight in records:
        before = totals.get(source, SourceTotal(0, 0.0))
        totals[source] = SourceTotal(before.records + 1, before.weight + weight)
    return totals


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One model's line of the leaderboard."""

    model: str
    #: Overall (Raw) times coverage: the sort key of the board (equation 7).
    overall: float
    #: Mean of the available metrics (equation 6).
    raw: float
    #: Share of the data set's records that were answered.
    coverage: float
    #: Each of the seven over its sources (equations 4 and 5), if it has any.
    metrics: Mapping[Metric, float]


def standings(
    summaries: Iterable[SourceSummary],
    totals: Mapping[str, SourceTotal],
    *,
    counted_coverage: bool,
) -> list[Standing]:
    """Return the leaderboard, the best first (section 6.1, equations 4 to 7).

    Args:
        summaries: Every model on every source that it answered.
        totals: The data set's sources; a source that is not one of them is left out.
        counted_coverage: Whether coverage counts answered records. Else a source
            counts as a whole as soon as it has any summary.
    """
    by_model: dict[str, dict[str, SourceSummary]] = {}
    for summary in summaries:
        if summary.source in totals:
            by_model.setdefault(summary.model, {})[summary.source] = summary
    board = [
        _standing(model, sources, totals, counted=counted_coverage)
        for model, sources in by_model.items()
    ]
    return sorted(
        board,
        key=lambda line: (
            -round(line.overall, _DIGITS),
            -line.metrics.get(Metric.VALUE_ACCURACY, 0.0),
            line.model,
        ),
    )


def _standing(
    model: str,
    sources: Mapping[str, SourceSummary],
    totals: Mapping[str, SourceTotal],
    *,
    counted: bool,
) -> Standing:
    metrics: dict[Metric, float] = {}
    for metric in SEVEN:
        mean = _over_sources(metric, sources, totals)
        if mean is not None:
            metrics[metric] = mean
    raw = sum(metrics.values()) / len(metrics) if metrics else 0.0
    answered = sum(
        min(summary.records, totals[source].records)
        if counted
        else totals[source].records
        for source, summary in sources.items()
    )
    coverage = answered / sum(total.records for total in totals.values())
    return Standing(
        model=model, overall=raw * coverage, raw=raw, coverage=coverage, metrics=metrics
    )


def _over_sources(
    metric: Metric,
    sources: Mapping[str, SourceSummary],
    totals: Mapping[str, SourceTotal],
) -> float | None:
    """Return a metric's mean, each source by its weight; None without a source."""
    means = {
        source: summary.means[metric].value
        for source, summary in sources.items()
        if metric in summary.means
        and (metric is not Metric.PERFECT or source in PERFECT_SOURCES)
    }
    weight = sum(totals[source].weight for source in means)
    if not weight:
        return None
    return sum(totals[source].weight * mean for source, mean in means.items()) / weight


def figure(response: ScoredResponse, name: str) -> float:
    """Return a figure of one response; 0 if scoring failed."""
    return response.verdict.scores.get(name, 0.0)

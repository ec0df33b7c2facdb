"""One ranking over all sources (the paper's section 6.1, equations 4 to 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evaluation.suites.sob.metrics.names import SEVEN, Metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evaluation.suites.sob.leaderboard.weights import SourceTotal

#: Perfect Response is not reported for audio (equation 5).
PERFECT_SOURCES: Final = frozenset({"text", "image"})
# Ties are told apart by four digits of Overall, as in the authors' table.
_DIGITS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMeans:
    """The weighted means of one model on one source, wherever they come from."""

    model: str
    source: str
    records: int
    metrics: Mapping[Metric, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One model's line of the leaderboard."""

    model: str
    #: Overall (Raw) times coverage: what the board is sorted by (equation 7).
    overall: float
    #: Mean of the metrics that there are (equation 6).
    raw: float
    #: Share of the data set's records that were answered.
    coverage: float
    #: Each of the seven over its sources (equations 4 and 5), where there is one.
    metrics: Mapping[Metric, float]
    #: Records that were answered, by source.
    records: Mapping[str, int]


def standings(
    summaries: Iterable[SourceMeans],
    totals: Mapping[str, SourceTotal],
    *,
    counted_coverage: bool,
) -> list[Standing]:
    """Return the leaderboard, the best first.

    Args:
        summaries: Every model on every source that it was asked about.
        totals: The data set's sources; a source that is not one of them is left out.
        counted_coverage: Whether coverage counts answered records. Else a source
            counts as a whole as soon as there is any summary of it.

    Raises:
        ValueError: one model has two summaries of one source.
    """
    by_model: dict[str, dict[str, SourceMeans]] = {}
    for summary in summaries:
        sources = by_model.setdefault(summary.model, {})
        if summary.source in sources:
            raise ValueError((summary.model, summary.source))
        if summary.source in totals:
            sources[summary.source] = summary
    board = [
        _standing(model, sources, totals, counted=counted_coverage)
        for model, sources in by_model.items()
        if sources
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
    sources: Mapping[str, SourceMeans],
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
    records = {source: summary.records for source, summary in sources.items()}
    answered = sum(
        min(count, totals[source].records) if counted else totals[source].records
        for source, count in records.items()
    )
    coverage = answered / sum(total.records for total in totals.values())
    return Standing(
        model=model,
        overall=raw * coverage,
        raw=raw,
        coverage=coverage,
        metrics=metrics,
        records=records,
    )


def _over_sources(
    metric: Metric,
    sources: Mapping[str, SourceMeans],
    totals: Mapping[str, SourceTotal],
) -> float | None:
    """Return a metric's mean, each source by its weight; None where there is none."""
    there = {
        source: summary.metrics[metric]
        for source, summary in sources.items()
        if metric in summary.metrics
        and (metric is not Metric.PERFECT or source in PERFECT_SOURCES)
    }
    weight = sum(totals[source].weight for source in there)
    if not weight:
        return None
    return sum(totals[source].weight * mean for source, mean in there.items()) / weight

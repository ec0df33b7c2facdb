"""The seven metrics by source, their intervals, the categories, the leaderboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.reporting.tables import NOT_RUN, Table
from evaluation.results.suite_tables import reading
from evaluation.suites.sob.metrics.names import (
    CATEGORIES,
    SEVEN,
    TITLES,
    Category,
    Metric,
)

if TYPE_CHECKING:
    from evaluation.reporting.tables import Cell
    from evaluation.suites.sob.leaderboard.source_summary import Mean, SourceSummary
    from evaluation.suites.sob.report.figures import RunFigures

_WEIGHTS = "weighted by the schema's complexity (medium 2, hard 3)"
_SHORT = {
    Metric.VALUE_ACCURACY: "value",
    Metric.FAITHFULNESS: "faithful",
    Metric.JSON_PASS: "pass",
    Metric.PATH_RECALL: "recall",
    Metric.STRUCTURE_COVERAGE: "coverage",
    Metric.TYPE_SAFETY: "types",
    Metric.PERFECT: "perfect",
}
_SHORT_CATEGORY = {
    Category.LONG_CONTEXT: "long context",
    Category.COMPLEX_SCHEMA: "schema",
    Category.MULTI_CONTEXT: "linking",
    Category.OUTPUT_CONTRACT: "contract",
    Category.STRICT_PRECISION: "strict",
}


def leaderboard_table(figures: RunFigures) -> Table:
    """Return one line a model, over all sources."""
    sizes = ", ".join(
        f"{source} {total.records:,}" for source, total in figures.totals.items()
    )
    kind = "a source counts whole" if figures.is_published else "records answered"
    return Table(
        title="Leaderboard",
        columns=("model", "overall", "raw", "of all", *_SHORT.values()),
        rows=tuple(
            (
                line.model,
                line.overall,
                line.raw,
                line.coverage,
                *(line.metrics.get(metric) for metric in SEVEN),
            )
            for line in figures.standings
        ),
        note=f"Sorted by overall = raw x of all; raw: mean of the seven; of all: share "
        f"of the set's records ({sizes}; {kind}). Each metric is {_WEIGHTS}, its "
        f"sources by their weight; perfect without audio. {reading(figures.run)}",
        name="leaderboard",
    )


def source_table(figures: RunFigures) -> Table:
    """Return the seven metrics of each model on each source."""
    rows: list[tuple[Cell, ...]] = []
    for summary in figures.summaries:
        means = summary.weighted or summary.plain
        rows.append(
            (
                summary.source,
                summary.model,
                summary.records,
                *(means.metrics[metric].value for metric in SEVEN),
            )
        )
    rows.sort(key=lambda row: str(row[0]), reverse=True)
    explained = "; ".join(
        f"{short}: {metric.explanation}" for metric, short in _SHORT.items()
    )
    return Table(
        title="The seven metrics by source",
        columns=("source", "model", "records", *_SHORT.values()),
        rows=tuple(rows),
        note=f"Means {_WEIGHTS}. {explained}.",
        name="sources",
    )


def interval_table(figures: RunFigures) -> Table:
    """Return Value Accuracy, plain and weighted, with its intervals."""
    rows: list[tuple[Cell, ...]] = []
    for summary in figures.summaries:
        plain = summary.plain.metrics[Metric.VALUE_ACCURACY]
        heavy = summary.weighted
        weighted = heavy.metrics[Metric.VALUE_ACCURACY] if heavy else None
        rows.append(
            (summary.source, summary.model, *_spread(plain), *_spread(weighted))
        )
    return Table(
        title="Value Accuracy with its 95 % intervals",
        columns=(
            *("source", "model", "plain", "low", "high"),
            *("weighted", "weighted low", "weighted high"),
        ),
        rows=tuple(rows),
        note="Percentile bootstrap over records, 1,000 resamples.",
        name="intervals",
    )


def _spread(mean: Mean | None) -> tuple[Cell, Cell, Cell]:
    if mean is None:
        return (NOT_RUN, None, None)
    between = mean.interval
    if between is None:
        return (mean.value, None, None)
    return (mean.value, between.low, between.high)


def category_table(figures: RunFigures) -> Table:
    """Return the five categories of each model on each source."""
    explained = "; ".join(
        f"{_SHORT_CATEGORY[category]}: {category}, {category.explanation} "
        f"({', '.join(TITLES[metric] for metric in CATEGORIES[category])})"
        for category in Category
    )
    return Table(
        title="The five categories",
        columns=("source", "model", *_SHORT_CATEGORY.values()),
        rows=tuple(
            (
                summary.source,
                summary.model,
                *(_category(summary, category) for category in Category),
            )
            for summary in figures.summaries
        ),
        note=f"Means {_WEIGHTS}. {explained}.",
        name="categories",
    )


def _category(summary: SourceSummary, category: Category) -> float:
    means = summary.weighted or summary.plain
    return means.categories[category].value

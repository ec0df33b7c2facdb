"""The report of a run: the benchmark's tables first, then what is reported apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.reporting.charts import Point, points
from evaluation.reporting.report import Report
from evaluation.results.suite_tables import classes_table, costs
from evaluation.suites.sob.metrics.names import Metric
from evaluation.suites.sob.mistakes.classes import Mistake
from evaluation.suites.sob.report.apart_tables import (
    lenient_table,
    paired_table,
)
from evaluation.suites.sob.report.figures import RunFigures
from evaluation.suites.sob.report.mistake_tables import (
    breakdown_table,
    depth_table,
    leaf_table,
    path_table,
    quality_table,
)
from evaluation.suites.sob.report.score_tables import (
    category_table,
    interval_table,
    leaderboard_table,
    source_table,
)

if TYPE_CHECKING:
    from evaluation.core.suite import ScoredRun
    from evaluation.reporting.report import Plot
    from evaluation.reporting.statistics import Interval


def report(run: ScoredRun) -> Report:
    """Return the tables and plots of a scored run, of one model or of several."""
    figures = RunFigures(run)
    tables = (
        leaderboard_table(figures),
        source_table(figures),
        interval_table(figures),
        category_table(figures),
        paired_table(run),
        lenient_table(run),
        classes_table(run, {kind.value: kind.explanation for kind in Mistake}),
        leaf_table(run),
        depth_table(run),
        breakdown_table(run),
        path_table(run),
        quality_table(run),
        costs(run),
    )
    return Report(
        tables=tuple(table for table in tables if table.rows),
        plots=tuple(_plots(figures)),
    )


def _plots(figures: RunFigures) -> list[Plot]:
    """Return a plot a source: JSON pass against Value Accuracy (the paper's Fig. 2)."""
    plots = []
    for source in figures.totals:
        found = {}
        for summary in figures.summaries:
            if summary.source == source:
                passed = summary.plain.metrics[Metric.JSON_PASS]
                value = summary.plain.metrics[Metric.VALUE_ACCURACY]
                found[summary.model] = Point(
                    x=passed.value,
                    y=value.value,
                    x_interval=_ends(passed.interval),
                    y_interval=_ends(value.interval),
                )
        if found:
            plots.append(
                points(
                    f"pass-and-value-{source}",
                    f"Valid JSON is not right JSON: {source}",
                    found,
                    x_label="JSON pass",
                    y_label="Value Accuracy",
                )
            )
    return plots


def _ends(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.low, interval.high)

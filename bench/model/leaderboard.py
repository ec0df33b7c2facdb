"""Measure how long SOB's leaderboard takes: every record of every model of the paper.

34 models answer 5,000 texts, 209 images and 115 meetings; figures are drawn, seeded.
What is timed is what `csbdata suite sob report` does with them: means, plain and
weighted, with their bootstrap intervals, five categories, and the ranking.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

from evaluation.suites.sob.leaderboard import (
    PUBLISHED_TOTALS,
    RecordFigures,
    SourceMeans,
    standings,
    summarise,
)
from evaluation.suites.sob.metrics import Metric

if TYPE_CHECKING:
    import argparse

    from evaluation.suites.sob.leaderboard import SourceSummary


def add_options(parser: argparse._ArgumentGroup) -> None:
    """Declare the options of this part."""
    parser.add_argument("--models", type=int, default=34)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds of aggregation."""
    drawn = _figures()
    started, processor = time.perf_counter(), time.process_time()
    summaries = [
        summarise(f"model {number}", source, figures)
        for number in range(options.models)
        for source, figures in drawn.items()
    ]
    board = standings(map(_means, summaries), PUBLISHED_TOTALS, counted_coverage=True)
    return {
        "models": len(board),
        "records": sum(len(figures) for figures in drawn.values()),
        "seconds": round(time.perf_counter() - started, 2),
        "processor_seconds": round(time.process_time() - processor, 2),
    }


def _figures() -> dict[str, list[RecordFigures]]:
    draw = random.Random(0)  # noqa: S311 - made data
    return {
        source: [
            RecordFigures(
                weight=float(draw.choice((2, 3))),
                values={metric: draw.random() for metric in Metric},
            )
            for _ in range(total.records)
        ]
        for source, total in PUBLISHED_TOTALS.items()
    }


def _means(summary: SourceSummary) -> SourceMeans:
    means = summary.weighted or summary.plain
    return SourceMeans(
        model=summary.model,
        source=summary.source,
        records=summary.records,
        metrics={metric: mean.value for metric, mean in means.metrics.items()},
    )

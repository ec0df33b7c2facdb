"""Measure how long SOB's leaderboard takes: every record of every model of the paper.

34 models answer 5,000 texts, 209 images and 115 meetings; figures are drawn, seeded.
What is timed is what `csbdata suite sob report` does with them: means, plain and
weighted, with their bootstrap intervals, five categories, and the ranking.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

from evaluation.core.records import Verdict
from evaluation.core.suite import ScoredResponse
from evaluation.suites.sob.leaderboard import PUBLISHED_TOTALS, standings, summarise
from evaluation.suites.sob.metrics import Metric

if TYPE_CHECKING:
    import argparse


def add_options(parser: argparse._ArgumentGroup) -> None:
    """Declare the options of this part."""
    parser.add_argument("--models", type=int, default=34)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds of aggregation."""
    drawn = _responses()
    draw = random.Random(1)  # noqa: S311 - made data
    weights = {
        one.record: draw.choice((2.0, 3.0)) for side in drawn.values() for one in side
    }
    started, processor = time.perf_counter(), time.process_time()
    summaries = [
        summarise(f"model {number}", source, responses, weights)
        for number in range(options.models)
        for source, responses in drawn.items()
    ]
    board = standings(summaries, PUBLISHED_TOTALS, counted_coverage=True)
    return {
        "models": len(board),
        "records": sum(len(responses) for responses in drawn.values()),
        "seconds": round(time.perf_counter() - started, 2),
        "processor_seconds": round(time.process_time() - processor, 2),
    }


def _responses() -> dict[str, list[ScoredResponse]]:
    draw = random.Random(0)  # noqa: S311 - made data
    return {
        source: [
            ScoredResponse(
                record=f"{source}/{place}",
                group=source,
                repeat=0,
                model="m",
                condition="free",
                verdicts=(
                    Verdict(
                        passed=False,
                        failure_class="value",
                        scores={str(metric): draw.random() for metric in Metric},
                    ),
                ),
            )
            for place in range(total.records)
        ]
        for source, total in PUBLISHED_TOTALS.items()
    }

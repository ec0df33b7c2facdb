"""Fresh is the first text under a grammar, warm are those after it."""

from __future__ import annotations

from evaluation.reporting.tables import Duration, Ratio
from evaluation.tasks.masks.report import WarmTimes
from tests.evaluation.made_runs import accepted, row


def test_both_times_are_medians_over_schemas() -> None:
    """Of the schemas with two texts; the ratio is the median of theirs."""
    times = WarmTimes()
    for fresh, *warm in ((100, 50), (100, 40, 60), (100, 300), (100,)):
        times.add(row(walks=[accepted(fresh), *map(accepted, warm)]))
    (line,) = times.table().rows
    assert line == ("alpha 1.0", 3, Duration(100), Duration(50), Ratio(0.5), 1)


def test_an_engine_without_two_texts_has_no_line() -> None:
    """Nothing was measured that could be compared."""
    times = WarmTimes()
    times.add(row(walks=[accepted(100)]))
    times.add(row(walks=[]))
    assert times.table().rows == ()

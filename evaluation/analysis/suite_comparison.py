"""Runs of a suite compared: models and conditions on the records that both answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.results.suite_pairs import (
    PairedSides,
    changed_classes,
    pair_sides,
    paired_rates,
    paired_times,
    time_ratios,
)
from evaluation.results.suite_rows import RecordedSuiteRun, is_suite_run, scored_run
from evaluation.results.suite_tables import pass_rates

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluation.analysis.paired_engines import ComparedEngine, PairedEngines
    from evaluation.core.suite import ScoredResponse
    from evaluation.reporting.tables import Ratio, Table


def is_of_suites(pairs: Sequence[PairedEngines]) -> bool:
    """Return whether all that is compared comes of runs of suites."""
    return all(
        is_suite_run(side.run.raw_header) for pair in pairs for side in (pair.a, pair.b)
    )


def suite_comparison(pairs: Sequence[PairedEngines], suite: str) -> Iterator[Table]:
    """Yield the tables of one suite's comparison.

    Args:
        pairs: Which sides are compared.
        suite: The suite's name.
    """
    sides: dict[str, Sequence[ScoredResponse]] = {}
    for pair in pairs:
        for side in (pair.a, pair.b):
            if side.label not in sides:
                sides[side.label] = _answers(side, suite)
    paired = pair_sides(sides, [(pair.a.label, pair.b.label) for pair in pairs])
    yield paired_rates(paired)
    facts = pairs[0].a.run.raw_header["suite"]
    yield pass_rates(RecordedSuiteRun(facts=facts, by_label=sides))
    for table in (paired_times(paired), changed_classes(paired)):
        if table.rows:
            yield table


def suite_time_ratio(pair: PairedEngines, suite: str) -> Ratio | None:
    """Return how many times as long an answer of b takes as one of a."""
    sides = {"a": _answers(pair.a, suite), "b": _answers(pair.b, suite)}
    paired: list[PairedSides] = pair_sides(sides)
    return time_ratios(paired)[0]


def _answers(side: ComparedEngine, suite: str) -> Sequence[ScoredResponse]:
    run = scored_run(side.run, suite, side.run.raw_header)
    return run.by_label.get(side.engine, ())

"""Two engines, or two runs, on the same schemas: paired, never side by side alone.

A pair of engines is compared on what both were asked: the same task, config and id.
Shares are compared by McNemar's exact test and a bootstrapped difference, times by
the geometric mean of their ratios; p-values are Holm's, over all pairs of a table.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from evaluation.analysis.paired_times import times_tables
from evaluation.reporting.bootstrap import mean_difference
from evaluation.reporting.statistics import holm, mcnemar
from evaluation.reporting.tables import Cell, Rate, Shift, Table
from evaluation.results.completeness import gaps_of
from evaluation.results.conditions import differences
from evaluation.results.measurements import compiled_by_all
from evaluation.results.overview import coverage, latency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evaluation.analysis.paired_engines import ComparedEngine, PairedEngines
    from evaluation.results.measurements import (
        CaseMeasurement,
    )
    from evaluation.results.reader import RecordedRun

_SHARE_NOTE = (
    "Schemas that have instances and that both were asked. difference: b - a, with a "
    "95 % interval by bootstrap over schemas. p: McNemar's exact test on the schemas "
    "that only one passes; adjusted: Holm's, for all lines of the table."
)
_COMPILE_NOTE = _SHARE_NOTE.replace(" that have instances and", "").replace(
    "passes", "compiles"
)


def comparison(
    engines: Sequence[ComparedEngine], pairs: Sequence[PairedEngines]
) -> Iterator[Table]:
    """Yield the tables of one task's comparison, the one that decides first."""
    cases = {engine.label: engine.cases for engine in engines}
    tested = [pair for pair in map(_tested, pairs) if pair.cases]
    asked = [pair for pair in pairs if pair.cases]
    if tested:
        yield _shares("passes", tested, lambda case: case.passed, _SHARE_NOTE)
    if asked:
        yield _shares("compiles", asked, lambda case: case.compiled, _COMPILE_NOTE)
    yield coverage(cases)
    yield from times_tables(pairs)
    yield from latency(cases, ", all schemas")
    count, shared = compiled_by_all(cases)
    yield from latency(shared, f", the {count:,} schemas that all compile")
    moved = changes(pairs)
    if moved.rows:
        yield moved


def _tested(pair: PairedEngines) -> PairedEngines:
    cases = [(a, b) for a, b in pair.cases if a.has_instances and b.has_instances]
    return replace(pair, cases=cases)


def _shares(
    verb: str,
    pairs: Sequence[PairedEngines],
    good: Callable[[CaseMeasurement], bool],
    note: str,
) -> Table:
    counted = [Counter((good(a), good(b)) for a, b in pair.cases) for pair in pairs]
    ps = {
        place: mcnemar(counts[True, False], counts[False, True])
        for place, counts in enumerate(counted)
        if counts
    }
    adjusted = holm(ps)
    rows: list[tuple[Cell, ...]] = []
    for place, (pair, counts) in enumerate(zip(pairs, counted, strict=True)):
        only_a, only_b = counts[True, False], counts[False, True]
        both, of = counts[True, True], counts.total()
        rows.append(
            (
                pair.a.label,
                pair.b.label,
                Rate(both + only_a, of),
                Rate(both + only_b, of),
                only_a,
                only_b,
                _difference(pair, good),
                ps.get(place),
                adjusted.get(place),
            )
        )
    shares = (f"a {verb}", f"b {verb}", "only a", "only b", "difference")
    return Table(
        title=f"What {verb}, paired",
        columns=("a", "b", *shares, "p", "p adjusted"),
        rows=tuple(rows),
        note=note,
    )


def _difference(pair: PairedEngines, good: Callable[[CaseMeasurement], bool]) -> Cell:
    found = mean_difference(
        [float(good(a)) for a, _ in pair.cases], [float(good(b)) for _, b in pair.cases]
    )
    return None if found is None else Shift(found.value, found.interval)


def changes(pairs: Sequence[PairedEngines]) -> Table:
    """Return how often which outcome of a is which other outcome of b."""
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        moved = Counter(
            (a.outcome, b.outcome) for a, b in pair.cases if a.outcome != b.outcome
        )
        rows += [
            (
                pair.a.label,
                pair.b.label,
                before.replace("_", " "),
                after.replace("_", " "),
                Rate(count, len(pair.cases)),
            )
            for (before, after), count in sorted(
                moved.items(), key=lambda change: (-change[1], change[0])
            )
        ]
    return Table(
        title="Other outcomes on the same schema",
        columns=("a", "b", "of a", "of b", "schemas"),
        rows=tuple(rows),
    )


def objections(runs: Sequence[RecordedRun]) -> list[str]:
    """Return why the runs are not wholly comparable, a line each; empty if they are.

    What is objected to is what keeps runs from being joined: gaps, and conditions that
    they do not share.
    """
    first = runs[0]
    gaps = [f"{run.folder.name}: {gap}" for run in runs for gap in gaps_of(run)]
    return gaps + [
        f"{run.folder.name} and {first.folder.name} differ in {difference}: "
        f"{difference.condition.consequence}"
        for run in runs[1:]
        for difference in differences(first.raw_header, run.raw_header)
    ]

"""Two engines, or two runs, on the same schemas: paired, never side by side alone.

A pair of engines is compared on what both were asked: the same task, config and id.
Shares are compared by McNemar's exact test and a bootstrapped difference, times by
the geometric mean of their ratios; p-values are Holm's, over all pairs of a table.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations
from math import log
from statistics import geometric_mean, median
from typing import TYPE_CHECKING, Final

from evaluation.reporting.bootstrap import geometric_ratio, mean_difference
from evaluation.reporting.noise import Noise, widened
from evaluation.reporting.statistics import holm, mcnemar
from evaluation.reporting.tables import Cell, Rate, Ratio, Shift, Table
from evaluation.results.completeness import gaps_of
from evaluation.results.conditions import differences
from evaluation.results.measurements import compiled_by_all, measure_run
from evaluation.results.noise_table import ASSUMED_DEVIATIONS, TIMES, times_taken
from evaluation.results.overview import coverage, latency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evaluation.results.measurements import (
        CaseMeasurement,
        Criterion,
        RepetitionTimes,
    )
    from evaluation.results.reader import RecordedRun

#: How many times the machine's own difference between two runs may be in a ratio.
DRIFT_REACH: Final = 2.0
_SHARE_NOTE = (
    "Schemas that have instances and that both were asked. difference: b - a, with a "
    "95 % interval by bootstrap over schemas. p: McNemar's exact test on the schemas "
    "that only one passes; adjusted: Holm's, for all lines of the table."
)
_COMPILE_NOTE = _SHARE_NOTE.replace(" that have instances and", "").replace(
    "passes", "compiles"
)
_TIME_NOTE = (
    "Geometric mean of b / a over the schemas that both compile: below 1 b is faster. "
    "Of each schema the mean of its repetitions, without waits of a process for its "
    "core; between masks: of each schema's mean, without near misses of length bounds. "
    "The 95 % interval is by bootstrap over schemas, widened by what lies between "
    "processes of one engine (with few --repeats, by what was measured before) and, of "
    "two runs, by how much longer the same work took in b's (machine)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedEngine:
    """One engine in one run, on one task."""

    label: str
    run: RecordedRun
    engine: str
    cases: Sequence[CaseMeasurement]

    @property
    def measurements_by_case(self) -> Mapping[tuple[str, str], CaseMeasurement]:
        """Its cases by config and id."""
        return {case.case_key: case for case in self.cases}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedEngines:
    """Two engines, and the cases that both were asked."""

    a: ComparedEngine
    b: ComparedEngine
    #: Cases of a and b with the same config and id, in order.
    cases: Sequence[tuple[CaseMeasurement, CaseMeasurement]]


def criterion_of(task: str) -> Criterion | None:
    """Return what the task says of a row; None where its outcome decides.

    A task that is not installed here has no criterion.
    """
    from evaluation.tasks.registry import tasks  # noqa: PLC0415 (imports every task)

    return tasks()[task].passes if task in tasks() else None


def compared_engines(runs: Sequence[RecordedRun], task: str) -> list[ComparedEngine]:
    """Return every engine of every run that has cases of a task.

    The task's own criterion says which cases pass. An engine that is in several runs
    has the run's name in its label.
    """
    passes = criterion_of(task)
    found = [
        (run, engine, cases)
        for run in runs
        for engine, cases in measure_run(run, task, passes).items()
    ]
    names = Counter(engine for _, engine, _ in found)
    return [
        ComparedEngine(
            label=engine if names[engine] == 1 else f"{run.folder.name}: {engine}",
            run=run,
            engine=engine,
            cases=cases,
        )
        for run, engine, cases in found
    ]


def pair_engines(a: ComparedEngine, b: ComparedEngine) -> PairedEngines:
    """Return two engines with the cases that both were asked."""
    first, second = a.measurements_by_case, b.measurements_by_case
    cases = [(first[key], second[key]) for key in first if key in second]
    return PairedEngines(a=a, b=b, cases=cases)


def all_pairs(engines: Sequence[ComparedEngine]) -> list[PairedEngines]:
    """Return every engine with every other, in their order."""
    return [pair_engines(a, b) for a, b in combinations(engines, 2)]


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
    yield from _times(pairs)
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


def ratios(pair: PairedEngines) -> dict[str, Ratio | None]:
    """Return b / a for each kind of time, over the schemas that both compile.

    Intervals hold what schemas drawn anew would change, what lies between processes of
    one engine, and where the two are of different runs, by how much the machine took
    longer for the same work.
    """
    compiled = [(a, b) for a, b in pair.cases if a.compiled and b.compiled]
    drift = machine_ratio(pair)
    return {
        name: _ratio(compiled, time, ASSUMED_DEVIATIONS[name], drift)
        for name, time in TIMES.items()
    }


def _ratio(
    cases: Iterable[tuple[CaseMeasurement, CaseMeasurement]],
    time: Callable[[RepetitionTimes], float | None],
    assumed: float,
    drift: float | None,
) -> Ratio | None:
    known = [
        (first, second)
        for a, b in cases
        if (first := times_taken(a, time)) and (second := times_taken(b, time))
    ]
    sides = [first for first, _ in known], [second for _, second in known]
    a, b = ([geometric_mean(case) for case in side] for side in sides)
    found = geometric_ratio(a, b)
    if found is None:
        return None
    if found.interval is None:
        return Ratio(found.value)
    processes = [max(map(len, side)) for side in sides]
    reaches = [Noise.of(sides, assumed).reach(processes)]
    if drift is not None:
        reaches.append(DRIFT_REACH * abs(log(drift)))
    return Ratio(found.value, widened(found.value, found.interval, *reaches))


def machine_ratio(pair: PairedEngines) -> float | None:
    """Return how many times as long the same work took in b's run as in a's.

    None within one run, where both took turns, and where it was not measured.
    """
    if pair.a.run is pair.b.run:
        return None
    a, b = (
        [
            taken.reference_ns
            for cases in pair.cases
            for taken in cases[side].repetitions
            if taken.reference_ns
        ]
        for side in (0, 1)
    )
    return median(b) / median(a) if a and b else None


def _times(pairs: Sequence[PairedEngines]) -> Iterator[Table]:
    rows: list[tuple[Cell, ...]] = [
        (
            pair.a.label,
            pair.b.label,
            sum(a.compiled and b.compiled for a, b in pair.cases),
            *ratios(pair).values(),
            _machine(pair),
        )
        for pair in pairs
    ]
    if any(cell is not None for row in rows for cell in row[3:]):
        yield Table(
            title="Times, paired",
            columns=("a", "b", "schemas", *TIMES, "machine"),
            rows=tuple(rows),
            note=_TIME_NOTE,
        ).without_empty_columns()


def _machine(pair: PairedEngines) -> Ratio | None:
    found = machine_ratio(pair)
    return None if found is None else Ratio(found)


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

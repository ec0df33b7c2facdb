"""Compare engines and runs on the schemas that both were asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations, zip_longest
from typing import TYPE_CHECKING

from curation.system.errors import BadConfiguration, NoInput
from curation.system.words import counted
from evaluation.analysis.paired_times import PairedTime, paired_times, times_tables
from evaluation.analysis.regression_gate import (
    BaselineComparison,
    ComparedEngine,
    PairedEngines,
    all_pairs,
    compare_with_baseline,
    compared_engines,
    gate_table,
    is_timed,
    match_baselines,
    moved_table,
)
from evaluation.reporting.statistics import mcnemar
from evaluation.results.conditions import differences
from evaluation.results.overview import coverage, latency
from evaluation.results.reader import RecordedRun, gaps_of, run_names
from evaluation.results.suite_pairs import (
    PairedShares,
    PairedSides,
    changed_classes,
    changes_table,
    pair_sides,
    paired_rates,
    shares_table,
    time_ratios,
)
from evaluation.results.suite_pairs import paired_times as paired_suite_times
from evaluation.results.suite_rows import RecordedSuiteRun, is_suite_run, scored_run
from evaluation.results.suite_tables import pass_rates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evaluation.core.suite import ScoredResponse
    from evaluation.reporting.tables import Ratio, Table
    from evaluation.results.measurements import CaseMeasurement


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
    for table in (paired_suite_times(paired), changed_classes(paired)):
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


_SHARE_NOTE = (
    "Schemas that have instances and that both were asked. difference: b - a, with a "
    "95 % interval by bootstrap over schemas. p: McNemar's exact test on the schemas "
    "that only one passes. p adjusted: Holm's, for all lines of the table."
)
_COMPILE_NOTE = _SHARE_NOTE.replace(" that have instances and", "").replace(
    "passes", "compiles"
)


def comparison(pairs: Sequence[PairedEngines], task: str) -> Iterator[Table]:
    """Yield the tables of one task's comparison, the one that decides first.

    Args:
        pairs: Which engines are compared.
        task: The task; times are compared only if they are results of it.
    """
    cases = {side.label: side.cases for pair in pairs for side in (pair.a, pair.b)}
    yield from paired_shares(pairs)
    yield coverage(cases)
    if is_timed(task):
        yield from times_tables(pairs)
        yield from latency(cases)
    moved = changes(pairs)
    if moved.rows:
        yield moved


def paired_shares(pairs: Sequence[PairedEngines]) -> Iterator[Table]:
    """Yield what passes and what compiles, paired; nothing that was not asked."""
    tested = [pair for pair in map(_tested, pairs) if pair.cases]
    measured = [pair for pair in pairs if pair.cases]
    if tested:
        yield _shares("passes", tested, lambda case: case.passed, _SHARE_NOTE)
    if measured:
        yield _shares("compiles", measured, lambda case: case.compiled, _COMPILE_NOTE)


def _tested(pair: PairedEngines) -> PairedEngines:
    cases = [(a, b) for a, b in pair.cases if a.has_instances and b.has_instances]
    return replace(pair, cases=cases)


def _shares(
    verb: str,
    pairs: Sequence[PairedEngines],
    good: Callable[[CaseMeasurement], bool],
    note: str,
) -> Table:
    compared = []
    for pair in pairs:
        cases = [(a.case_key, good(a), good(b)) for a, b in pair.cases]
        counts = Counter((own, other) for _, own, other in cases)
        p = mcnemar(counts[True, False], counts[False, True])
        compared.append(PairedShares(pair.a.label, pair.b.label, cases, p))
    return shares_table(f"What {verb}, paired", verb, compared, note)


def changes(pairs: Sequence[PairedEngines]) -> Table:
    """Return how often which outcome of a is which other outcome of b."""
    return changes_table(
        "Other outcomes on the same schema",
        [
            (
                pair.a.label,
                pair.b.label,
                [(a.case_key, _outcome(a), _outcome(b)) for a, b in pair.cases],
            )
            for pair in pairs
        ],
        "schemas",
    )


def _outcome(case: CaseMeasurement) -> str:
    return case.outcome.replace("_", " ")


def objections(runs: Sequence[RecordedRun]) -> list[str]:
    """Return why the runs are not comparable, a line each: gaps and conditions."""
    names = run_names(runs)
    gaps = [f"{names[run.folder]}: {gap}" for run in runs for gap in gaps_of(run)]
    return gaps + [
        f"{names[run.folder]} and {names[first.folder]} differ in {difference}: "
        f"{difference.condition.consequence}"
        for first, run in combinations(runs, 2)
        for difference in differences(first.raw_header, run.raw_header)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRequest:
    """Which runs are compared, and when the regression gate holds."""

    runs: Sequence[RecordedRun]
    baseline: RecordedRun | None = None
    #: Empty for all that the runs have.
    tasks: Sequence[str] = ()
    #: Share of the baseline's cases that have to be no worse.
    percent: float = 100.0
    #: How many times as long as in the baseline any time may be; None for no limit.
    slower: float | None = None
    #: Most cases that moved to list; None for all.
    limit: int | None = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonResult:
    """The tables of a comparison, and whether the regression gate holds."""

    #: What the gate says, then the first of each task, the second of each, and so on.
    tables: Sequence[Table]
    #: Why the runs are not wholly comparable.
    objections: Sequence[str]
    #: Whether the gate holds; None without a baseline.
    holds: bool | None
    #: Why it does not.
    reason: str


def compare_runs(question: ComparisonRequest) -> ComparisonResult:
    """Compare all engines of all runs, or each with its baseline.

    Example:
        >>> runs = [open_run(Path("runs/old")), open_run(Path("runs/new"))]
        >>> result = compare_runs(ComparisonRequest(runs=runs, tasks=["masks"]))

    Raises:
        NoInput: there is no case of the tasks, or nothing to compare with.
        BadConfiguration: an engine has no baseline, or could have several.
    """
    every = [*([question.baseline] if question.baseline else []), *question.runs]
    by_task: list[list[Table]] = []
    gates: list[BaselineComparison] = []
    gone: list[str] = []
    tasks = question.tasks or sorted({t for run in every for t in run.tasks})
    for task in tasks:
        engines = compared_engines(every, task)
        if question.baseline is None:
            pairs = all_pairs(engines)
        else:
            own = _gates(question, engines, task)
            pairs = [comparison.pair for comparison in own]
            gates += own
            met = [gate.pair.a for gate in own]
            gone += [
                f"{it.label}, {task}: {counted(len(it.cases), 'case')} not run"
                for it in engines
                if it.run is question.baseline and it not in met
            ]
        if pairs:
            named = task if len(tasks) > 1 else ""
            compared = (
                suite_comparison(pairs, task)
                if is_of_suites(pairs)
                else comparison(pairs, task)
            )
            by_task.append([replace(table, task=named) for table in compared])
    if not by_task:
        raise NoInput(
            "no two engines have rows of one task",
            ", ".join(str(run.folder) for run in every),
            "give a second run, or --baseline",
        )
    verdicts: list[Table] = []
    if gates:
        verdicts = [gate_table(gates, question.percent)]
        moved = moved_table(gates, question.limit)
        if moved.rows:
            verdicts.append(moved)
    ranked = [table for each in zip_longest(*by_task) for table in each if table]
    failing = [
        f"{gate.pair.b.label} is no worse in {gate.no_worse}; "
        f"{len(gate.worse):,} worse, {len(gate.missing):,} not run"
        for gate in gates
        if not gate.holds(question.percent)
    ]
    failing += gone if question.percent else ()
    for gate in gates:
        failing += slowdowns(gate.pair, question.slower)
    if question.slower is not None and not any(map(is_timed, tasks)):
        failing.append(f"task {', '.join(tasks)} has no times to compare")
    return ComparisonResult(
        tables=[*verdicts, *ranked],
        objections=objections(every),
        holds=None if question.baseline is None else bool(gates) and not failing,
        reason="; ".join(failing) or "nothing was compared",
    )


def _gates(
    question: ComparisonRequest, every: Sequence[ComparedEngine], task: str
) -> list[BaselineComparison]:
    baselines = [engine for engine in every if engine.run is question.baseline]
    engines = [engine for engine in every if engine.run is not question.baseline]
    matched = match_baselines(baselines, engines)
    alone = {engine.label for engine in engines} - {
        engine.label for _, engine in matched
    }
    if alone:
        names = ", ".join(baseline.label for baseline in baselines) or "nothing"
        raise BadConfiguration(
            f"no one counterpart of {', '.join(sorted(alone))} in task {task}: "
            f"it has {names}",
            f"baseline {baselines[0].run.folder}" if baselines else "baseline",
            "make a baseline of the same engine, preset and task",
        )
    return [compare_with_baseline(a, b) for a, b in matched]


def slowdowns(pair: PairedEngines, most: float | None) -> list[str]:
    """Return the times whose whole 95 % interval of the ratio is above `most`.

    None of a task whose times are no results (`Task.timed`).
    Between two runs the ratio is taken at one speed of the machine, if that is known.
    """
    task = pair.cases[0][0].task if pair.cases else ""
    if most is None or not is_timed(task):
        return []
    times = paired_times(pair)
    if is_of_suites([pair]) and task:
        answer = suite_time_ratio(pair, task)
        times = {
            "for an answer": None if answer is None else PairedTime(measured=answer)
        }
    return [
        f"{pair.b.label} takes {time.judged} as long {name}{_as_measured(time)}"
        for name, time in times.items()
        if time is not None
        and time.judged.interval is not None
        and time.judged.interval.low > most
    ]


def _as_measured(time: PairedTime) -> str:
    if time.corrected is None:
        return ""
    return f" at one speed of the machine ({time.measured.value:.3g}x as measured)"

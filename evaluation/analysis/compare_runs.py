"""Compare engines and runs on the schemas that both were asked.

Engines are paired, and each pair has tables of what passes, of times and of outcomes
that differ. A run is also held against a baseline: another run, or a file of expected
outcomes. Whatever the baseline has and the run has not is a failure, never a pass.

Between two runs a ratio of times is divided by the ratio of calibration times.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from math import exp, inf
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import Final, NamedTuple, TypeAlias

import msgspec
import polars as pl

from curation.system.atomic_files import atomic_write_bytes
from curation.system.errors import BadData, BadUsage, NoInput
from curation.system.user_files import read_utf8
from curation.system.words import counted
from evaluation.core.suite import ScoredRun
from evaluation.reporting.bootstrap import geometric_ratio
from evaluation.reporting.statistics import Interval
from evaluation.reporting.tables import Cell, Rate, Ratio, Table, in_turns
from evaluation.results.attempts import wrong_texts
from evaluation.results.conditions import differences
from evaluation.results.headline import firsts
from evaluation.results.noise import TIMES, measure_reach, times_by_case, widened
from evaluation.results.outcomes import RANKS, Outcome
from evaluation.results.reader import RecordedRun, list_gaps, run_names
from evaluation.results.suite_pairs import (
    changed_classes,
    changes_table,
    pair_sides,
    paired_rates,
    shares_table,
)
from evaluation.results.suite_rows import scored_run
from evaluation.results.suite_tables import pass_rates

#: Task, and CONFIG/ID.
CaseName: TypeAlias = tuple[str, str]
#: The columns that name a case.
CASE: Final = ["config", "id"]
_KEY: Final = pl.concat_str(CASE, separator="/").alias("key")


def is_timed(task: str) -> bool:
    """Return whether a task's times are results; True for an unknown task."""
    from evaluation.tasks import tasks  # noqa: PLC0415 (imports every task)

    return task not in tasks() or tasks()[task].timed


class ComparedEngine(NamedTuple):
    """One engine in one run, on one task."""

    #: The engine's, with the run's name where several runs have it.
    label: str
    run: RecordedRun
    engine: str
    #: Its attempts, repetitions too (`evaluation.results.attempts`).
    attempts: pl.DataFrame


class PairedEngines(NamedTuple):
    """Two engines, and the cases that both were asked."""

    a: ComparedEngine
    b: ComparedEngine
    #: The first attempts of both at one config and id, b's columns with `_b`.
    cases: pl.DataFrame


def compared_engines(runs: Sequence[RecordedRun], task: str) -> list[ComparedEngine]:
    """Return every engine of every run that has cases of a task."""
    names = run_names(runs)
    runs_with = Counter(
        engine for run in runs for engine, name in run.row_counts if name == task
    )
    compared = []
    for run in runs:
        attempts = run.attempts(task)
        for engine in attempts["engine"].unique(maintain_order=True):
            label = engine
            if runs_with[engine] > 1:
                label = f"{names[run.folder]}: {engine}"
            side = ComparedEngine(label, run, engine, attempts.filter(engine=engine))
            compared.append(side)
    return compared


def pair_engines(a: ComparedEngine, b: ComparedEngine) -> PairedEngines:
    """Return two engines with the cases that both were asked."""
    cases = firsts(a.attempts).join(
        firsts(b.attempts), on=CASE, suffix="_b", maintain_order="left"
    )
    return PairedEngines(a=a, b=b, cases=cases)


def all_pairs(engines: Sequence[ComparedEngine]) -> list[PairedEngines]:
    """Return every engine with every other, in their order."""
    return [pair_engines(a, b) for a, b in combinations(engines, 2)]


_RANK: Final = {
    outcome: rank for rank, outcomes in enumerate(RANKS) for outcome in outcomes
}


class ExpectedOutcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of a case under an engine: one line of a file of expected outcomes.

    Two outcomes of one rank may be two faults: a text that was right before is worse,
    and so is one with an earlier fault.
    """

    #: Name and preset, without version, so that the next version is held against it.
    engine: str
    task: str
    #: CONFIG/ID.
    schema: str
    outcome: Outcome
    #: Number of each wrong text, from 0, to the tokens before that.
    wrong: dict[int, int] = {}

    def is_worse(self, before: ExpectedOutcome) -> bool:
        """Return whether anything is worse than before."""
        if _RANK[self.outcome] != _RANK[before.outcome]:
            return _RANK[self.outcome] > _RANK[before.outcome]
        return any(
            tokens < before.wrong.get(text, inf) for text, tokens in self.wrong.items()
        )

    def __str__(self) -> str:
        """Return the outcome, and the first text that is wrong."""
        name = self.outcome.replace("_", " ")
        if not self.wrong:
            return name
        text, tokens = min(self.wrong.items())
        suffix = f" and {len(self.wrong) - 1:,} more" if len(self.wrong) > 1 else ""
        return f"{name}: text {text + 1} at token {tokens + 1}{suffix}"


class EngineOutcomes(NamedTuple):
    """The outcome of every case under one engine."""

    label: str
    #: What it is matched by, tried in turn: its label; name and preset; name.
    names: tuple[str, str, str]
    outcomes: Mapping[CaseName, ExpectedOutcome]
    #: Cases that a busy machine left undecided: they are neither run nor missing.
    undecided: frozenset[CaseName] = frozenset()


def engine_outcomes(run: RecordedRun) -> list[EngineOutcomes]:
    """Return the outcomes of a run's cases, by the tasks' own criteria."""
    engines_of_run = []
    cases = run.frame().with_columns(_KEY).sort("task", maintain_order=True)
    for label in cases["engine"].unique(maintain_order=True):
        participant = run.header.participant(label)
        name = participant.name or label
        with_preset = f"{name} {participant.preset or ''}".strip()
        outcomes = {
            (case["task"], case["key"]): ExpectedOutcome(
                engine=with_preset,
                task=case["task"],
                schema=case["key"],
                outcome=Outcome.PASSED if case["passed"] else Outcome(case["outcome"]),
                wrong={} if case["passed"] else wrong_texts(case["wrong"]),
            )
            for case in cases.filter(engine=label).iter_rows(named=True)
        }
        undecided = frozenset(
            (task, f"{config}/{case_id}")
            for engine, task, config, case_id in run.undecided
            if engine == label
        )
        names = (label, with_preset, name)
        engines_of_run.append(EngineOutcomes(label, names, outcomes, undecided))
    return engines_of_run


def write_outcomes(run: RecordedRun, path: Path) -> list[Path]:
    """Write the outcomes of a run as a file to hold later ones against, sorted.

    Raises:
        BadData: two engines of the run differ in version or options alone.
        CannotCreate: it cannot be written.
    """
    engines = engine_outcomes(run)
    names = [engine.names[1] for engine in engines]
    for name in names:
        if names.count(name) > 1:
            message = f"two engines are {name!r} without version and options"
            raise BadData(message, str(run.folder), "measure one of them alone")
    outcomes = [line for engine in engines for line in engine.outcomes.values()]
    outcomes.sort(key=lambda line: (line.engine, line.task, line.schema))
    lines = [msgspec.json.encode(line) + b"\n" for line in outcomes]
    atomic_write_bytes(path, b"".join(lines))
    return [path]


def read_outcomes(path: Path) -> list[EngineOutcomes]:
    """Read a file of expected outcomes.

    Raises:
        NoInput: the file is missing.
        BadData: a line is not an expected outcome.
    """
    try:
        text = read_utf8(path)
    except OSError as error:
        hint = "csbdata results export RUN --format outcomes writes one"
        raise NoInput(error.strerror or str(error), str(path), hint) from error
    outcomes: dict[str, dict[CaseName, ExpectedOutcome]] = defaultdict(dict)
    # Names may hold other ends of lines.
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        try:
            case = msgspec.json.decode(line, type=ExpectedOutcome)
        except (msgspec.DecodeError, RecursionError) as error:
            message = f"not an expected outcome ({error})"
            raise BadData(message, f"{path}:{number}") from error
        outcomes[case.engine][case.task, case.schema] = case
    return [
        EngineOutcomes(engine, (engine, engine, engine.partition(" ")[0]), cases)
        for engine, cases in outcomes.items()
    ]


class BaselineComparison(NamedTuple):
    """One engine of a baseline against the same engine now."""

    before: EngineOutcomes
    #: None if the run has no such engine.
    now: EngineOutcomes | None
    #: Cases of the baseline by what became of them: `worse`, `better`, `equal`,
    #: `not run`, `undecided`.
    cases: Mapping[str, Sequence[ExpectedOutcome]]

    @property
    def common(self) -> int:
        """The number of cases that both have."""
        return sum(len(self.cases[change]) for change in ("worse", "better", "equal"))


def hold_against(
    before: EngineOutcomes, now: EngineOutcomes | None
) -> BaselineComparison:
    """Compare the outcomes of one engine with those that it had before."""
    cases: dict[str, list[ExpectedOutcome]] = defaultdict(list)
    for name, case in before.outcomes.items():
        after = now.outcomes.get(name) if now else None
        change = "equal"
        if after is None:
            change = "undecided" if now and name in now.undecided else "not run"
        elif after.is_worse(case):
            change = "worse"
        elif case.is_worse(after):
            change = "better"
        cases[change].append(case)
    return BaselineComparison(before=before, now=now, cases=cases)


def match_engines(
    before: Sequence[EngineOutcomes], now: Sequence[EngineOutcomes]
) -> list[tuple[EngineOutcomes, EngineOutcomes]]:
    """Return each engine with the one of the baseline that matches, if only one does.

    Tried in turn: `EngineOutcomes.names`; two that are each alone match by any name.
    """
    if len(before) == len(now) == 1:
        return [(before[0], now[0])]
    matches = []
    for engine in now:
        for index, name in enumerate(engine.names):
            alike = [engine for engine in before if engine.names[index] == name]
            if len(alike) == 1:
                matches.append((alike[0], engine))
            if alike:
                break
    return matches


def _moved(
    compared: Sequence[BaselineComparison], *changes: str
) -> Iterator[dict[str, Cell]]:
    """Yield the cases of each engine that changed in these ways."""
    for engine in compared:
        present = engine.now.outcomes if engine.now else {}
        for change in changes:
            for case in engine.cases[change]:
                after = present.get((case.task, case.schema))
                yield {
                    "engine": engine.before.label,
                    "way": change,
                    "task": case.task,
                    "schema": case.schema,
                    "before": str(case) if after else None,
                    "now": str(after) if after else None,
                }


def _baseline_tables(
    compared: Sequence[BaselineComparison], limit: int | None
) -> Iterator[Table]:
    """Yield how each engine fared, and the cases that moved.

    Cases that became worse, those not run, and those that became better.
    """
    yield Table.of_records(
        "Beside the baseline",
        (
            {
                "baseline": engine.before.label,
                "now": engine.now.label if engine.now else "not run",
                "no worse": Rate(
                    engine.common - len(engine.cases["worse"]),
                    engine.common + len(engine.cases["not run"]),
                ),
                "worse": len(engine.cases["worse"]),
                "better": len(engine.cases["better"]),
                "not run": len(engine.cases["not run"]),
            }
            for engine in compared
        ),
        note="Order of outcomes, best first: "
        + "; ".join(", ".join(rank).replace("_", " ") for rank in RANKS)
        + ". Of one rank a case is worse if a text is wrong that was right, or goes "
        "wrong earlier.",
    )
    rows = [*_moved(compared, "worse", "not run"), *_moved(compared, "better")]
    shown = rows[:limit]
    hidden = len(rows) - len(shown)
    note = f"{hidden:,} more: --format json" if hidden else ""
    yield Table.of_records("Cases that moved", shown, note)


_SHARE_NOTE: Final = (
    "Schemas that have instances and that both were asked. difference: b - a, with a "
    "95 % interval by bootstrap over schemas. p: McNemar's exact test on the schemas "
    "that only one passes. p adjusted: Holm's, for all lines of the table."
)
_COMPILE_NOTE: Final = _SHARE_NOTE.replace(" that have instances and", "").replace(
    "passes", "compiles"
)


def comparison(pairs: Sequence[PairedEngines], task: str) -> Iterator[Table]:
    """Yield the tables of one task's comparison, the decisive one first.

    Args:
        pairs: Which engines are compared.
        task: The task; times are compared only if they are results of it.
    """
    yield from paired_shares(pairs)
    if is_timed(task):
        yield from times_tables(pairs)
    spaced = [
        pl.col(name).str.replace_all("_", " ") for name in ("outcome", "outcome_b")
    ]
    outcomes = [
        (pair.a.label, pair.b.label, pair.cases.select(_KEY, *spaced).rows())
        for pair in pairs
    ]
    yield changes_table("Other outcomes on the same schema", outcomes, "schemas")


def paired_shares(pairs: Sequence[PairedEngines]) -> Iterator[Table]:
    """Yield what passes and what compiles, paired; nothing that was not asked."""
    for verb, column, note in (
        ("passes", "passed", _SHARE_NOTE),
        ("compiles", "compiled", _COMPILE_NOTE),
    ):
        both = [column, f"{column}_b"]
        lines = []
        for pair in pairs:
            cases = pair.cases.drop_nulls(both).select(_KEY, *both)
            if cases.height:
                lines.append((pair.a.label, pair.b.label, cases.rows()))
        if lines:
            yield shares_table(f"What {verb}, paired", verb, lines, note)


#: The whole interval of a time is above this many times the baseline's where it is
#: slower.
SLOWER: Final = 1.2
_TIME_NOTE: Final = (
    "Geometric mean of b / a over the schemas that both compile: below 1 b is faster. "
    "Of each schema the geometric mean of its repetitions, without waits of a process "
    "for its core; mask: of each schema's mean, without near misses of "
    "length bounds. The 95 % interval is by bootstrap over schemas, widened by what "
    "lies between repetitions of one engine (--set repeats=N)."
)
_MACHINE_NOTE: Final = (
    " machine: how many times as long work that is always the same took in b's run; "
    "times of two runs are divided by it."
)
_UNKNOWN_NOTE: Final = (
    " Two runs without calibration work in both: a change of the machine's speed "
    "between them is in the ratios."
)


def paired_times(pair: PairedEngines) -> dict[str, Ratio | None]:
    """Return b / a for each kind of time, over the schemas that both compile.

    Times of two runs are at one speed of the machine, if known.
    """
    compiled = {*pair.cases.filter("compiled", "compiled_b").select(CASE).rows()}
    machine = machine_speed(pair) or 1.0
    ratios: dict[str, Ratio | None] = dict.fromkeys(TIMES)
    for name, column in TIMES.items():
        before = times_by_case(pair.a.attempts, column)
        after = times_by_case(pair.b.attempts, column)
        cases = [case for case in before if case in compiled and case in after]
        ratio = geometric_ratio(
            (case, geometric_mean(before[case]), geometric_mean(after[case]))
            for case in cases
        )
        if ratio is None:
            continue
        interval = ratio.interval
        if interval is not None:
            sides = [[times[case] for case in cases] for times in (before, after)]
            wide = widened(ratio.value, interval, measure_reach(sides))
            interval = Interval(wide.low / machine, wide.high / machine)
        ratios[name] = Ratio(ratio.value / machine, interval)
    return ratios


def machine_speed(pair: PairedEngines) -> float | None:
    """Return how many times as long the calibration work took in b's run as in a's.

    None within one run, and if it was not measured in both. The geometric mean over
    cases. Caches left by an engine affect the work after it, so cases of the same
    engine are compared: all engines in both runs, otherwise the pair's two.
    """
    a, b = pair.a, pair.b
    if a.run is b.run:
        return None
    task = a.attempts["task"][0]
    sides = [a.run.attempts(task), b.run.attempts(task)]
    on = ["engine", *CASE]
    if not {*sides[0]["engine"]} & {*sides[1]["engine"]}:
        sides = [a.attempts, b.attempts]
        on = CASE
    before, after = (
        side.filter(pl.col("calibration_ns") > 0)
        .group_by(on)
        .agg(pl.col("calibration_ns").log().mean())
        for side in sides
    )
    paired = before.join(after, on=on, suffix="_b")
    slower = paired["calibration_ns_b"] - paired["calibration_ns"]
    return exp(fmean(slower)) if paired.height else None


def times_tables(pairs: Sequence[PairedEngines]) -> Iterator[Table]:
    """Yield the table of times, if there are any."""
    rows: list[dict[str, Cell]] = []
    note = dict.fromkeys([_TIME_NOTE])
    for pair in pairs:
        machine = machine_speed(pair)
        rows.append(
            {
                "a": pair.a.label,
                "b": pair.b.label,
                "schemas": pair.cases.filter("compiled", "compiled_b").height,
                **paired_times(pair),
                "machine": machine and Ratio(machine),
            }
        )
        if pair.a.run is not pair.b.run:
            note[_MACHINE_NOTE if machine else _UNKNOWN_NOTE] = None
    table = Table.of_records("Times, paired", rows, "".join(note))
    if len(table.without_empty_columns().columns) > len(("a", "b", "schemas")):
        yield table.without_empty_columns()


def slowdowns(pairs: Sequence[PairedEngines]) -> list[str]:
    """Return the significant slowdowns against the baseline, side a of each pair.

    A time is if the whole 95 % interval of its ratio is above `SLOWER`. If no time
    could be compared, this is reported.
    """
    slower = []
    compared = False
    for pair in pairs:
        task = pair.a.attempts["task"][0]
        if is_of_suites([pair]) or not is_timed(task):
            continue
        for name, ratio in paired_times(pair).items():
            compared |= ratio is not None
            if ratio and ratio.interval and ratio.interval.low > SLOWER:
                slower.append(f"{pair.b.label} takes {ratio} as long: {name}")
    return slower if compared else ["no times to compare"]


def is_of_suites(pairs: Sequence[PairedEngines]) -> bool:
    """Return whether all compared rows come from runs of suites."""
    return all(pair.a.run.suite and pair.b.run.suite for pair in pairs)


def suite_comparison(pairs: Sequence[PairedEngines], suite: str) -> Iterator[Table]:
    """Yield the tables of one suite's comparison.

    Args:
        pairs: Which sides are compared.
        suite: The suite's name.
    """
    sides = {
        side.label: scored_run(side.run, suite).by_label.get(side.engine, ())
        for pair in pairs
        for side in (pair.a, pair.b)
    }
    paired = pair_sides(sides, [(pair.a.label, pair.b.label) for pair in pairs])
    yield paired_rates(paired)
    yield pass_rates(ScoredRun(facts=pairs[0].a.run.suite, by_label=sides))
    yield changed_classes(paired)


def objections(runs: Sequence[RecordedRun]) -> list[str]:
    """Return why the runs are not comparable, a line each: gaps and conditions."""
    names = run_names(runs)
    gaps = [f"{names[run.folder]}: {gap}" for run in runs for gap in list_gaps(run)]
    return gaps + [
        f"{names[run.folder]} and {names[reference.folder]} differ in {difference}: "
        f"{difference.consequence}"
        for reference, run in combinations(runs, 2)
        for difference in differences(reference.raw_header, run.raw_header)
    ]


class ComparisonResult(NamedTuple):
    """The tables of a comparison, and its failures."""

    #: What moved, then the first of each task, the second of each, and so on.
    tables: Sequence[Table]
    #: Why the runs are not wholly comparable.
    objections: Sequence[str]
    #: What of it is a failure, of `fail_on`.
    failures: Sequence[str]


def compare_runs(
    run: RecordedRun,
    baseline: RecordedRun | Path | None = None,
    *,
    fail_on: Collection[str] = (),
    limit: int | None = 20,
) -> ComparisonResult:
    """Compare all engines of a run in pairs, or each with its baseline.

    Engines of two runs of which none has its name in the other are all compared.

    Args:
        run: The run.
        baseline: Another run, or a file of expected outcomes; None: engines of the run
            in pairs.
        fail_on: `worse` and `slower`: the changes that fail.
        limit: Most cases that moved to list; None for all.

    Example:
        >>> old, new = open_run(Path("runs/old")), open_run(Path("runs/new"))
        >>> result = compare_runs(new, old)

    Raises:
        BadUsage: `slower` with a file of outcomes, or no baseline.
        NoInput: nothing can be compared.
    """
    if fail_on and baseline is None:
        raise BadUsage("nothing to hold the run against", hint="name a second run")
    if "slower" in fail_on and isinstance(baseline, Path):
        raise BadUsage("a file of outcomes has no times", str(baseline), "name a run")
    runs = [each for each in (baseline, run) if isinstance(each, RecordedRun)]
    tasks = sorted({task for each in runs for task in each.tasks})
    compared = _held(run, baseline, fails=bool(fail_on))
    pairs = []
    tables = []
    for task in tasks:
        paired = _pairs(run, baseline, compared, compared_engines(runs, task))
        if not paired:
            continue
        pairs += paired
        compare = suite_comparison if is_of_suites(paired) else comparison
        named = task if len(tasks) > 1 else ""
        compared_tables = (
            replace(table, task=named) for table in compare(paired, task)
        )
        tables.append([table for table in compared_tables if table.rows])
    if not pairs and not compared:
        raise NoInput(
            "no two engines have rows of one task",
            ", ".join(str(each.folder) for each in runs),
            "give a second run",
        )
    failures: list[str] = []
    if "worse" in fail_on:
        failures += [
            f"{engine.before.label}: {len(engine.cases['worse']):,} worse, "
            f"{counted(len(engine.cases['not run']), 'case')} not run"
            for engine in compared
            if engine.cases["worse"] or engine.cases["not run"]
        ]
        if not failures and not any(engine.common for engine in compared):
            failures.append("nothing was compared")
    if "slower" in fail_on:
        failures += slowdowns(pairs)
    verdict = _baseline_tables(compared, limit)
    return ComparisonResult(
        tables=[*(table for table in verdict if table.rows), *in_turns(tables)],
        objections=objections(runs),
        failures=failures,
    )


def _held(
    run: RecordedRun,
    baseline: RecordedRun | Path | None,
    *,
    fails: bool,
) -> list[BaselineComparison]:
    """Return each engine of the baseline with the run's.

    Empty without a baseline, and where no engine is in both and nothing may fail.
    """
    if baseline is None:
        return []
    if isinstance(baseline, Path):
        before = read_outcomes(baseline)
    else:
        before = engine_outcomes(baseline)
    matched = match_engines(before, engine_outcomes(run))
    if not matched and not fails and not isinstance(baseline, Path):
        return []
    matched_engines = [engine for engine, _ in matched]
    alone = [(engine, None) for engine in before if engine not in matched_engines]
    return [hold_against(a, b) for a, b in [*matched, *alone]]


def _pairs(
    run: RecordedRun,
    baseline: RecordedRun | Path | None,
    compared: Sequence[BaselineComparison],
    engines: Sequence[ComparedEngine],
) -> list[PairedEngines]:
    """Return the pairs of one task that are shown, the baseline's engine first."""
    if baseline is None:
        return all_pairs(engines)
    before = [engine for engine in engines if engine.run is baseline]
    now = [engine for engine in engines if engine.run is run]
    matched = {
        (engine.before.label, engine.now.label) for engine in compared if engine.now
    }
    return [
        pair_engines(a, b)
        for a, b in product(before, now)
        if not matched or (a.engine, b.engine) in matched
    ]

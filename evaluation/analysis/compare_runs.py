"""Runs compared: engines in pairs, or each with its baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from curation.system.errors import BadConfiguration, NoInput
from evaluation.analysis.comparison import comparison, objections
from evaluation.analysis.paired_engines import all_pairs, compared_engines
from evaluation.analysis.paired_times import PairedTime, paired_times
from evaluation.analysis.regression_gate import (
    compare_with_baseline,
    gate_table,
    match_baselines,
    moved_table,
)
from evaluation.analysis.suite_comparison import (
    is_of_suites,
    suite_comparison,
    suite_time_ratio,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.analysis.paired_engines import ComparedEngine, PairedEngines
    from evaluation.analysis.regression_gate import BaselineComparison
    from evaluation.reporting.tables import Table
    from evaluation.results.reader import RecordedRun


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
    #: Whether cases that only the baseline has are left out.
    common_only: bool = False
    #: Cases that moved to list.
    limit: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonResult:
    """The tables of a comparison, and whether the regression gate holds."""

    tables: Sequence[Table]
    #: Those of them that say most: one a task, and what the gate says.
    headlines: Sequence[Table]
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
    tables: list[Table] = []
    headlines: list[Table] = []
    gates: list[BaselineComparison] = []
    tasks = question.tasks or sorted({t for run in every for t in run.tasks})
    for task in tasks:
        engines = compared_engines(every, task)
        if question.baseline is None:
            pairs = all_pairs(engines)
        else:
            own = _gates(question, engines, task)
            pairs = [comparison.pair for comparison in own]
            gates += own
        if pairs:
            named = task if len(tasks) > 1 else ""
            compared = (
                suite_comparison(pairs, task)
                if is_of_suites(pairs)
                else comparison(_in(pairs), pairs)
            )
            own_tables = [replace(table, task=named) for table in compared]
            headlines.append(own_tables[0])
            tables += own_tables
    if not tables:
        raise NoInput(
            "no two engines have rows of one task",
            ", ".join(str(run.folder) for run in every),
            "give a second run, or --baseline",
        )
    if gates:
        verdicts = [gate_table(gates, question.percent)]
        moved = moved_table(gates, question.limit)
        if moved.rows:
            verdicts.append(moved)
        headlines += verdicts
        tables += verdicts
    failing = [_reason(gate) for gate in gates if not gate.holds(question.percent)] + [
        reason for gate in gates for reason in slowdowns(gate.pair, question.slower)
    ]
    return ComparisonResult(
        tables=tables,
        headlines=headlines,
        objections=objections(every),
        holds=None if question.baseline is None else bool(gates) and not failing,
        reason="; ".join(failing) or "nothing was compared",
    )


def _gates(
    question: ComparisonRequest, every: Sequence[ComparedEngine], task: str
) -> list[BaselineComparison]:
    baselines = [engine for engine in every if engine.run is question.baseline]
    engines = [engine for engine in every if engine.run is not question.baseline]
    found = match_baselines(baselines, engines)
    alone = {engine.label for engine in engines} - {engine.label for _, engine in found}
    if alone:
        known = ", ".join(baseline.label for baseline in baselines) or "nothing"
        raise BadConfiguration(
            f"no one counterpart of {', '.join(sorted(alone))} in task {task}: "
            f"it has {known}",
            f"baseline {baselines[0].run.folder}" if baselines else "baseline",
            "choose with --task, or make a baseline of the same engine and preset",
        )
    return [
        compare_with_baseline(a, b, common_only=question.common_only) for a, b in found
    ]


def slowdowns(pair: PairedEngines, most: float | None) -> list[str]:
    """Return which times became surely longer than `most` times what they were.

    Surely: the whole 95 % interval of the ratio is above. Of two runs it is the ratio
    at one speed of the machine, where that is known.
    """
    if most is None:
        return []
    times = paired_times(pair)
    if is_of_suites([pair]) and pair.cases:
        answer = suite_time_ratio(pair, pair.cases[0][0].task)
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
    """Return the ratio that was measured, where another one is judged."""
    if time.corrected is None:
        return ""
    return f" at one speed of the machine ({time.measured.value:.3g}x as measured)"


def _in(pairs: Sequence[PairedEngines]) -> list[ComparedEngine]:
    """Return the engines of pairs, each once, in their order."""
    found = {engine.label: engine for pair in pairs for engine in (pair.a, pair.b)}
    return list(found.values())


def _reason(gate: BaselineComparison) -> str:
    return (
        f"{gate.pair.b.label} is no worse in {gate.no_worse}; "
        f"{len(gate.worse):,} worse, {len(gate.missing):,} not run"
    )

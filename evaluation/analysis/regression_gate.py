"""Pair engines of two runs, and decide whether any case became worse."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from math import log
from statistics import fmean
from typing import TYPE_CHECKING, TypeAlias

from evaluation.reporting.tables import Cell, Rate, Table
from evaluation.results.measurements import measure_run
from evaluation.results.outcomes import Outcome
from evaluation.results.reader import run_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evaluation.results.measurements import CaseMeasurement, Criterion
    from evaluation.results.reader import RecordedRun

    #: By config and id: the mean logarithm of what the calibration work took.
    CalibrationByCase: TypeAlias = Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedEngine:
    """One engine in one run, on one task."""

    label: str
    run: RecordedRun
    engine: str
    cases: Sequence[CaseMeasurement]
    #: Of every engine of its run, on this task, the calibration work beside each case.
    calibration: Mapping[str, CalibrationByCase]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedEngines:
    """Two engines, and the cases that both were asked."""

    a: ComparedEngine
    b: ComparedEngine
    #: Cases of a and b with the same config and id, in order.
    cases: Sequence[tuple[CaseMeasurement, CaseMeasurement]]


def criterion_of(task: str) -> Criterion | None:
    """Return the task's criterion of a row; None if its outcome decides."""
    from evaluation.tasks.registry import tasks  # noqa: PLC0415 (imports every task)

    return tasks()[task].passes if task in tasks() else None


def is_timed(task: str) -> bool:
    """Return whether a task's times are results; not known of one that is not here."""
    from evaluation.tasks.registry import tasks  # noqa: PLC0415 (imports every task)

    return task not in tasks() or tasks()[task].timed


def compared_engines(runs: Sequence[RecordedRun], task: str) -> list[ComparedEngine]:
    """Return every engine of every run that has cases of a task.

    The label of an engine that is in several runs names the run.
    """
    passes = criterion_of(task)
    sides = []
    for run in runs:
        measured = measure_run(run, task, passes)
        calibration = {
            engine: _calibration_by_case(cases) for engine, cases in measured.items()
        }
        sides += [(run, engine, measured[engine], calibration) for engine in measured]
    names, folders = Counter(engine for _, engine, *_ in sides), run_names(runs)
    return [
        ComparedEngine(
            label=engine if names[engine] == 1 else f"{folders[run.folder]}: {engine}",
            run=run,
            engine=engine,
            cases=cases,
            calibration=calibration,
        )
        for run, engine, cases, calibration in sides
    ]


def pair_engines(a: ComparedEngine, b: ComparedEngine) -> PairedEngines:
    """Return two engines with the cases that both were asked."""
    first, second = ({it.case_key: it for it in each.cases} for each in (a, b))
    cases = [(first[key], second[key]) for key in first if key in second]
    return PairedEngines(a=a, b=b, cases=cases)


def all_pairs(engines: Sequence[ComparedEngine]) -> list[PairedEngines]:
    """Return every engine with every other, in their order."""
    return [pair_engines(a, b) for a, b in combinations(engines, 2)]


def _calibration_by_case(cases: Iterable[CaseMeasurement]) -> CalibrationByCase:
    calibrations = {
        case.case_key: [
            log(one.calibration_ns) for one in case.repetitions if one.calibration_ns
        ]
        for case in cases
    }
    return {key: fmean(logs) for key, logs in calibrations.items() if logs}


#: Best first. An honest refusal is better than a wrong mask, and that is better than
#: an engine that dies.
RANKS: tuple[frozenset[Outcome], ...] = (
    frozenset({Outcome.PASSED, Outcome.UNTESTED}),
    frozenset({Outcome.COMPILE_ERROR}),
    frozenset({Outcome.OVER_CONSTRAINED, Outcome.MASK_GAP, Outcome.NOT_COMPLIANT}),
    frozenset({Outcome.UNDER_CONSTRAINED, Outcome.WRONG_BOTH_WAYS}),
    frozenset(
        {Outcome.LIED, Outcome.CONTRADICTED, Outcome.ENGINE_ERROR, Outcome.ERROR}
    ),
    frozenset(
        {
            Outcome.TIMEOUT,
            Outcome.CRASH,
            Outcome.OUT_OF_MEMORY,
            Outcome.TOO_MUCH_OUTPUT,
            Outcome.PROTOCOL_ERROR,
        }
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineComparison:
    """One engine against its baseline."""

    pair: PairedEngines
    worse: Sequence[tuple[CaseMeasurement, CaseMeasurement]]
    better: Sequence[tuple[CaseMeasurement, CaseMeasurement]]
    #: Cases of the baseline that were not run now; one that is undecided was run.
    missing: Sequence[CaseMeasurement]

    @property
    def no_worse(self) -> Rate:
        """Cases of the baseline that are no worse now; what is missing is not."""
        of = len(self.pair.cases) + len(self.missing)
        return Rate(of - len(self.worse) - len(self.missing), of)

    def holds(self, percent: float) -> bool:
        """Return whether at least this share is no worse; not where nothing was run."""
        rate = self.no_worse
        return rate.of > 0 and 100 * rate.count >= percent * rate.of


@dataclass(frozen=True, slots=True)
class CaseStanding:
    """What became of a case: its outcome, and where texts went wrong.

    Two outcomes of one rank may be two faults: a text that was right before is worse,
    and so is one that goes wrong earlier.
    """

    outcome: Outcome
    #: Number of each wrong text, to the tokens before that.
    wrong: Mapping[int, int] = field(default_factory=dict)

    def is_worse(self, before: CaseStanding) -> bool:
        """Return whether anything is worse than before."""
        now, then = rank_of(self.outcome), rank_of(before.outcome)
        return now > then or (
            now == then
            and any(
                place < before.wrong.get(text, place + 1)
                for text, place in self.wrong.items()
            )
        )

    def is_better(self, before: CaseStanding) -> bool:
        """Return whether something is better than before, and nothing worse."""
        return before.is_worse(self) and not self.is_worse(before)

    def __str__(self) -> str:
        """Return the outcome, and the first text that is wrong."""
        name = self.outcome.replace("_", " ")
        if not self.wrong:
            return name
        text, place = min(self.wrong.items())
        more = f" and {len(self.wrong) - 1:,} more" if len(self.wrong) > 1 else ""
        return f"{name}: text {text + 1} at token {place + 1}{more}"


def standing(case: CaseMeasurement) -> CaseStanding:
    """Return what became of a case, by the task's own criterion."""
    return (
        CaseStanding(Outcome.PASSED)
        if case.passed
        else CaseStanding(case.outcome, case.wrong)
    )


def rank_of(outcome: Outcome) -> int:
    """Return the place of an outcome in `RANKS`, 0 the best."""
    return next(place for place, best in enumerate(RANKS) if outcome in best)


def compare_with_baseline(
    baseline: ComparedEngine, now: ComparedEngine
) -> BaselineComparison:
    """Compare one engine with its baseline."""
    pair = pair_engines(baseline, now)
    undecided = now.run.undecided
    answered = {case.case_key for case in now.cases}
    return BaselineComparison(
        pair=pair,
        worse=[(a, b) for a, b in pair.cases if standing(b).is_worse(standing(a))],
        better=[(a, b) for a, b in pair.cases if standing(b).is_better(standing(a))],
        missing=[
            case
            for case in baseline.cases
            if case.case_key not in answered
            and (now.engine, case.task, *case.case_key) not in undecided
        ],
    )


def match_baselines(
    baselines: Sequence[ComparedEngine], engines: Sequence[ComparedEngine]
) -> list[tuple[ComparedEngine, ComparedEngine]]:
    """Return each engine with its baseline, if exactly one matches.

    Tried in turn: the same label; name and preset; name; the only baseline.
    """
    alike: tuple[Callable[[ComparedEngine], object], ...] = (
        lambda engine: engine.engine,
        _name_and_preset,
        lambda engine: _name_and_preset(engine)[0],
    )
    matches = []
    for engine in engines:
        for of in alike:
            candidates = [
                baseline for baseline in baselines if of(baseline) == of(engine)
            ]
            if candidates:
                break
        else:
            candidates = list(baselines) if len(engines) == 1 else []
        if len(candidates) == 1:
            matches.append((candidates[0], engine))
    return matches


def _name_and_preset(engine: ComparedEngine) -> tuple[object, object]:
    participant = engine.run.header.participant(engine.engine)
    return participant.name or engine.engine, participant.preset


def gate_table(gates: Sequence[BaselineComparison], percent: float) -> Table:
    """Return each engine's verdict."""
    return Table.of_records(
        "Regression gate",
        (
            {
                "baseline": gate.pair.a.label,
                "now": gate.pair.b.label,
                "no worse": gate.no_worse,
                "worse": len(gate.worse),
                "better": len(gate.better),
                "not run": len(gate.missing),
                "gate": "holds" if gate.holds(percent) else "fails",
            }
            for gate in gates
        ),
        note=f"At least {percent:g} % of the baseline's cases have to be no worse. "
        "Order of outcomes, best first: "
        + "; ".join(", ".join(sorted(rank)).replace("_", " ") for rank in RANKS)
        + ". Of one rank a case is worse if a text is wrong that was right, or goes "
        "wrong earlier.",
    )


def moved_table(gates: Sequence[BaselineComparison], limit: int | None) -> Table:
    """List the cases that became worse, then those that became better."""
    moved = list(_moved(gates))
    more = 0 if limit is None else len(moved) - limit
    note = f"{more:,} more: --format json" if more > 0 else ""
    return Table.of_records("Cases that moved", moved[:limit], note)


def _moved(gates: Sequence[BaselineComparison]) -> Iterator[dict[str, Cell]]:
    for way in ("worse", "better"):
        for gate in gates:
            for a, b in gate.worse if way == "worse" else gate.better:
                yield {
                    "engine": gate.pair.b.label,
                    "way": way,
                    "task": b.task,
                    "schema": "/".join(b.case_key),
                    "before": str(standing(a)),
                    "now": str(standing(b)),
                }

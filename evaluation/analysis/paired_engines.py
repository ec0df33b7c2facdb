"""Engines of one run or several, in pairs: on what both were asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from math import log
from statistics import fmean
from typing import TYPE_CHECKING, TypeAlias

from evaluation.results.measurements import measure_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
    found = []
    for run in runs:
        measured = measure_run(run, task, passes)
        calibration = {
            engine: _calibration_by_case(cases) for engine, cases in measured.items()
        }
        found += [(run, engine, measured[engine], calibration) for engine in measured]
    names = Counter(engine for _, engine, *_ in found)
    return [
        ComparedEngine(
            label=engine if names[engine] == 1 else f"{run.folder.name}: {engine}",
            run=run,
            engine=engine,
            cases=cases,
            calibration=calibration,
        )
        for run, engine, cases, calibration in found
    ]


def pair_engines(a: ComparedEngine, b: ComparedEngine) -> PairedEngines:
    """Return two engines with the cases that both were asked."""
    first, second = a.measurements_by_case, b.measurements_by_case
    cases = [(first[key], second[key]) for key in first if key in second]
    return PairedEngines(a=a, b=b, cases=cases)


def all_pairs(engines: Sequence[ComparedEngine]) -> list[PairedEngines]:
    """Return every engine with every other, in their order."""
    return [pair_engines(a, b) for a, b in combinations(engines, 2)]


def _calibration_by_case(cases: Iterable[CaseMeasurement]) -> CalibrationByCase:
    """Return what the calibration work took beside each case that has it."""
    taken = {
        case.case_key: [
            log(one.calibration_ns) for one in case.repetitions if one.calibration_ns
        ]
        for case in cases
    }
    return {key: fmean(logs) for key, logs in taken.items() if logs}

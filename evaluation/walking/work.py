"""The parts of a run that all engines share: workers, cases, finished rows."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

import orjson

from curation.workers.process import exchange
from evaluation.core.cases import Case, Result, Row
from evaluation.setup.machine import idle_last, usable_cores
from evaluation.walking.code_digest import measuring_digest
from evaluation.walking.engine_worker import EngineWorker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evaluation.core.records import Record
    from evaluation.core.task import Task
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.walking.plan import RunPlan, RunTotals
    from evaluation.walking.run_folder import ResultsFolder


class WorkerCores:
    """The cores of a run; each engine worker is kept on one if times are results."""

    def __init__(
        self, plan: RunPlan, say: Callable[[str], None] = lambda _message: None
    ) -> None:
        """Take the plan.

        Args:
            plan: Says how many workers there are, and whether times are results.
            say: Called with messages about slow starts.
        """
        self._plan = plan
        self._say = say
        #: All cores that the run may use.
        self._usable = usable_cores()
        if plan.timed:
            self._usable = idle_last(self._usable)

    def worker(self, participant: EngineUnderTest, place: int) -> EngineWorker:
        """Return a worker of an engine, not yet started.

        Args:
            participant: The engine.
            place: Number of the worker, below `jobs`; decides its core.
        """
        plan = self._plan
        cores: Sequence[int] = ()
        if plan.timed:
            # All cores for an engine that chooses its threads.
            every = participant.chooses_its_threads
            cores = self._usable if every else (self._core(place),)
        return EngineWorker(participant, plan.tokenizer, plan.bounds, cores, self._say)

    @contextmanager
    def off_timed_cores(self) -> Iterator[None]:
        """Keep this process off the cores on which times are taken."""
        plan = self._plan
        free = set(self._usable) - {self._core(place) for place in range(plan.jobs)}
        if not free or not plan.timed or not hasattr(os, "sched_setaffinity"):
            yield
            return
        os.sched_setaffinity(0, free)
        try:
            yield
        finally:
            os.sched_setaffinity(0, set(self._usable))

    def _core(self, place: int) -> int:
        """Return the core of a place: from the last one down."""
        return self._usable[-1 - place % len(self._usable)]


def wait_for(workers: Sequence[EngineWorker]) -> None:
    """Wait until a worker's process says something, or a deadline passes."""
    children = [worker.child for worker in workers if worker.child is not None]
    exchange(children, min(worker.patience() for worker in workers))


#: Turns texts into token ids; None where no tokens spell the text.
Encode: TypeAlias = "Callable[[Sequence[str]], list[list[int] | None]]"


@dataclass(frozen=True, slots=True)
class SharedWork:
    """What all parts of a run share."""

    plan: RunPlan
    out: ResultsFolder
    encode: Encode
    totals: RunTotals
    advance: Callable[[int], None]
    cores: WorkerCores
    #: What the machine left undecided, to be asked again at the end.
    undecided: list[tuple[EngineUnderTest, Case, Row]] = field(default_factory=list)

    def cases(self, task: Task) -> Iterator[Case]:
        """Yield the cases of a task that the plan wants."""
        records = self.plan.records() if task.needs_data else ()
        return wanted_cases(task, records, self.plan)

    def is_finished(self, fingerprint: str) -> bool:
        """Return whether a row is there already; then it is counted."""
        finished = fingerprint in self.out.finished
        if finished:
            self.totals.reused += 1
            self.advance(1)
        return finished

    def tokens(self, case: Case) -> list[list[int] | None]:
        """Return the tokens of a case's texts."""
        return self.encode([walk.text for walk in case.walks]) if case.walks else []

    def write(self, participant: EngineUnderTest, case: Case, row: Row) -> None:
        """Write a row that was measured now; one that is undecided is kept back."""
        if row.result is Result.UNDECIDED:
            self.undecided.append((participant, case, row))
            return
        self._write(row)
        self.totals.disturbed += row.quiet is False

    def write_undecided(self, row: Row) -> None:
        """Write the row of a case that stays undecided: the next run asks again."""
        self._write(replace(row, fingerprint=""))
        self.totals.undecided += 1

    def _write(self, row: Row) -> None:
        self.out.write(row)
        self.totals.ran += 1
        self.advance(1)


def wanted_cases(
    task: Task, records: Iterable[Record], plan: RunPlan
) -> Iterator[Case]:
    """Yield the cases that a run wants."""
    for case in task.cases(records, plan.settings):
        names = {case.id, f"{case.config}/{case.id}"}
        if plan.only and not names & plan.only:
            continue
        yield case


def case_fingerprint(mark: str, case: Case, repetition: int = 0) -> str:
    """Return the fingerprint of a row: of the case, and of all that measures it."""
    walks = [[walk.text, walk.valid, walk.label] for walk in case.walks]
    parts: list[object] = [mark, case.task, case.config, case.id, case.schema]
    parts += [walks, case.label]
    if repetition:
        parts.append(repetition)
    return sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def participant_fingerprint(
    participant: EngineUnderTest, plan: RunPlan, task: Task
) -> str:
    """Return the fingerprint of what decides a row, but for the case."""
    parts = [
        participant.identity,
        plan.tokenizer.digest,
        asdict(plan.bounds),
        measuring_digest(),
        task.name,
    ]
    return sha256(orjson.dumps(parts)).hexdigest()

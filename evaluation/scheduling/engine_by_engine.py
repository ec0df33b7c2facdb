"""One engine after the other: its cases in batches, over all workers.

A worker never waits for its next question. What this process does meanwhile (reading,
tokens, writing) happens on the cores that are left.
"""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack
from typing import TYPE_CHECKING

from evaluation.execution.engine_worker import PendingCase
from evaluation.scheduling.lanes import wait_for
from evaluation.scheduling.shared_work import (
    TimedOutCases,
    case_fingerprint,
    participant_fingerprint,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evaluation.core.cases import Case, Row
    from evaluation.core.task import Task
    from evaluation.execution.engine_worker import EngineWorker
    from evaluation.scheduling.shared_work import SharedWork
    from evaluation.setup.selected_engines import EngineUnderTest

#: Cases that a worker is given at a time.
_BATCH = 8


def run_engine(
    participant: EngineUnderTest,
    tasks: Sequence[Task],
    work: SharedWork,
) -> None:
    """Put all cases to one engine, over all workers.

    Raises:
        WorkerDidNotStart: it cannot be loaded.
    """
    with ExitStack() as stack:
        workers = [
            stack.enter_context(work.cores.worker(participant, place))
            for place in range(work.plan.jobs)
        ]
        if not work.out.finished:
            _start(workers)
        for task in tasks:
            mark = participant_fingerprint(participant, work.plan, task)
            late = TimedOutCases(task)
            pending = _pending(_asked(mark, task, late, work), workers, work)
            for case, row in _rows(workers, pending):
                late.note(case, row)
                work.write(participant, case, row)


def _start(workers: Sequence[EngineWorker]) -> None:
    """Let the workers start while we do something else."""
    for worker in workers:
        worker.start()


def _asked(
    mark: str, task: Task, late: TimedOutCases, work: SharedWork
) -> Iterator[tuple[Case, str]]:
    """Yield the cases that have to be asked, with their fingerprints.

    The rows of those that repeat one that timed out are written.
    """
    for case in work.cases(task):
        fingerprint = case_fingerprint(mark, case)
        if work.is_finished(fingerprint):
            continue
        row = late.row_of(case, fingerprint)
        if row is None:
            yield case, fingerprint
        else:
            work.write_copy(row)


def _pending(
    cases: Iterable[tuple[Case, str]], workers: Sequence[EngineWorker], work: SharedWork
) -> Iterator[PendingCase]:
    """Yield what is to do; the workers are started before the first."""
    for case, fingerprint in cases:
        _start(workers)
        yield PendingCase(case=case, tokens=work.tokens(case), fingerprint=fingerprint)


def _rows(
    workers: Sequence[EngineWorker], jobs: Iterator[PendingCase]
) -> Iterator[tuple[Case, Row]]:
    """Yield all cases with their rows, as they become complete."""
    ready: deque[PendingCase] = deque()
    exhausted = False
    while True:
        for worker in workers:
            if worker.idle and ready:
                worker.give([ready.popleft() for _ in range(min(_BATCH, len(ready)))])
        while not exhausted and len(ready) < _BATCH * len(workers):
            pending = next(jobs, None)
            exhausted = pending is None
            if pending is not None:
                ready.append(pending)
            if any(worker.idle for worker in workers) and len(ready) >= _BATCH:
                break
        busy = [worker for worker in workers if not worker.idle]
        if not busy and not ready:
            return
        if not busy or (ready and any(worker.idle for worker in workers)):
            continue
        wait_for(busy)
        for worker in busy:
            yield from worker.collect()

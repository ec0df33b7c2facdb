"""The run: every engine, every task, every case, each into exactly one row.

Engines and tasks are taken one after the other; the cases of one spread over the
workers in batches, so that a worker never waits for its next question. What this
process does meanwhile (reading, tokens, writing) happens on the cores that are left.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, TypeAlias

import orjson

from curation.workers.process import exchange
from curation.workers.worker import WorkerDidNotStart
from evaluation.core.cases import Result
from evaluation.data.sampling import is_in_shard
from evaluation.execution.code_digest import measuring_digest
from evaluation.execution.engine_worker import EngineWorker, PendingCase
from evaluation.execution.plan import RunPlan, RunTotals
from evaluation.execution.reproducers import is_engine_defect, write_reproducer
from evaluation.setup.machine import usable_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evaluation.core.cases import Case, Row, Sample
    from evaluation.core.task import Task
    from evaluation.execution.results_folder import ResultsFolder
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles

#: Turns texts into token ids; None where no tokens spell the text.
Encode: TypeAlias = "Callable[[Sequence[str]], list[list[int] | None]]"
#: Cases that a worker is given at a time.
_BATCH = 8


def run(
    participants: Sequence[EngineUnderTest],
    plan: RunPlan,
    out: ResultsFolder,
    advance: Callable[[int], None] = lambda _steps: None,
) -> RunTotals:
    """Put every case to every engine and write its row, but for those finished.

    An engine that cannot be loaded is named in the totals; the others go on.
    """
    totals = RunTotals()
    encode = _encoder(plan.tokenizer)
    own = usable_cores()
    with _off_timed_cores(own, plan):
        for participant in participants:
            if participant.unavailable:
                totals.unavailable[participant.label] = participant.unavailable
                continue
            try:
                _run_engine(participant, plan, out, encode, own, totals, advance)
            except WorkerDidNotStart as fault:
                totals.unavailable[participant.label] = fault.what
    out.record_unavailable(totals.unavailable)
    return totals


def _run_engine(  # noqa: PLR0913, PLR0917 (the run's own parts)
    participant: EngineUnderTest,
    plan: RunPlan,
    out: ResultsFolder,
    encode: Encode,
    own: Sequence[int],
    totals: RunTotals,
    advance: Callable[[int], None],
) -> None:
    with ExitStack() as stack:
        workers = [
            stack.enter_context(
                EngineWorker(participant, plan.tokenizer, plan.bounds, core)
            )
            for core in _cores_of(own, plan)
        ]
        if not out.finished:
            _start(workers)
        for task in plan.tasks:
            samples = plan.samples() if task.needs_data else ()
            cases = wanted_cases(task, samples, plan)
            mark = _participant_fingerprint(participant, plan, task)
            late = _TimedOutCases(task)
            left = _unfinished(cases, mark, out, totals, advance)
            asked = _not_repeated(left, late, out, totals, advance)
            pending = _pending(asked, workers, encode)
            for case, row in _rows(workers, pending):
                late.note(case, row)
                out.write(row)
                totals.ran += 1
                totals.disturbed += row.quiet is False
                advance(1)
                if is_engine_defect(row):
                    path = write_reproducer(row, case, participant, plan, out)
                    totals.reproducers.append(path)


def _start(workers: Sequence[EngineWorker]) -> None:
    """Let the workers start while we do something else."""
    for worker in workers:
        if worker.child is None and worker.idle:
            worker.start()


def wanted_cases(
    task: Task, samples: Iterable[Sample], plan: RunPlan
) -> Iterator[Case]:
    """Yield the cases of the shard; samples are those of the shard alone already."""
    for case in task.cases(samples, plan.settings):
        names = {case.id, f"{case.config}/{case.id}"}
        if plan.only and not names & plan.only:
            continue
        if task.needs_data or is_in_shard(case.config, case.id, plan.shard):
            yield case


def _unfinished(
    cases: Iterable[Case],
    mark: str,
    out: ResultsFolder,
    totals: RunTotals,
    advance: Callable[[int], None],
) -> Iterator[tuple[Case, str]]:
    """Yield the cases that have no row yet, with their fingerprints."""
    for case in cases:
        fingerprint = case_fingerprint(mark, case)
        if fingerprint in out.finished:
            totals.found += 1
            advance(1)
        else:
            yield case, fingerprint


class _TimedOutCases:
    """What has ended at a deadline in one task, for the cases that repeat it."""

    def __init__(self, task: Task) -> None:
        self._repeats = task.repeats
        self._rows: dict[str, Row] = {}

    def note(self, case: Case, row: Row) -> None:
        """Remember a row if it ended at a deadline."""
        if self._repeats is not None and row.result is Result.TIMEOUT:
            self._rows[self._repeats(case)] = row

    def parse_row(self, case: Case, fingerprint: str) -> Row | None:
        """Return the row of a case that need not be asked; None for any other."""
        if self._repeats is None or self._repeats(case) not in self._rows:
            return None
        known = self._rows[self._repeats(case)]
        return replace(known, id=case.id, label=case.label, fingerprint=fingerprint)


def _not_repeated(
    cases: Iterable[tuple[Case, str]],
    late: _TimedOutCases,
    out: ResultsFolder,
    totals: RunTotals,
    advance: Callable[[int], None],
) -> Iterator[tuple[Case, str]]:
    """Yield the cases that have to be asked; write the rows of the others."""
    for case, fingerprint in cases:
        row = late.parse_row(case, fingerprint)
        if row is None:
            yield case, fingerprint
            continue
        out.write(row)
        totals.ran += 1
        advance(1)


def _pending(
    cases: Iterable[tuple[Case, str]], workers: Sequence[EngineWorker], encode: Encode
) -> Iterator[PendingCase]:
    """Yield what is to do; the workers are started before the first."""
    for case, fingerprint in cases:
        _start(workers)
        tokens = encode([walk.text for walk in case.walks]) if case.walks else []
        yield PendingCase(case=case, tokens=tokens, fingerprint=fingerprint)


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
        children = [worker.child for worker in busy if worker.child is not None]
        exchange(children, min(worker.patience() for worker in busy))
        for worker in busy:
            yield from worker.collect()


def case_fingerprint(mark: str, case: Case) -> str:
    """Return the fingerprint of a row: of the case, and of all that measures it."""
    walks = [[walk.text, walk.valid, walk.label] for walk in case.walks]
    parts = [mark, case.task, case.config, case.id, case.schema, walks, case.label]
    return sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _participant_fingerprint(
    participant: EngineUnderTest, plan: RunPlan, task: Task
) -> str:
    """Return the fingerprint of what decides a row, but for the case."""
    parts = [
        participant.identity,
        plan.tokenizer.digest,
        [plan.bounds.compile_seconds, plan.bounds.run_seconds, plan.bounds.memory_mb],
        measuring_digest(),
        task.name,
    ]
    return sha256(orjson.dumps(parts)).hexdigest()


def _encoder(tokenizer: TokenizerFiles) -> Encode:
    """Return the tokenizer's encoder, loaded when it is first needed."""
    loaded: list[Encode] = []

    def encode(texts: Sequence[str]) -> list[list[int] | None]:
        if not loaded:
            loaded.append(tokenizer.encoder())
        return loaded[0](texts)

    return encode


def _cores_of(own: Sequence[int], plan: RunPlan) -> list[int | None]:
    """Return the core of every worker: from the last one down where times count."""
    if not plan.timed:
        return [None] * plan.jobs
    return [own[-1 - index % len(own)] for index in range(plan.jobs)]


@contextmanager
def _off_timed_cores(own: Sequence[int], plan: RunPlan) -> Iterator[None]:
    """Keep this process off the cores on which times are taken."""
    left = set(own) - {core for core in _cores_of(own, plan) if core is not None}
    if not left or not plan.timed or not hasattr(os, "sched_setaffinity"):
        yield
        return
    os.sched_setaffinity(0, left)
    try:
        yield
    finally:
        os.sched_setaffinity(0, set(own))

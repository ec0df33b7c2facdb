"""The run: every engine, every task, every unit, each into exactly one row.

Engines and tasks are taken one after the other; the units of one spread over the
lanes in batches, so that a worker never waits for its next question. What the driver
does meanwhile (reading, tokens, writing) happens on the cores that are left.
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
from evaluation.data.sampling import take_shard
from evaluation.execution.code_digest import measuring_digest
from evaluation.execution.engine_worker import EngineWorker, PendingCase
from evaluation.execution.plan import RunPlan, RunTotals
from evaluation.execution.reproducers import worth_one, write_reproducer
from evaluation.setup.machine import usable_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evaluation.core.cases import Case, Row, Sample
    from evaluation.core.task import Task
    from evaluation.execution.run_folder import ResultsFolder
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles

#: Turns texts into token ids; None where no tokens spell the text.
Encode: TypeAlias = "Callable[[Sequence[str]], list[list[int] | None]]"
#: Units that a worker is given at a time.
_BATCH = 8


def run(
    entrants: Sequence[EngineUnderTest],
    plan: RunPlan,
    out: ResultsFolder,
    advance: Callable[[int], None] = lambda _steps: None,
) -> RunTotals:
    """Put every unit to every engine and write its row, but for those finished.

    An engine that cannot be loaded is told in the tally; the others go on.
    """
    tally = RunTotals()
    encode = _encoder(plan.tokenizer)
    own = usable_cores()
    with _elsewhere(own, plan):
        for entrant in entrants:
            if entrant.unavailable:
                tally.unavailable[entrant.label] = entrant.unavailable
                continue
            try:
                _run_engine(entrant, plan, out, encode, own, tally, advance)
            except WorkerDidNotStart as fault:
                tally.unavailable[entrant.label] = fault.what
    out.tell_unavailable(tally.unavailable)
    return tally


def _run_engine(  # noqa: PLR0913, PLR0917 (the run's own parts)
    entrant: EngineUnderTest,
    plan: RunPlan,
    out: ResultsFolder,
    encode: Encode,
    own: Sequence[int],
    tally: RunTotals,
    advance: Callable[[int], None],
) -> None:
    with ExitStack() as stack:
        lanes = [
            stack.enter_context(
                EngineWorker(entrant, plan.tokenizer, plan.bounds, core)
            )
            for core in _cores_of(own, plan)
        ]
        if not out.finished:
            _warm(lanes)
        for task in plan.tasks:
            subjects = plan.subjects() if task.needs_data else ()
            units = take_shard(_wanted(task, subjects, plan), *plan.shard)
            mark = _mark(entrant, plan, task)
            late = _Late(task)
            left = _unfinished(units, mark, out, tally, advance)
            jobs = _jobs(_unknown(left, late, out, tally, advance), lanes, encode)
            for unit, row in _rows(lanes, jobs):
                late.note(unit, row)
                out.write(row)
                tally.ran += 1
                tally.disturbed += row.quiet is False
                advance(1)
                if worth_one(row):
                    path = write_reproducer(row, unit, entrant, plan, out)
                    tally.reproducers.append(path)


def _warm(lanes: Sequence[EngineWorker]) -> None:
    """Let the workers start while we do something else."""
    for lane in lanes:
        if lane.child is None and lane.idle:
            lane.warm()


def _wanted(task: Task, subjects: Iterable[Sample], plan: RunPlan) -> Iterator[Case]:
    for unit in task.units(subjects, plan.settings):
        names = {unit.id, f"{unit.config}/{unit.id}"}
        if not plan.only or names & plan.only:
            yield unit


def _unfinished(
    units: Iterable[Case],
    mark: str,
    out: ResultsFolder,
    tally: RunTotals,
    advance: Callable[[int], None],
) -> Iterator[tuple[Case, str]]:
    """Yield the units that have no row yet, with their fingerprints."""
    for unit in units:
        fingerprint = fingerprint_of(mark, unit)
        if fingerprint in out.finished:
            tally.found += 1
            advance(1)
        else:
            yield unit, fingerprint


class _Late:
    """What has ended at a deadline in one task, for the units that repeat it."""

    def __init__(self, task: Task) -> None:
        self._repeats = task.repeats
        self._rows: dict[str, Row] = {}

    def note(self, unit: Case, row: Row) -> None:
        """Remember a row if it ended at a deadline."""
        if self._repeats is not None and row.result is Result.TIMEOUT:
            self._rows[self._repeats(unit)] = row

    def row_of(self, unit: Case, fingerprint: str) -> Row | None:
        """Return the row of a unit that need not be asked; None for any other."""
        if self._repeats is None or self._repeats(unit) not in self._rows:
            return None
        known = self._rows[self._repeats(unit)]
        return replace(known, id=unit.id, label=unit.label, fingerprint=fingerprint)


def _unknown(
    units: Iterable[tuple[Case, str]],
    late: _Late,
    out: ResultsFolder,
    tally: RunTotals,
    advance: Callable[[int], None],
) -> Iterator[tuple[Case, str]]:
    """Yield the units that have to be asked; write the rows of the others."""
    for unit, fingerprint in units:
        row = late.row_of(unit, fingerprint)
        if row is None:
            yield unit, fingerprint
            continue
        out.write(row)
        tally.ran += 1
        advance(1)


def _jobs(
    units: Iterable[tuple[Case, str]], lanes: Sequence[EngineWorker], encode: Encode
) -> Iterator[PendingCase]:
    """Yield what is to do; the workers are started before the first."""
    for unit, fingerprint in units:
        _warm(lanes)
        tokens = encode([walk.text for walk in unit.walks]) if unit.walks else []
        yield PendingCase(unit=unit, tokens=tokens, fingerprint=fingerprint)


def _rows(
    lanes: Sequence[EngineWorker], jobs: Iterator[PendingCase]
) -> Iterator[tuple[Case, Row]]:
    """Yield all units with their rows, as they become complete."""
    ready: deque[PendingCase] = deque()
    exhausted = False
    while True:
        for lane in lanes:
            if lane.idle and ready:
                lane.give([ready.popleft() for _ in range(min(_BATCH, len(ready)))])
        while not exhausted and len(ready) < _BATCH * len(lanes):
            job = next(jobs, None)
            exhausted = job is None
            if job is not None:
                ready.append(job)
            if any(lane.idle for lane in lanes) and len(ready) >= _BATCH:
                break
        busy = [lane for lane in lanes if not lane.idle]
        if not busy and not ready:
            return
        if not busy or (ready and any(lane.idle for lane in lanes)):
            continue
        children = [lane.child for lane in busy if lane.child is not None]
        exchange(children, min(lane.patience() for lane in busy))
        for lane in busy:
            yield from lane.collect()


def fingerprint_of(mark: str, unit: Case) -> str:
    """Return the fingerprint of a row: of the unit, and of all that measures it."""
    walks = [[each.text, each.valid, each.label] for each in unit.walks]
    parts = [mark, unit.task, unit.config, unit.id, unit.schema, walks, unit.label]
    return sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _mark(entrant: EngineUnderTest, plan: RunPlan, task: Task) -> str:
    """Return the fingerprint of what decides a row, but for the unit."""
    parts = [
        entrant.identity,
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
    """Return the core of every lane: from the last one down where times count."""
    if not plan.timed:
        return [None] * plan.jobs
    return [own[-1 - index % len(own)] for index in range(plan.jobs)]


@contextmanager
def _elsewhere(own: Sequence[int], plan: RunPlan) -> Iterator[None]:
    """Keep this process off the cores on which times are taken."""
    left = set(own) - {each for each in _cores_of(own, plan) if each is not None}
    if not left or not plan.timed or not hasattr(os, "sched_setaffinity"):
        yield
        return
    os.sched_setaffinity(0, left)
    try:
        yield
    finally:
        os.sched_setaffinity(0, set(own))

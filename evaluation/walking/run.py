"""Put every case of a plan to every engine: one row a case.

Where times are results, engines take turns case by case; otherwise they run one after
the other, over all workers.
"""

from __future__ import annotations

import random
from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.workers.worker import WorkerDidNotStart
from evaluation.core.cases import Case, Result, Row
from evaluation.walking.engine_worker import EngineWorker, PendingCase
from evaluation.walking.plan import RunPlan, RunTotals
from evaluation.walking.work import (
    Encode,
    SharedWork,
    WorkerCores,
    case_fingerprint,
    participant_fingerprint,
    wait_for,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evaluation.core.task import Task
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles
    from evaluation.walking.run_folder import ResultsFolder


def run(
    participants: Sequence[EngineUnderTest],
    plan: RunPlan,
    out: ResultsFolder,
    advance: Callable[[int], None] = lambda _steps: None,
    say: Callable[[str], None] = lambda _message: None,
) -> RunTotals:
    """Put every case to every engine and write its row, but for those finished.

    An engine that cannot be loaded is named in the totals; the others go on.

    Args:
        participants: The engines.
        plan: What they are asked, and within which limits.
        out: Where rows go; its rows are not measured again.
        advance: Told how many more cases are done.
        say: Called with messages about engines that are slow to load.
    """
    totals = RunTotals()
    totals.unavailable.update(
        (one.label, one.unavailable) for one in participants if one.unavailable
    )
    usable = [one for one in participants if not one.unavailable]
    cores = WorkerCores(plan, say)
    work = SharedWork(plan, out, _encoder(plan.tokenizer), totals, advance, cores)
    # Engines take turns where their times are compared.
    compared = len(usable) * plan.repeats > 1
    in_turn = [task for task in plan.tasks if task.takes_turns and compared]
    with cores.off_timed_cores():
        for task in in_turn:
            run_in_turn(usable, task, work)
        one_by_one = [task for task in plan.tasks if task not in in_turn]
        for participant in usable if one_by_one else ():
            if participant.label in totals.unavailable:
                continue
            try:
                run_engine(participant, one_by_one, work)
            except WorkerDidNotStart as fault:
                totals.unavailable[participant.label] = fault.what
        _ask_again(work)
    out.record_unavailable(totals.unavailable)
    return totals


def _encoder(tokenizer: TokenizerFiles) -> Encode:
    """Return the tokenizer's encoder, loaded when it is first needed."""
    loaded: list[Encode] = []

    def encode(texts: Sequence[str]) -> list[list[int] | None]:
        if not loaded:
            loaded.append(tokenizer.encoder())
        return loaded[0](texts)

    return encode


#: Cases that a worker is given at a time.
_BATCH = 8


def run_engine(
    participant: EngineUnderTest, tasks: Sequence[Task], work: SharedWork
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
            pending = _pending(_unfinished(mark, task, work), workers, work)
            for case, row in _rows(workers, pending):
                work.write(participant, case, row)


def _ask_again(work: SharedWork) -> None:
    """Put every undecided case once more, one at a time: nothing else runs now."""
    with ExitStack() as stack:
        workers: dict[str, EngineWorker] = {}
        for participant, case, row in work.undecided[:]:
            label = participant.label
            if label not in workers:
                worker = work.cores.worker(participant, 0)
                workers[label] = stack.enter_context(worker)
            pending = PendingCase(
                case=case,
                tokens=work.tokens(case),
                fingerprint=row.fingerprint,
                repetition=row.repetition,
            )
            try:
                ((_, again),) = _rows([workers[label]], iter([pending]))
            except WorkerDidNotStart:
                again = row
            if again.result is Result.UNDECIDED:
                work.write_undecided(again)
            else:
                work.write(participant, case, again)


def _start(workers: Sequence[EngineWorker]) -> None:
    """Let the workers start while we do something else."""
    for worker in workers:
        worker.start()


def _unfinished(mark: str, task: Task, work: SharedWork) -> Iterator[tuple[Case, str]]:
    """Yield the unfinished cases with their fingerprints."""
    for case in work.cases(task):
        fingerprint = case_fingerprint(mark, case)
        if not work.is_finished(fingerprint):
            yield case, fingerprint


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


@dataclass(slots=True)
class _Repetition:
    """One repetition of one engine, which takes turns with others on a core."""

    participant: EngineUnderTest
    number: int
    worker: EngineWorker
    mark: str


@dataclass(slots=True)
class _Core:
    """A core with all repetitions on it, of which one at a time is at work."""

    repetitions: list[_Repetition]
    #: Who is to be asked what next; first the one who is at work.
    turns: deque[tuple[_Repetition, PendingCase]] = field(default_factory=deque)
    busy: bool = False


def run_in_turn(
    participants: Sequence[EngineUnderTest], task: Task, work: SharedWork
) -> None:
    """Put each case to every engine before the next case, in random order.

    So all engines meet the machine in the same state. Each repetition of an engine has
    its own process, so that the chance effects of a process (its place in memory) are
    part of the spread.
    """
    own = [one for one in participants if one.label not in work.totals.unavailable]
    with ExitStack() as stack:
        cores = [
            _Core(
                [
                    _Repetition(
                        participant,
                        repetition,
                        stack.enter_context(work.cores.worker(participant, place)),
                        participant_fingerprint(participant, work.plan, task),
                    )
                    for participant in own
                    for repetition in range(work.plan.repeats)
                ]
            )
            for place in range(work.plan.jobs)
        ]
        rounds = _rounds(work.cases(task), work)
        while _fill(cores, rounds, work):
            busy = [core.turns[0][0].worker for core in cores if core.busy]
            wait_for(busy)
            for core in cores:
                if core.busy:
                    _collect(core, cores, work)


def _rounds(
    cases: Iterable[Case], work: SharedWork
) -> Iterator[tuple[Case, list[list[int] | None]]]:
    """Yield cases with the tokens of their texts, the next one ahead of its turn."""
    ahead: deque[tuple[Case, list[list[int] | None]]] = deque()
    for case in cases:
        ahead.append((case, work.tokens(case)))
        if len(ahead) > 1:
            yield ahead.popleft()
    yield from ahead


def _fill(
    cores: Sequence[_Core],
    rounds: Iterator[tuple[Case, list[list[int] | None]]],
    work: SharedWork,
) -> bool:
    """Give every core that waits its next turn; return whether any is at work."""
    for core in cores:
        while not core.busy:
            if not core.turns:
                round_ = next(rounds, None)
                if round_ is None:
                    break
                core.turns.extend(_turns(core, *round_, work))
                continue
            measurement, pending = core.turns[0]
            measurement.worker.give([pending])
            core.busy = True
    return any(core.busy for core in cores)


def _turns(
    core: _Core, case: Case, tokens: Sequence[Sequence[int] | None], work: SharedWork
) -> list[tuple[_Repetition, PendingCase]]:
    """Return who has still to be asked a case, in an order drawn for it."""
    turns = []
    for measurement in core.repetitions:
        number = measurement.number
        fingerprint = case_fingerprint(measurement.mark, case, number)
        if not work.is_finished(fingerprint):
            pending = PendingCase(
                case=case, tokens=tokens, fingerprint=fingerprint, repetition=number
            )
            turns.append((measurement, pending))
    seed = f"{work.plan.settings.seed} {case.config} {case.id}"
    random.Random(seed).shuffle(turns)  # noqa: S311 - drawn again alike, not secret
    return turns


def _collect(core: _Core, cores: Sequence[_Core], work: SharedWork) -> None:
    """Write the row of the working repetition, once it is complete.

    An engine that cannot be loaded is dropped on every core.
    """
    measurement, _ = core.turns[0]
    try:
        rows = measurement.worker.collect()
    except WorkerDidNotStart as fault:
        label = measurement.participant.label
        work.totals.unavailable[label] = fault.what
        for other in cores:
            _drop_engine(other, label)
        return
    for case, row in rows:
        work.write(measurement.participant, case, row)
        core.turns.popleft()
        core.busy = False


def _drop_engine(core: _Core, label: str) -> None:
    """Take an engine off a core, with all that it was to be asked."""
    if core.busy and core.turns[0][0].participant.label == label:
        core.busy = False
        core.turns[0][0].worker.close()
    core.repetitions = [
        one for one in core.repetitions if one.participant.label != label
    ]
    core.turns = deque(
        (one, pending) for one, pending in core.turns if one.participant.label != label
    )

"""Put every case of a plan to every engine: one row a case.

Where times are results, engines take turns case by case; otherwise they run one after
the other, over all workers.
"""

from __future__ import annotations

import os
import random
from collections import deque
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING

import orjson

from curation.workers.process import exchange
from curation.workers.worker import WorkerDidNotStart
from evaluation.core.cases import Case, Result, Row
from evaluation.setup.machine import idle_last, usable_cores
from evaluation.walking.code_digest import measuring_digest
from evaluation.walking.engine_worker import EngineWorker, PendingCase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evaluation.core.records import Record
    from evaluation.core.run_header import TaskSettings
    from evaluation.core.task import Task
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles
    from evaluation.walking.engine_worker import Bounds
    from evaluation.walking.run_folder import ResultsFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """The tasks of a run and their limits, without its participants."""

    tasks: Sequence[Task]
    #: Gives the records anew at each call, in the same order.
    records: Callable[[], Iterable[Record]]
    tokenizer: TokenizerFiles
    settings: TaskSettings
    bounds: Bounds
    jobs: int = 1
    #: How often every case of a task whose times are results is measured, each time in
    #: a process of its own.
    repeats: int = 1
    #: Names of the only cases to run, `CONFIG/ID` or `ID`; empty for all.
    only: frozenset[str] = frozenset()

    @property
    def timed(self) -> bool:
        """Whether any task's times are results: then workers are pinned."""
        return any(task.timed for task in self.tasks)


@dataclass(slots=True, kw_only=True)
class RunTotals:
    """Counts of a run."""

    #: Cases whose row was there already.
    reused: int = 0
    #: Cases that were run now.
    ran: int = 0
    #: Cases at which the machine had something else to do on the core, of these.
    disturbed: int = 0
    #: Cases that a busy machine left undecided; the next run asks again.
    undecided: int = 0
    #: Of these, texts for which a failing server gave no answer: their rows are
    #: there, and the next run asks again.
    unanswered: int = 0
    #: The limit at which nothing more was asked for; empty if there was none.
    stopped: str = ""
    #: Answers of batches that are not there yet.
    waiting: int = 0
    #: Label of an engine to why it could not be run.
    unavailable: dict[str, str] = field(default_factory=dict)

    def add(self, other: RunTotals) -> None:
        """Add the totals of another part of the run."""
        self.reused += other.reused
        self.ran += other.ran
        self.disturbed += other.disturbed
        self.undecided += other.undecided
        self.unanswered += other.unanswered
        self.waiting += other.waiting
        self.stopped = other.stopped or self.stopped
        self.unavailable.update(other.unavailable)


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
        plan: The tasks, and their limits.
        out: Where rows go; its rows are not measured again.
        advance: Called with how many more cases are done.
        say: Called with messages about engines that are slow to load.
    """
    work = _Work(plan, out, advance, say)
    totals = work.totals
    totals.unavailable.update(
        (engine.label, engine.unavailable)
        for engine in participants
        if engine.unavailable
    )
    usable = [engine for engine in participants if not engine.unavailable]
    # Engines take turns where their times are compared.
    compared = len(usable) * plan.repeats > 1
    in_turn = [task for task in plan.tasks if task.takes_turns and compared]
    others = [task for task in plan.tasks if task not in in_turn]
    with work.off_timed_cores():
        for task in in_turn:
            _measure(usable, [task], plan.repeats, work)
        for engine in usable if others else ():
            _measure([engine], others, 1, work)
        _ask_again(work)
    out.record_unavailable(totals.unavailable)
    return totals


class _Work:
    """The parts of a run that all its engines share: cores, cases, finished rows."""

    def __init__(
        self,
        plan: RunPlan,
        out: ResultsFolder,
        advance: Callable[[int], None],
        say: Callable[[str], None],
    ) -> None:
        self.plan = plan
        self.totals = RunTotals()
        #: Cases that the machine left undecided, to be asked again at the end.
        self.undecided: list[tuple[EngineUnderTest, Case, Row]] = []
        self._out, self._advance, self._say = out, advance, say
        self._cores = idle_last(usable_cores()) if plan.timed else usable_cores()
        self._encode: Callable[[Sequence[str]], list[list[int] | None]] | None = None

    def worker(self, participant: EngineUnderTest, number: int) -> EngineWorker:
        """Return a worker of an engine, not yet started.

        If times are results, it is kept on one core, from the last one down; all cores
        are for an engine that chooses its threads.
        """
        plan = self.plan
        cores: Sequence[int] = ()
        if plan.timed:
            every = participant.chooses_its_threads
            cores = self._cores if every else (self._core(number),)
        return EngineWorker(participant, plan.tokenizer, plan.bounds, cores, self._say)

    @contextmanager
    def off_timed_cores(self) -> Iterator[None]:
        """Keep this process off the cores on which times are taken."""
        free = set(self._cores) - set(map(self._core, range(self.plan.jobs)))
        if not free or not self.plan.timed or not hasattr(os, "sched_setaffinity"):
            yield
            return
        os.sched_setaffinity(0, free)
        try:
            yield
        finally:
            os.sched_setaffinity(0, set(self._cores))

    def _core(self, number: int) -> int:
        return self._cores[-1 - number % len(self._cores)]

    def is_finished(self, fingerprint: str) -> bool:
        """Return whether a row is there already; then it is counted."""
        finished = fingerprint in self._out.finished
        if finished:
            self.totals.reused += 1
            self._advance(1)
        return finished

    def tokens(self, case: Case) -> list[list[int] | None]:
        """Return the tokens of a case's texts."""
        if not case.walks:
            return []
        if self._encode is None:
            self._encode = self.plan.tokenizer.encoder()
        return self._encode([walk.text for walk in case.walks])

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
        self._out.write(row)
        self.totals.ran += 1
        self._advance(1)


def wanted_cases(task: Task, plan: RunPlan) -> Iterator[Case]:
    """Yield the cases of a task that a run wants."""
    records = plan.records() if task.needs_data else ()
    for case in task.cases(records, plan.settings):
        if not plan.only or plan.only & {case.id, f"{case.config}/{case.id}"}:
            yield case


def _case_fingerprint(mark: str, case: Case, repetition: int) -> str:
    """Return the fingerprint of a row: of the case, and of all that measures it."""
    walks = [[walk.text, walk.valid, walk.label] for walk in case.walks]
    parts: list[object] = [mark, case.task, case.config, case.id, case.schema]
    parts += [walks, case.label]
    if repetition:
        parts.append(repetition)
    return sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _participant_fingerprint(
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


@dataclass(slots=True)
class _Repetition:
    """One repetition of one engine, which takes turns with others on a core."""

    participant: EngineUnderTest
    number: int
    worker: EngineWorker


@dataclass(slots=True)
class _Round:
    """A case with the fingerprints of its unfinished rows, by engine and repetition."""

    case: Case
    tokens: list[list[int] | None]
    fingerprints: dict[tuple[str, int], str]


@dataclass(slots=True)
class _Core:
    """A core with all repetitions on it, of which one at a time is at work."""

    repetitions: list[_Repetition]
    #: Repetitions that are still to be asked a case; the first is at work.
    turns: deque[tuple[_Repetition, PendingCase]] = field(default_factory=deque)
    busy: bool = False


def _measure(
    participants: Sequence[EngineUnderTest],
    tasks: Sequence[Task],
    repeats: int,
    work: _Work,
) -> None:
    """Put each case to every engine before the next case, in random order.

    So all engines meet the machine in the same state. Each repetition of an engine has
    its own process, so that the chance effects of a process (its place in memory) are
    part of the spread.
    """
    known = work.totals.unavailable
    present = [engine for engine in participants if engine.label not in known]
    with ExitStack() as stack:
        cores = [
            _Core(
                [
                    _Repetition(
                        participant,
                        repetition,
                        stack.enter_context(work.worker(participant, number)),
                    )
                    for participant in present
                    for repetition in range(repeats)
                ]
            )
            for number in range(work.plan.jobs)
        ]
        rounds = _ahead(_rounds(present, tasks, repeats, work))
        while _fill(cores, rounds, work):
            _wait_for([core.turns[0][0].worker for core in cores if core.busy])
            for core in cores:
                if core.busy:
                    _collect(core, cores, work)


def _rounds(
    participants: Sequence[EngineUnderTest],
    tasks: Sequence[Task],
    repeats: int,
    work: _Work,
) -> Iterator[_Round]:
    """Yield the cases that are not finished."""
    for task in tasks:
        marks = {
            engine.label: _participant_fingerprint(engine, work.plan, task)
            for engine in participants
        }
        for case in wanted_cases(task, work.plan):
            fingerprints = {
                (label, number): fingerprint
                for label, mark in marks.items()
                for number in range(repeats)
                if not work.is_finished(
                    fingerprint := _case_fingerprint(mark, case, number)
                )
            }
            if fingerprints:
                yield _Round(case, work.tokens(case), fingerprints)


def _ahead(rounds: Iterator[_Round]) -> Iterator[_Round]:
    """Yield rounds, the next one made ahead of its turn: while the engines work."""
    waiting: deque[_Round] = deque()
    for round_ in rounds:
        waiting.append(round_)
        if len(waiting) > 1:
            yield waiting.popleft()
    yield from waiting


def _fill(cores: Sequence[_Core], rounds: Iterator[_Round], work: _Work) -> bool:
    """Give every core that waits its next turn; return whether any is at work."""
    for core in cores:
        while core.repetitions and not core.busy:
            if not core.turns:
                round_ = next(rounds, None)
                if round_ is None:
                    break
                core.turns.extend(_turns(core, round_, work.plan.settings.seed))
                continue
            repetition, pending = core.turns[0]
            repetition.worker.give([pending])
            core.busy = True
    return any(core.busy for core in cores)


def _turns(
    core: _Core, round_: _Round, seed: int
) -> list[tuple[_Repetition, PendingCase]]:
    """Return the repetitions to be asked a case, in an order drawn for it."""
    case = round_.case
    turns = [
        (
            repetition,
            PendingCase(
                case=case,
                tokens=round_.tokens,
                fingerprint=fingerprint,
                repetition=repetition.number,
            ),
        )
        for repetition in core.repetitions
        if (
            fingerprint := round_.fingerprints.get(
                (repetition.participant.label, repetition.number)
            )
        )
    ]
    random.Random(f"{seed} {case.config} {case.id}").shuffle(turns)  # noqa: S311 - drawn again alike, not secret
    return turns


def _wait_for(workers: Sequence[EngineWorker]) -> None:
    """Wait until a worker's process says something, or a deadline passes."""
    children = [worker.child for worker in workers if worker.child is not None]
    exchange(children, min(worker.patience() for worker in workers))


def _collect(core: _Core, cores: Sequence[_Core], work: _Work) -> None:
    """Write the row of the working repetition, once it is complete.

    An engine that cannot be loaded is dropped on every core.
    """
    repetition, _ = core.turns[0]
    try:
        rows = repetition.worker.collect()
    except WorkerDidNotStart as fault:
        label = repetition.participant.label
        work.totals.unavailable[label] = fault.what
        for other in cores:
            _drop_engine(other, label)
        return
    for case, row in rows:
        work.write(repetition.participant, case, row)
        core.turns.popleft()
        core.busy = False


def _drop_engine(core: _Core, label: str) -> None:
    """Take an engine off a core, with all that it was to be asked."""
    if core.busy and core.turns[0][0].participant.label == label:
        core.busy = False
        core.turns[0][0].worker.close()
    core.repetitions = [
        repetition
        for repetition in core.repetitions
        if repetition.participant.label != label
    ]
    core.turns = deque(
        turn for turn in core.turns if turn[0].participant.label != label
    )


def _ask_again(work: _Work) -> None:
    """Put every undecided case once more, one at a time: nothing else runs now."""
    for participant, case, row in work.undecided[:]:
        pending = PendingCase(
            case=case,
            tokens=work.tokens(case),
            fingerprint=row.fingerprint,
            repetition=row.repetition,
        )
        with work.worker(participant, 0) as worker:
            worker.give([pending])
            rows: list[tuple[Case, Row]] = []
            try:
                while not rows:
                    _wait_for([worker])
                    rows = worker.collect()
            except WorkerDidNotStart:
                rows = [(case, row)]
        ((_, again),) = rows
        if again.result is Result.UNDECIDED:
            work.write_undecided(again)
        else:
            work.write(participant, case, again)

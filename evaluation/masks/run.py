"""Put every case of a plan to every engine: one row a case.

Where times are results, engines take turns case by case; otherwise they run one after
the other, over all workers. A row made by other code is measured again
(`measuring_digest`, `writing_digest`); code that only reads rows is left out.
"""

from __future__ import annotations

import os
import random
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

import curation
from curation.workers.fingerprint import digest_of_files, fingerprint
from curation.workers.process import exchange
from curation.workers.worker import WorkerDidNotStart
from evaluation.core.cases import Case, Result, Row
from evaluation.core.run_header import idle_last, usable_cores
from evaluation.masks.engine_worker import EngineWorker, PendingCase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evaluation.core.cases import Bounds
    from evaluation.core.records import Record
    from evaluation.core.run_header import TaskSettings
    from evaluation.core.task import Task
    from evaluation.masks.run_folder import ResultsFolder
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """The tasks of a run and their limits, without its participants."""

    tasks: Sequence[Task]
    #: Reads the records at each call, in the same order.
    records: Callable[[], Iterable[Record]]
    tokenizer: TokenizerFiles
    settings: TaskSettings
    bounds: Bounds
    jobs: int = 1
    #: How often every case of a task whose times are results is measured, each time in
    #: a separate process.
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
    #: Cases of these during which another process used the engine's core.
    disturbed: int = 0
    #: Cases that a busy machine left undecided; the next run asks again.
    undecided: int = 0
    #: Texts for which a failing server gave no answer; the next run asks again.
    unanswered: int = 0
    #: The limit of cost or requests that ended the run; empty if none did.
    stopped: str = ""
    #: By the engine's label, why it could not be run.
    unavailable: dict[str, str] = field(default_factory=dict)


def run(
    participants: Sequence[EngineUnderTest],
    plan: RunPlan,
    out: ResultsFolder,
    advance: Callable[[int], None] = lambda _steps: None,
    log: Callable[[str], None] = lambda _message: None,
) -> RunTotals:
    """Put every case to every engine and write its row, but for those finished.

    An engine that cannot be loaded is named in the totals; the others continue.

    Args:
        participants: The engines.
        plan: The tasks, and their limits.
        out: Where rows go; its rows are not measured again.
        advance: Called with how many more cases are done.
        log: Called with messages about engines that are slow to load.
    """
    work = _Work(plan, out, advance, log)
    usable = [engine for engine in participants if not engine.unavailable]
    unavailable = work.totals.unavailable
    unavailable |= {
        participant.label: participant.unavailable
        for participant in participants
        if participant.unavailable
    }
    # Engines take turns where their times are compared.
    compared = len(usable) * plan.repeats > 1
    in_turn = [task for task in plan.tasks if task.takes_turns and compared]
    others = [task for task in plan.tasks if task not in in_turn]
    with work.off_timed_cores():
        for task in in_turn:
            work.measure(usable, [task], plan.repeats)
        for engine in usable if others else ():
            work.measure([engine], others, 1)
        work.ask_again()
    out.record_unavailable(unavailable)
    return work.totals


def wanted_cases(task: Task, plan: RunPlan) -> Iterator[Case]:
    """Yield the cases of a task that a run wants."""
    records = plan.records() if task.needs_data else ()
    for case in task.cases(records, plan.settings):
        if not plan.only or plan.only & {case.id, f"{case.config}/{case.id}"}:
            yield case


@dataclass(slots=True)
class _Core:
    """A core with its workers, one of them at work at a time."""

    #: By the engine's label and the number of the repetition.
    workers: dict[tuple[str, int], EngineWorker]
    #: Workers that are still to be given a case; the first is at work.
    turns: deque[tuple[EngineWorker, PendingCase]] = field(default_factory=deque)
    busy: bool = False


class _Work:
    """The cases of a run on their way to its engines, and the rows on their way back.

    If times are results, a worker is kept on one core, from the last one down; all
    cores are for an engine that chooses its threads.
    """

    def __init__(
        self,
        plan: RunPlan,
        out: ResultsFolder,
        advance: Callable[[int], None],
        log: Callable[[str], None],
    ) -> None:
        self._plan, self._out, self._advance, self._say = plan, out, advance, log
        self.totals = RunTotals()
        #: Cases that the machine left undecided, to be asked again at the end.
        self._undecided: list[tuple[EngineUnderTest, PendingCase, Row]] = []
        self._cores = idle_last(usable_cores()) if plan.timed else usable_cores()
        self._encode: Callable[[Sequence[str]], list[list[int] | None]] | None = None

    def _worker(self, participant: EngineUnderTest, number: int) -> EngineWorker:
        """Return a worker of an engine, not yet started."""
        plan = self._plan
        cores: Sequence[int] = ()
        if plan.timed:
            every = participant.chooses_its_threads
            cores = self._cores if every else (self._core(number),)
        return EngineWorker(participant, plan.tokenizer, plan.bounds, cores, self._say)

    def _core(self, number: int) -> int:
        return self._cores[-1 - number % len(self._cores)]

    @contextmanager
    def off_timed_cores(self) -> Iterator[None]:
        """Keep this process off the cores on which times are taken."""
        free = set(self._cores) - set(map(self._core, range(self._plan.jobs)))
        if not free or not self._plan.timed or not hasattr(os, "sched_setaffinity"):
            yield
            return
        os.sched_setaffinity(0, free)
        try:
            yield
        finally:
            os.sched_setaffinity(0, set(self._cores))

    def measure(
        self, participants: Sequence[EngineUnderTest], tasks: Sequence[Task], count: int
    ) -> None:
        """Put each case to every engine before the next case, in random order.

        So all engines meet the machine in the same state. Each repetition of an engine
        has its own process, so that the chance effects of a process (its place in
        memory) are part of the spread.
        """
        known = self.totals.unavailable
        present = [engine for engine in participants if engine.label not in known]
        with ExitStack() as stack:
            cores = [
                _Core(
                    {
                        (engine.label, repetition): stack.enter_context(
                            self._worker(engine, number)
                        )
                        for engine in present
                        for repetition in range(count)
                    }
                )
                for number in range(self._plan.jobs)
            ]
            rounds = self._rounds(present, tasks, count)
            while self._fill(cores, rounds):
                _wait_for([core.turns[0][0] for core in cores if core.busy])
                for core in cores:
                    if core.busy:
                        self._collect(core, cores)

    def _rounds(
        self, participants: Sequence[EngineUnderTest], tasks: Sequence[Task], count: int
    ) -> Iterator[dict[tuple[str, int], PendingCase]]:
        """Yield each case that is not finished, by engine and repetition."""
        plan = self._plan
        for task in tasks:
            marks = {
                engine.label: sha256(
                    orjson.dumps(
                        [
                            engine.identity,
                            plan.tokenizer.digest,
                            asdict(plan.bounds),
                            measuring_digest(),
                            task.name,
                        ]
                    )
                ).hexdigest()
                for engine in participants
            }
            for case in wanted_cases(task, plan):
                missing: dict[tuple[str, int], str] = {}
                for label, mark in marks.items():
                    for number in range(count):
                        fingerprint = _case_fingerprint(mark, case, number)
                        if fingerprint in self._out.finished:
                            self.totals.reused += 1
                            self._advance(1)
                        else:
                            missing[label, number] = fingerprint
                if missing:
                    tokens = self._tokens(case)
                    yield {
                        key: PendingCase(case, tokens, fingerprint, key[1])
                        for key, fingerprint in missing.items()
                    }

    def _tokens(self, case: Case) -> list[list[int] | None]:
        if not case.walks:
            return []
        if self._encode is None:
            self._encode = self._plan.tokenizer.encoder()
        return self._encode([walk.text for walk in case.walks])

    def _fill(
        self,
        cores: Sequence[_Core],
        rounds: Iterator[dict[tuple[str, int], PendingCase]],
    ) -> bool:
        """Give every core that waits its next turn; return whether any is at work."""
        for core in cores:
            while core.workers and not core.busy:
                if core.turns:
                    worker, pending = core.turns[0]
                    worker.give(pending)
                    core.busy = True
                    continue
                round_ = next(rounds, None)
                if round_ is None:
                    break
                case = next(iter(round_.values())).case
                turns = [
                    (core.workers[key], pending)
                    for key, pending in round_.items()
                    if key in core.workers
                ]
                seed = f"{self._plan.settings.seed} {case.config} {case.id}"
                random.Random(seed).shuffle(turns)  # noqa: S311 - drawn again alike, not secret
                core.turns.extend(turns)
        return any(core.busy for core in cores)

    def _collect(self, core: _Core, cores: Sequence[_Core]) -> None:
        """Write the row of the worker whose turn it is, once it is complete.

        An engine that cannot be loaded is dropped on every core.
        """
        worker, pending = core.turns[0]
        engine = worker.participant
        try:
            row = worker.collect()
        except WorkerDidNotStart as fault:
            self.totals.unavailable[engine.label] = fault.message
            for other in cores:
                if other.busy and other.turns[0][0].participant is engine:
                    other.busy = False
                    other.turns[0][0].close()
                kept = {
                    k: it for k, it in other.workers.items() if k[0] != engine.label
                }
                other.workers = kept
                other.turns = deque(t for t in other.turns if t[0] in kept.values())
            return
        if row is None:
            return
        core.turns.popleft()
        core.busy = False
        if row.result is Result.UNDECIDED:
            self._undecided.append((engine, pending, row))
        else:
            self._write(row)

    def _write(self, row: Row) -> None:
        """Write a row; for an undecided case one to repeat."""
        if row.result is Result.UNDECIDED:
            row = replace(row, fingerprint="")
            self.totals.undecided += 1
        else:
            self.totals.disturbed += row.quiet is False
        self._out.write(row)
        self.totals.ran += 1
        self._advance(1)

    def ask_again(self) -> None:
        """Repeat every undecided case, one at a time: nothing else runs now."""
        for engine, pending, row in self._undecided:
            again: Row | None = None
            with self._worker(engine, 0) as worker, suppress(WorkerDidNotStart):
                worker.give(replace(pending, deaths=0))
                while again is None:
                    _wait_for([worker])
                    again = worker.collect()
            self._write(again or row)


def _case_fingerprint(mark: str, case: Case, repetition: int) -> str:
    """Return the fingerprint of a row: over the case, and all that measures it."""
    walks = [[walk.text, walk.valid, walk.label] for walk in case.walks]
    parts: list[object] = [mark, case.task, case.config, case.id, case.schema]
    parts += [walks, case.label]
    parts += [repetition] if repetition else []
    return sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _wait_for(workers: Sequence[EngineWorker]) -> None:
    """Wait until a worker's process answers, or a deadline passes."""
    children = [worker.child for worker in workers if worker.child is not None]
    exchange(children, min(worker.patience() for worker in workers))


#: The folder that holds both packages.
_ROOT: Final = Path(curation.__file__).parents[1]
#: Added to the files of the engine and the task; a folder covers its modules and
#: its tables.
MEASURING: Final = (
    "evaluation/masks",
    "evaluation/tokenizers",
    "evaluation/core/cases.py",
    "evaluation/results/outcomes.py",
    "curation/json/pointer.py",
    "curation/workers",
)
#: Code that writes texts, and code that judges them.
WRITING: Final = (
    *MEASURING,
    "evaluation/answers",
    "evaluation/generation",
    "evaluation/models",
    "evaluation/prompts",
    "evaluation/servers",
    "evaluation/suites/coverage",
    "curation/fit",
    "curation/instances",
    "curation/json",
    "curation/references",
    "curation/regex",
    "curation/relation",
    "curation/schema",
    "curation/validation",
)
#: Modules of those folders that only read rows.
_READING: Final = frozenset({"report.py", "efficiency.py", "texts.py"})
#: Libraries whose version decides how a text is judged.
_JUDGES: Final = ("jsonschema", "jsonschema-rs", "referencing", "regress")


def code_files(names: Sequence[str], root: Path = _ROOT) -> list[tuple[Path, Path]]:
    """Return the files of `MEASURING` or `WRITING`, each after the root.

    Args:
        names: Paths of files, and of folders that cover their modules.
        root: The folder that holds both packages.
    """
    paths: set[Path] = set()
    for name in names:
        path = root / name
        inside = (*path.rglob("*.py"), *path.rglob("*.toml"))
        paths.update(inside if path.is_dir() else (path,))
    return [(root, path) for path in sorted(paths) if path.name not in _READING]


@cache
def measuring_digest() -> str:
    """Return the digest of the code that decides a measurement."""
    return digest_of_files(code_files(MEASURING))


@cache
def writing_digest() -> str:
    """Return the digest of the code that writes and judges texts."""
    return fingerprint(
        code=digest_of_files(code_files(WRITING)),
        judges={name: version(name) for name in _JUDGES},
    )

"""The worker of one engine: questions, deadlines, answers, and blame for deaths.

A case is two questions, compile and walk, each with a deadline. If the worker dies, the
case is tried again in a new worker; it is blamed if that one dies too.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

import curation.workers.protocol
from curation.workers.limits import Limits
from curation.workers.outcomes import MEMORY_WORDS, Ending, ProcessResult
from curation.workers.process import Child, Program
from curation.workers.shared_memory import SharedMemory
from curation.workers.worker import Worker, WorkerDidNotStart
from evaluation.core.cases import LONG_TEXT, Case, Row
from evaluation.walking.engine_process import MOST_PRINTED_BYTES
from evaluation.walking.rows import build_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from curation.core.json_types import Json
    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles


class CompileQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Compile a schema; the grammar is kept for the next question."""

    #: The schema's text.
    compile: str
    #: Whether untimed work comes first, in a process that has not done any yet.
    warm_up: bool = False


class WalkQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """Walk texts through the masks of the grammar compiled last."""

    #: The tokens of each text; None where none spell it.
    walks: Sequence[Sequence[int] | None]
    #: What all walks together may take: of processor time, and by the wall clock.
    seconds: float
    wall_seconds: float
    #: Of which texts forced tokens are counted: of the first valid one, since asking
    #: for them costs as much as a commit.
    forced: Sequence[bool] = ()
    #: The places of the texts in the order in which they are walked: long ones last, so
    #: that a limit which one of them reaches costs no other its walk.
    order: Sequence[int] = ()
    #: The text of each valid walk: where it is blocked, the byte is looked for.
    texts: Sequence[str | None] = ()


_HERE = Path(__file__).parent
#: Times that a case may end a worker before it is blamed.
_ATTEMPTS = 2
#: The same where somebody else killed the worker: the kernel for want of memory
#: everywhere, or a person. It says little of the case.
_KILLS = 4
#: Seconds that a worker has beyond the deadline it keeps itself, token by token.
_GRACE = 1.0
#: Bytes of what a process printed that are kept where it died.
_MOST_PRINTED = 8 * 1024
_NEVER = 1 << 40
#: Seconds after which it is said that an engine is still being loaded.
_SLOW_START = 5.0
#: Libraries that would use more than the one core that they are given.
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "RAYON_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ),
    "1",
) | {"TOKENIZERS_PARALLELISM": "false"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What one case may cost; part of every fingerprint."""

    #: Of processor time, as are those of the walks: another's work is not the engine's.
    compile_seconds: float = 40.0
    run_seconds: float = 40.0
    #: Seconds by the wall clock until an engine is loaded; it decides no row.
    load_seconds: float = 180.0
    #: How many times as long either may take by the wall clock.
    wall_times: float = 4.0
    #: MiB above what the worker holds when it is ready.
    memory_mb: int = 4096

    def limits(self) -> Limits:
        """Return the limits of the worker."""
        return Limits(
            seconds=max(self.compile_seconds, self.run_seconds),
            wall_times=self.wall_times,
            start_seconds=self.load_seconds,
            memory_mb=self.memory_mb,
            recycle_after=_NEVER,
        )


@dataclass(slots=True)
class PendingCase:
    """A case with what its worker has to know, and what it has answered so far."""

    case: Case
    #: Token ids of each walk's text; None where no tokens spell it.
    tokens: Sequence[Sequence[int] | None]
    fingerprint: str
    #: Which measurement of the case it is, from 0.
    repetition: int = 0
    #: Workers that died of it.
    deaths: int = 0
    answers: list[Json] = field(default_factory=list)


class EngineWorker:
    """One worker and the cases that it was given, in order."""

    def __init__(
        self,
        participant: EngineUnderTest,
        tokenizer: TokenizerFiles,
        bounds: Bounds,
        cores: Sequence[int],
        say: Callable[[str], None] = lambda _message: None,
    ) -> None:
        """Prepare; nothing is started yet.

        Args:
            participant: The engine.
            tokenizer: Whose tokens are walked.
            bounds: What one case may cost.
            cores: The cores that the process is kept on; none for any.
            say: Is told once if the engine takes long to load.
        """
        self._participant = participant
        self._bounds = bounds
        self._open = ExitStack()
        #: What the process prints; a run that is killed leaves no file of it.
        self._printed = Path(self._open.enter_context(SharedMemory(0)).path)
        setup: dict[str, Json] = {
            "engine": str(participant.file.path),
            "options": dict(participant.options),
            "tokenizer": tokenizer_setup(tokenizer),
            "checks_commit": participant.file.about.checks_commit,
            "byte_ids": [*tokenizer.byte_ids()],
            "cores": list(cores),
        }
        program = Program(
            file=_HERE / "engine_process.py",
            setup=setup,
            interpreter=participant.interpreter,
            arguments=(
                curation.workers.protocol.__file__,
                str(self._printed),
                str(_HERE / "walk_session.py"),
            ),
            environment={} if participant.chooses_its_threads else ONE_THREAD,
        )
        self._worker = Worker(program, bounds.limits())
        self._pending: deque[PendingCase] = deque()
        #: Cases that the present process has finished.
        self._served = 0
        #: Whether a process does untimed work first; not once it has died of that.
        self._warms_up = True
        self._died_warm = False
        self._printed_too_much = False
        self._say: Callable[[str], None] | None = say

    def __enter__(self) -> Self:
        """Return the worker."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the worker."""
        self.close()

    def close(self) -> None:
        """Kill the worker and give its memory back."""
        self._worker.kill()
        self._open.close()

    @property
    def child(self) -> Child | None:
        """The running process, for `exchange`."""
        return self._worker.child

    @property
    def idle(self) -> bool:
        """Whether every case given has its row."""
        return not self._pending

    def start(self) -> None:
        """Start the process if it does not run; do not wait until it is ready."""
        if self.child is None and self.idle:
            self._worker.begin([])

    def patience(self) -> float:
        """Return for how many seconds no deadline passes."""
        return self._worker.seconds_to_wait()

    def give(self, cases: Iterable[PendingCase]) -> None:
        """Hand over cases; `collect` returns their rows, in order."""
        self._pending.extend(cases)
        self._ask()

    def collect(self) -> list[tuple[Case, Row]]:
        """Return the cases that have become complete since the last call.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
        """
        rows: list[tuple[Case, Row]] = []
        self._tell_of_slow_start()
        for outcome in self._outcomes():
            pending = self._pending[0]
            pending.answers.append(outcome.answer)
            if outcome.ending is not Ending.OK:
                rows += self._handle_death(pending, outcome)
                break
            if len(pending.answers) == len(self._questions(pending)):
                rows.append(self._finish(pending, None))
        if self._pending and self._worker.child is None:
            self._ask()
        return rows

    def _tell_of_slow_start(self) -> None:
        """Say once that an engine is still being loaded, and when it is given up."""
        if self._say is not None and self._worker.starting_seconds() >= _SLOW_START:
            self._say(
                f"{self._participant.label} is still being loaded after "
                f"{_SLOW_START:g} s; it is given up after {self._bounds.load_seconds:g}"
            )
            self._say = None

    def _outcomes(self) -> list[ProcessResult]:
        """Return what has come of questions; a process that prints and prints is ended.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
        """
        outcomes = self._worker.collect()
        if outcomes or self._worker.child is None or not self._has_printed_too_much():
            return outcomes
        detail = f"it printed over {MOST_PRINTED_BYTES >> 20} MiB"
        if not self._pending or self._worker.starting_seconds():
            raise WorkerDidNotStart(f"{detail} while it was loaded")
        self._printed_too_much = True
        return [ProcessResult(ending=Ending.ERROR, detail=detail)]

    def _has_printed_too_much(self) -> bool:
        try:
            return self._printed.stat().st_size >= MOST_PRINTED_BYTES
        except OSError:
            return False

    def _handle_death(
        self, pending: PendingCase, outcome: ProcessResult
    ) -> list[tuple[Case, Row]]:
        """Return the row of a case that ended its worker; none if it is tried again."""
        self._worker.kill()
        fresh, self._served = not self._served, 0
        # It may have been the warm-up; the next try is without.
        self._died_warm = fresh and self._warms_up and not pending.deaths
        pending.deaths += 1
        killed = outcome.was_killed
        guilty = pending.deaths >= (_KILLS if killed else _ATTEMPTS)
        rows: list[tuple[Case, Row]] = []
        if (
            guilty
            or (fresh and not killed and not self._died_warm)
            or outcome.ending is Ending.ERROR
        ):
            rows.append(self._finish(pending, self._with_printed(outcome)))
        return rows

    def _finish(
        self, pending: PendingCase, end: ProcessResult | None
    ) -> tuple[Case, Row]:
        self._pending.popleft()
        self._served += end is None
        if self._died_warm and end is None:
            self._warms_up = False
        self._died_warm = False
        row = build_row(
            self._participant.label,
            pending.case,
            pending.tokens,
            pending.answers,
            end,
            pending.fingerprint,
            printed_too_much=self._printed_too_much,
        )
        self._printed_too_much = False
        return pending.case, replace(row, repetition=pending.repetition)

    def _ask(self) -> None:
        """Put all questions of all cases to the worker, from the first on."""
        questions: list[CompileQuestion | WalkQuestion] = []
        seconds: list[float] = []
        for pending in self._pending:
            pending.answers.clear()
            for question, patience in self._questions(pending):
                questions.append(question)
                seconds.append(patience)
        self._worker.begin(questions, seconds)

    def _questions(
        self, pending: PendingCase
    ) -> list[tuple[CompileQuestion | WalkQuestion, float]]:
        """Return the questions of a case, each with its deadline in seconds."""
        bounds = self._bounds
        questions: list[tuple[CompileQuestion | WalkQuestion, float]] = [
            (
                CompileQuestion(
                    compile=pending.case.schema,
                    warm_up=self._warms_up and not pending.deaths,
                ),
                bounds.compile_seconds,
            )
        ]
        if pending.tokens:
            walk = WalkQuestion(
                walks=pending.tokens,
                seconds=bounds.run_seconds,
                wall_seconds=bounds.run_seconds * bounds.wall_times,
                forced=_counts_forced(pending),
                order=sorted(
                    range(len(pending.tokens)),
                    key=lambda place: len(pending.tokens[place] or ()) > LONG_TEXT,
                ),
                texts=[
                    walk.text if walk.valid else None for walk in pending.case.walks
                ],
            )
            questions.append((walk, bounds.run_seconds + _GRACE))
        return questions

    def _with_printed(self, outcome: ProcessResult) -> ProcessResult:
        """Add what the process printed before it died; memory may have been why."""
        try:
            content = self._printed.read_bytes()
            os.truncate(self._printed, 0)
        except OSError:
            return outcome
        printed = content[-_MOST_PRINTED:].decode("utf-8", "replace")
        ending = outcome.ending
        if ending is Ending.CRASH and any(word in printed for word in MEMORY_WORDS):
            ending = Ending.OUT_OF_MEMORY
        return replace(outcome, ending=ending, stderr=printed + outcome.stderr)


def _counts_forced(pending: PendingCase) -> list[bool]:
    """Return of which texts forced tokens are counted: of the first valid one."""
    walks = pending.case.walks
    valid = [
        index
        for index, (walk, tokens) in enumerate(zip(walks, pending.tokens, strict=True))
        if tokens and walk.valid and not walk.label.get("apart")
    ]
    return [index in valid[:1] for index in range(len(walks))]


def tokenizer_setup(tokenizer: TokenizerFiles) -> dict[str, Json]:
    """Return what a worker is given of a tokenizer: files and numbers."""
    return {
        "tokens": str(tokenizer.tokens),
        "vocab_size": tokenizer.vocab_size,
        "eos_id": tokenizer.eos_id,
        "special_ids": list(tokenizer.special_ids),
        "kind": tokenizer.kind,
        "tokenizer_json": str(tokenizer.tokenizer_json),
    }

"""A case to an engine's process and back: questions, deadlines, answers, one row.

A case is two questions, compile and walk, each with a deadline. If the process dies,
the case is tried again in a new one; it is blamed if that one dies too. An engine and
the session share a process, so an answer may be anything: its type is checked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import msgspec

from curation.core.json_types import Json
from curation.workers import protocol
from curation.workers.limits import MEMORY_WORDS, Ending, Limits, ProcessResult
from curation.workers.process import Child, Program, SharedMemory
from curation.workers.worker import Worker, WorkerDidNotStart
from evaluation.core.cases import (
    LONG_TEXT,
    Bounds,
    Case,
    InstanceResult,
    Result,
    Row,
    WalkVerdict,
    Whole,
)
from evaluation.masks.diagnosis import diagnose
from evaluation.masks.engine_process import printed_lines, without_addresses

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.setup.selected_engines import EngineUnderTest
    from evaluation.tokenizers import TokenizerFiles


class WorkerAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The members of every answer of `walk_session.py`."""

    #: Whether nothing else was given the worker's core.
    quiet: bool | None = None
    #: Output of the engine meanwhile.
    printed: str = ""
    #: Whether it printed as much as it may.
    printed_too_much: bool = False
    rss_bytes: Whole | None = None


class CompileAnswer(WorkerAnswer, frozen=True, kw_only=True):
    """The answer to `compile`: how long it took, or why the schema is refused."""

    compile_ns: Whole | None = None
    #: Nanoseconds of it in which the process waited for its core.
    waited_ns: Whole | None = None
    #: Processor time of the calibration work, just before.
    calibration_ns: Whole | None = None
    refusal: str | None = None
    warnings: tuple[str, ...] = ()


class WalkedText(msgspec.Struct, frozen=True, kw_only=True):
    """The record of one walk."""

    verdict: WalkVerdict
    at: Whole | None = None
    mask_ns: tuple[Whole, ...] = ()
    commit_ns: tuple[Whole, ...] = ()
    forced: Whole | None = None
    detail: str = ""
    waited_ns: Whole | None = None
    #: Bytes of a valid text that the grammar takes, if it was blocked.
    byte: Whole | None = None


class WalkAnswer(WorkerAnswer, frozen=True, kw_only=True):
    """The answer to `walks`."""

    #: In the order of the question.
    walks: tuple[WalkedText, ...] = ()
    first_mask_ns: Whole | None = None
    #: Why the deadline ended the walks; empty if it did not.
    late: str = ""
    #: Whether that was the wall clock's.
    by_wall_clock: bool = False
    #: Whether it was, since the process waited for a core.
    for_want_of_core: bool = False


_HERE = Path(__file__).parent
#: Times that a case may end a worker before it is blamed.
_ATTEMPTS = 2
#: The same where somebody else killed the worker: the kernel for want of memory
#: everywhere, or a person. It is hardly due to the case.
_KILLS = 4
#: Seconds that a worker has beyond the deadline it keeps itself, token by token.
_GRACE = 1.0
#: Bytes kept of a dead process's output.
_MAX_KEPT = 8 * 1024
_MAX_WARNINGS: Final = 50
#: Seconds before the message that an engine is still loading.
_SLOW_START = 5.0
#: The result of a case by the ending of the engine's process.
RESULTS: Final = {
    Ending.TIMEOUT: Result.TIMEOUT,
    Ending.CRASH: Result.CRASH,
    Ending.OUT_OF_MEMORY: Result.OUT_OF_MEMORY,
    Ending.ERROR: Result.ENGINE_ERROR,
    Ending.PROTOCOL: Result.PROTOCOL_ERROR,
}
_TOO_MUCH: Final = f"it printed over {protocol.MAX_PRINTED_BYTES >> 20} MiB"


@dataclass(slots=True)
class PendingCase:
    """A case, with its worker's answers so far."""

    case: Case
    #: Token ids of each walk's text; None where no tokens spell it.
    tokens: Sequence[Sequence[int] | None]
    fingerprint: str
    #: Which measurement of the case it is, from 0.
    repetition: int = 0
    #: Workers that died of it.
    deaths: int = 0
    answers: list[Json] = field(default_factory=list)

    def questions(
        self, bounds: Bounds, *, warm_up: bool
    ) -> list[tuple[dict[str, Json], float]]:
        """Return the questions of `walk_session.py`, each with its deadline in seconds.

        Forced tokens are counted of the first valid text alone, since asking for them
        costs as much as a commit. A long text is walked last, so that a limit which it
        reaches costs no other its walk.
        """
        compiling: dict[str, Json] = {"compile": self.case.schema, "warm_up": warm_up}
        questions = [(compiling, bounds.compile_seconds)]
        texts: list[Json] = []
        counted = False
        for walk, tokens in zip(self.case.walks, self.tokens, strict=True):
            counts = walk.valid and bool(tokens) and not walk.label.get("apart")
            texts.append(
                {
                    "tokens": None if tokens is None else [*tokens],
                    "text": walk.text if walk.valid else None,
                    "counts_forced": counts and not counted,
                    "last": len(tokens or ()) > LONG_TEXT,
                }
            )
            counted |= counts
        walking: dict[str, Json] = {
            "walks": texts,
            "seconds": bounds.run_seconds,
            "wall_seconds": bounds.run_seconds * bounds.wall_times,
        }
        if texts:
            questions.append((walking, bounds.run_seconds + _GRACE))
        return questions


class EngineWorker:
    """One worker, and the case that it was given."""

    def __init__(
        self,
        participant: EngineUnderTest,
        tokenizer: TokenizerFiles,
        bounds: Bounds,
        cores: Sequence[int],
        log: Callable[[str], None] = lambda _message: None,
    ) -> None:
        """Prepare; nothing is started yet.

        Args:
            participant: The engine.
            tokenizer: Whose tokens are walked.
            bounds: Limits of one case.
            cores: The cores that the process is kept on; none for any.
            log: Called once if the engine takes long to load.
        """
        self.participant = participant
        self._bounds = bounds
        self._open = ExitStack()
        #: The process's output; a killed run leaves no file of it.
        self._printed = Path(self._open.enter_context(SharedMemory(0)).path)
        setup: dict[str, Json] = {
            "checks_commit": participant.file.about.checks_commit,
            "byte_ids": [*tokenizer.byte_ids()],
            "cores": list(cores),
        }
        program = with_session(
            engine_program(participant, tokenizer),
            "walk_session.py",
            str(self._printed),
            setup,
        )
        limits = Limits(
            seconds=max(bounds.compile_seconds, bounds.run_seconds),
            wall_times=bounds.wall_times,
            start_seconds=bounds.load_seconds,
            memory_mb=bounds.memory_mb,
            recycle_after=sys.maxsize,
        )
        self._worker = Worker(program, limits)
        self._pending: PendingCase | None = None
        #: Whether the present process has finished a case.
        self._served = False
        #: Whether a process does untimed work first; not once it has died of that.
        self._warms_up = True
        self._died_warm = False
        self._say: Callable[[str], None] | None = log

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

    def patience(self) -> float:
        """Return for how many seconds no deadline passes."""
        return self._worker.seconds_to_wait()

    def give(self, case: PendingCase) -> None:
        """Hand over a case; `collect` returns its row."""
        self._pending = case
        self._ask(case)

    def _ask(self, case: PendingCase) -> None:
        case.answers.clear()
        warm_up = self._warms_up and not case.deaths
        questions, seconds = zip(
            *case.questions(self._bounds, warm_up=warm_up), strict=True
        )
        self._worker.begin(questions, seconds)

    def collect(self) -> Row | None:
        """Return the row of the case; None while it is not complete.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
        """
        if self._say is not None and self._worker.starting_seconds() >= _SLOW_START:
            self._say(
                f"{self.participant.label} is still being loaded after "
                f"{_SLOW_START:g} s; it is given up after {self._bounds.load_seconds:g}"
            )
            self._say = None
        outcomes = self._outcomes()
        pending = self._pending
        if pending is None:
            return None
        for outcome in outcomes:
            pending.answers.append(outcome.answer)
            if outcome.ending is not Ending.OK:
                if self._is_blamed(pending, outcome):
                    return self._finish(pending, self._with_printed(outcome))
                break
            if len(pending.answers) == (2 if pending.tokens else 1):
                self._served = True
                self._warms_up &= not self._died_warm
                return self._finish(pending, None)
        if self._worker.child is None:
            self._ask(pending)
        return None

    def _outcomes(self) -> list[ProcessResult]:
        """Return new answers; a process that prints without end is ended.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
        """
        outcomes = self._worker.collect()
        if outcomes or self._worker.child is None:
            return outcomes
        if self._printed.stat().st_size < protocol.MAX_PRINTED_BYTES:
            return outcomes
        if self._pending is None or self._worker.starting_seconds():
            raise WorkerDidNotStart(f"{_TOO_MUCH} while it was loaded")
        return [ProcessResult(ending=Ending.ERROR, detail=_TOO_MUCH)]

    def _is_blamed(self, pending: PendingCase, outcome: ProcessResult) -> bool:
        """Return whether a case is at fault that its worker died; no: it is retried."""
        self._worker.kill()
        fresh = not self._served
        self._served = False
        # It may have been the warm-up; the next try is without.
        self._died_warm = fresh and self._warms_up and not pending.deaths
        pending.deaths += 1
        killed = outcome.was_killed
        return (
            pending.deaths >= (_KILLS if killed else _ATTEMPTS)
            or (fresh and not killed and not self._died_warm)
            or outcome.ending is Ending.ERROR
        )

    def _finish(self, pending: PendingCase, end: ProcessResult | None) -> Row:
        self._pending = None
        self._died_warm = False
        return build_row(self.participant.label, pending, end)

    def _with_printed(self, outcome: ProcessResult) -> ProcessResult:
        """Add the process's last output; memory may have been the cause."""
        content = self._printed.read_bytes()
        os.truncate(self._printed, 0)
        printed = content[-_MAX_KEPT:].decode("utf-8", "replace")
        ending = outcome.ending
        if ending is Ending.CRASH and any(word in printed for word in MEMORY_WORDS):
            ending = Ending.OUT_OF_MEMORY
        return outcome._replace(ending=ending, stderr=printed + outcome.stderr)


def engine_program(engine: EngineUnderTest, tokenizer: TokenizerFiles) -> Program:
    """Return the program of an engine's process, without a session."""
    return Program(
        setup={
            "engine": str(engine.file.path),
            "options": dict(engine.options),
            "tokenizer": tokenizer_setup(tokenizer),
        },
        interpreter=engine.interpreter,
        environment=engine.environment(),
    )


def with_session(
    program: Program, session: str, printed: str, setup: Mapping[str, Json]
) -> Program:
    """Return the program of an engine's process that answers a session's questions.

    Args:
        program: The engine's: engine, options and tokenizer as its setup.
        session: The file of the session.
        printed: The path of the file for its output.
        setup: What the session needs besides.

    Raises:
        TypeError: the program has no setup.
    """
    if not isinstance(program.setup, dict):
        raise TypeError
    return program._replace(
        file=_HERE / "engine_process.py",
        setup={**program.setup, **setup},
        arguments=(protocol.__file__, printed, str(_HERE / session)),
    )


def tokenizer_setup(tokenizer: TokenizerFiles) -> dict[str, Json]:
    """Return a worker's part of a tokenizer: files and numbers."""
    return {
        "tokens": str(tokenizer.tokens),
        "vocab_size": tokenizer.vocab_size,
        "eos_id": tokenizer.eos_id,
        "special_ids": list(tokenizer.special_ids),
        "tokenizer_json": str(tokenizer.tokenizer_json),
    }


def build_row(
    engine: str,
    pending: PendingCase,
    end: ProcessResult | None,
) -> Row:
    """Return the row of one case.

    Args:
        engine: The engine's label.
        pending: The case with the worker's answers to compile and walk, as far as they
            came; None for a question that has no answer.
        end: How the process ended at the question that has no answer.
    """
    case, answers = pending.case, pending.answers
    try:
        compiled = msgspec.convert((answers and answers[0]) or {}, CompileAnswer)
        walked = msgspec.convert((answers[1:] and answers[1]) or {}, WalkAnswer)
    except msgspec.ValidationError as error:
        compiled, walked = CompileAnswer(), WalkAnswer()
        end = ProcessResult(ending=Ending.PROTOCOL, detail=f"no answer: {error}")
    result, detail = _ending(compiled, walked, end)
    if detail == _TOO_MUCH or compiled.printed_too_much or walked.printed_too_much:
        result, detail = Result.TOO_MUCH_OUTPUT, _TOO_MUCH
    in_compile = (
        len(answers) < 2  # noqa: PLR2004 (the walks' answer)
        or compiled.printed_too_much
        or result is Result.COMPILE_ERROR
    )
    phase = "compile" if in_compile else "walk"
    parts = (compiled, walked)[: len(answers)]
    quiets = [answer.quiet for answer in parts if answer.quiet is not None]
    last = walked if answers[1:] and answers[1] else compiled
    warnings = [
        *printed_lines(end.stderr if end else ""),
        *compiled.warnings,
        *printed_lines(compiled.printed),
        *printed_lines(walked.printed),
    ]
    return Row(
        engine=engine,
        task=case.task,
        id=case.id,
        config=case.config,
        weight=case.weight,
        repetition=pending.repetition,
        result=result,
        phase="" if result is Result.OK else phase,
        detail=without_addresses(detail),
        warnings=tuple(dict.fromkeys(warnings))[:_MAX_WARNINGS],
        compile_ns=compiled.compile_ns,
        compile_waited_ns=compiled.waited_ns,
        calibration_ns=compiled.calibration_ns,
        ended_by_wall_clock=walked.by_wall_clock
        or (end is not None and end.by_wall_clock),
        first_mask_ns=walked.first_mask_ns,
        rss_bytes=last.rss_bytes,
        quiet=all(quiets) if quiets else None,
        walks=tuple(_results(case, pending.tokens, walked.walks)),
        label=case.label,
        fingerprint=pending.fingerprint,
    )


def _ending(
    compiled: CompileAnswer, walked: WalkAnswer, end: ProcessResult | None
) -> tuple[Result, str]:
    if end is not None:
        result = Result.UNDECIDED if end.for_want_of_core else RESULTS[end.ending]
        return result, end.detail
    if compiled.refusal is not None:
        return Result.COMPILE_ERROR, compiled.refusal
    for text in walked.walks:
        if text.verdict is WalkVerdict.ENGINE_ERROR:
            return Result.ENGINE_ERROR, text.detail
    if walked.late:
        late = Result.UNDECIDED if walked.for_want_of_core else Result.TIMEOUT
        return late, walked.late
    return Result.OK, ""


def _results(
    case: Case,
    tokens: Sequence[Sequence[int] | None],
    walked: Sequence[WalkedText],
) -> Iterator[InstanceResult]:
    """Yield the result of each walk; those without an answer were not run."""
    never_begun = WalkedText(verdict=WalkVerdict.NOT_RUN)
    contradictions = find_contradictions(tokens, walked)
    for index, (walk, ids) in enumerate(zip(case.walks, tokens, strict=True)):
        text = walked[index] if index < len(walked) else never_begun
        verdict, detail = text.verdict, without_addresses(text.detail)
        if verdict is WalkVerdict.MASK_GAP and not walk.valid:
            # Its mask was right, and its commit was not.
            verdict = WalkVerdict.LIED
        if index in contradictions:
            verdict = WalkVerdict.CONTRADICTED
            blocked = "the end" if text.at is None else "this token"
            other = contradictions[index] + 1
            detail = f"{blocked} was allowed after the same tokens in text {other}"
        result = InstanceResult(
            **msgspec.structs.asdict(text)
            | {"verdict": verdict, "detail": detail, "label": walk.label},
            valid=walk.valid,
            tokens=len(ids or ()),
        )
        yield replace(result, why=diagnose(case.schema, walk, result))


#: Stands for the end of a text; no token has this id.
_END: Final = -1


def find_contradictions(
    tokens: Sequence[Sequence[int] | None], walked: Sequence[WalkedText]
) -> Mapping[int, int]:
    """Return each contradicted walk, with a contradicting one.

    Args:
        tokens: The tokens of each text of a case; None where none spell it.
        walked: The walks' records, in order; it may be shorter.

    Returns:
        Index of a walk that was blocked, or not allowed to end, to the index
        of one in which the same token, or the end, was let through after the same
        tokens.

    Example:
        >>> from evaluation.masks.engine_worker import WalkedText
        >>> whole = WalkedText(verdict=WalkVerdict.ACCEPTED)
        >>> blocked = WalkedText(verdict=WalkVerdict.BLOCKED, at=1)
        >>> find_contradictions([[5, 6, 7], [5, 6]], [whole, blocked])
        {1: 0}
    """
    passed: list[tuple[list[int], int]] = []
    refused: dict[int, list[int]] = {}
    for index, (ids, text) in enumerate(zip(tokens, walked, strict=False)):
        if ids is None:
            continue
        whole = [*ids, _END]
        # The token, or the end, at which the walk was stopped.
        stop = len(ids) if text.verdict is WalkVerdict.UNFINISHED else text.at
        if text.verdict is WalkVerdict.ACCEPTED:
            stop = len(whole)
        elif text.verdict in {WalkVerdict.BLOCKED, WalkVerdict.UNFINISHED}:
            refused[index] = whole[: len(whole) if stop is None else stop + 1]
        passed.append((whole[: stop or 0], index))
    contradicted: dict[int, int] = {}
    for index, beginning in refused.items():
        alike = [each for each in passed if each[0][: len(beginning)] == beginning]
        if alike:
            contradicted[index] = min(alike)[1]
    return contradicted

"""The loop's side of an engine process that constrains one text at a time.

The other side, with the questions and answers, is
`evaluation.execution.generation_session`.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec
import numpy as np

from curation.workers import protocol
from curation.workers.outcomes import Ending
from curation.workers.process import Program
from curation.workers.worker import Worker
from evaluation.core.cases import Result
from evaluation.execution import engine_process
from evaluation.execution.row_builder import RESULTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import Json
    from curation.workers.limits import Limits
    from curation.workers.outcomes import ProcessResult

_ENGINES = Path(engine_process.__file__)


class EngineEnded(Exception):  # noqa: N818 - an ending, seen by the loop alone
    """The engine refused the schema or failed; the text is over."""

    def __init__(self, result: Result, detail: str) -> None:
        """Take what the text's row will say."""
        super().__init__(detail)
        self.result = result
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMask:
    """What may come next in a text."""

    #: 1 or 0 for each token of the engine's vocabulary, as `uint8`.
    allowed: np.ndarray
    may_end: bool
    #: The engine's own time, in nanoseconds.
    ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledGrammar:
    """A grammar that the engine has compiled."""

    #: Time of the compile call alone, in nanoseconds.
    ns: int
    #: The tokens with which every text begins, taken already.
    forced: tuple[int, ...]


class _EngineAnswer(msgspec.Struct):
    """An answer to any question; `generation_session` says which has which member."""

    refusal: str | None = None
    compile_ns: int = 0
    forced: tuple[int, ...] = ()
    taken: bool = False
    mask_ns: int = 0
    may_end: bool = False
    closed: bool = False


class EngineSession:
    """One engine process, asked ahead: a question is under way until it is waited for.

    Example:
        >>> with EngineSession(program, vocab_size=49152, limits=Limits()) as session:
        ...     session.compile('{"type": "null"}', seconds=40.0)
        ...     session.compiled()
        ...     session.mask().allowed.sum()
    """

    def __init__(self, program: Program, *, vocab_size: int, limits: Limits) -> None:
        """Prepare; the process is started when first needed.

        Args:
            program: The engine's interpreter, and as its setup what
                `evaluation.execution.engine_process` is given: engine, options and
                tokenizer.
            vocab_size: The number of ids that a mask covers.
            limits: What the process may use.
        """
        self._size = vocab_size
        self._limits = limits
        self._open = ExitStack()
        folder = self._open.enter_context(
            tempfile.TemporaryDirectory(prefix="csbdata-", dir=_memory_folder())
        )
        self._map = self._map_file(Path(folder) / "mask")
        self._worker = self._open.enter_context(
            Worker(_session_program(program, Path(folder)), limits)
        )
        self._answers: deque[_EngineAnswer | EngineEnded] = deque()
        self._asked = 0
        #: A token of which it is not yet known whether it was taken.
        self._taken: int | None = None

    def __enter__(self) -> Self:
        """Return the session."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process and remove its files."""
        self.close()

    def close(self) -> None:
        """End the process and remove its files."""
        self._open.close()

    def _map_file(self, path: Path) -> mmap.mmap:
        size = (self._size + 7) // 8
        path.write_bytes(bytes(size))
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)

    def start(self) -> None:
        """Start the process and load the engine, so that no text waits for it.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
        """
        self._worker.start()

    def compile(self, schema: str, seconds: float, *, forced: int = 0) -> None:
        """Ask for a grammar, for what every text begins with, and for the next mask.

        Args:
            schema: The schema, a JSON text.
            seconds: Deadline of the answer.
            forced: How many tokens may be taken that are the only way on.
        """
        self._taken = None
        opening = {"open": True, "forced": forced}
        self._ask([{"compile": schema}, opening, {"mask": True}], seconds)

    def compiled(self) -> CompiledGrammar:
        """Wait for the grammar.

        Raises:
            EngineEnded: there is none.
        """
        answer = self._next()
        if answer.refusal is not None:
            raise EngineEnded(Result.COMPILE_ERROR, answer.refusal)
        opened = self._next()
        return CompiledGrammar(ns=answer.compile_ns, forced=opened.forced)

    def take(self, token: int, *, forced: int, seconds: float) -> tuple[int, ...]:
        """Commit a token and ask for the next mask; return what was forced after it.

        Raises:
            EngineEnded: the token was refused, though its mask allowed it; where
                nothing is forced, `mask` raises it.
        """
        self._ask([{"take": token, "forced": forced}, {"mask": True}], seconds)
        if not forced:
            # Nothing comes back but that it was taken: `mask` looks.
            self._taken = token
            return ()
        return self._answer_to_take(token).forced

    def _answer_to_take(self, token: int) -> _EngineAnswer:
        answer = self._next()
        if not answer.taken:
            detail = f"token {token} was in the mask, and commit refuses it"
            raise EngineEnded(Result.ERROR, detail)
        return answer

    def is_waiting(self, seconds: float = 0.0) -> bool:
        """Return whether an answer is still to come after waiting so many seconds."""
        if len(self._answers) < self._asked:
            self._collect(self._worker.wait(seconds))
        return len(self._answers) < self._asked

    def wait_for_answers(self) -> None:
        """Wait until every question has been answered."""
        while len(self._answers) < self._asked:
            self._collect(self._worker.wait())

    def mask(self) -> TokenMask:
        """Wait for the mask asked for.

        Raises:
            EngineEnded: the engine failed, or refused the last token.
        """
        token, self._taken = self._taken, None
        if token is not None:
            self._answer_to_take(token)
        answer = self._next()
        bits = np.unpackbits(
            np.frombuffer(self._map, dtype=np.uint8), bitorder="little"
        )
        return TokenMask(
            allowed=bits[: self._size],
            may_end=answer.may_end,
            ns=answer.mask_ns,
        )

    def _ask(self, questions: Sequence[Mapping[str, Json]], seconds: float) -> None:
        self.wait_for_answers()
        self._answers.clear()
        self._worker.start()
        self._worker.begin(questions, seconds)
        self._asked = len(questions)
        # The question is on its way only when the pipe has been served once.
        self._collect(self._worker.wait(0.0))

    def _next(self) -> _EngineAnswer:
        while not self._answers:
            self._collect(self._worker.wait())
        self._asked -= 1
        answer = self._answers.popleft()
        if isinstance(answer, EngineEnded):
            raise answer
        if answer.closed:
            raise EngineEnded(Result.ERROR, "commit refuses a token that was forced")
        return answer

    def _collect(self, outcomes: Sequence[ProcessResult]) -> None:
        for outcome in outcomes:
            if outcome.ending is Ending.OK:
                self._answers.append(_read_answer(outcome.answer))
            else:
                self._answers.append(_engine_ended(outcome))
                # Of a dead process nothing more comes; one that only raised goes on.
                if outcome.ending is not Ending.ERROR:
                    self._asked = len(self._answers)


def _read_answer(answer: Json) -> _EngineAnswer | EngineEnded:
    try:
        return msgspec.convert(answer, _EngineAnswer)
    except msgspec.ValidationError as error:
        return EngineEnded(Result.PROTOCOL_ERROR, str(error))


def _engine_ended(outcome: ProcessResult) -> EngineEnded:
    detail = outcome.detail
    if outcome.stderr:
        detail = f"{detail}: {outcome.stderr.strip()[-500:]}"
    return EngineEnded(RESULTS[outcome.ending], detail)


def _memory_folder() -> str | None:
    """Return a folder that is kept in memory, where the system has one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a private folder is made inside


def _session_program(program: Program, folder: Path) -> Program:
    setup = program.setup
    if not isinstance(setup, dict):
        raise TypeError
    return Program(
        file=_ENGINES,
        setup={**setup, "mask": str(folder / "mask")},
        interpreter=program.interpreter,
        arguments=(
            str(Path(protocol.__file__)),
            str(folder / "printed"),
            str(_ENGINES.with_name("generation_session.py")),
        ),
        environment=program.environment,
    )

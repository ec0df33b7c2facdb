"""Engine processes, one for each text of a batch, and the questions they are sent.

The other side, with the questions and answers, is
`evaluation.masks.generation_session`.
"""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from curation.workers.limits import Ending, ProcessResult
from curation.workers.process import SharedMemory
from curation.workers.worker import Worker
from evaluation.core.cases import Result
from evaluation.masks.engine_process import printed_lines
from evaluation.masks.engine_worker import RESULTS, with_session
from evaluation.models.token_choice import RowMask, mask_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from curation.core.json_types import Json
    from curation.workers.limits import Limits
    from curation.workers.process import Program


class EngineEnded(Exception):  # noqa: N818 - an ending, seen by the loop alone
    """The engine refused the schema or failed; the text is over."""

    def __init__(self, result: Result, detail: str) -> None:
        """Take the facts of the text's row."""
        super().__init__(detail)
        self.result = result
        self.detail = detail


class EngineAnswer(msgspec.Struct):
    """An answer to any question; `generation_session` lists their members."""

    refusal: str | None = None
    compile_ns: int = 0
    warnings: tuple[str, ...] = ()
    printed: str = ""
    forced: tuple[int, ...] = ()
    accepted: bool = msgspec.field(default=False, name="taken")
    mask_ns: int = 0
    closed: bool = False


class EngineSession:
    """An engine's process that constrains one text at a time, asked ahead.

    A process that dies ends its text alone; the next text has a new one.

    Example:
        >>> with engine_sessions(program, 1, vocab_size=49152, limits=Limits()) as made:
        ...     (session,) = made
        ...     session.compile('{"type": "null"}', seconds=40.0)
        ...     session.compiled()
        ...     session.mask()
        ...     np.unpackbits(session.allowed.of[session.allowed.row]).sum()
    """

    def __init__(self, worker: Worker, allowed: RowMask) -> None:
        """Take the process, which is started when first needed, and its mask."""
        #: The engine's process.
        self.worker = worker
        #: What may come next in its text, as the engine's process has written it last.
        self.allowed = allowed
        #: Number of questions that are sent and not answered yet.
        self._pending = 0
        self._answers: deque[EngineAnswer | EngineEnded] = deque()
        #: A token of which it is not yet known whether it was taken.
        self._unsure: int | None = None

    def compile(self, schema: str, seconds: float, *, forced: int = 0) -> None:
        """Ask for a grammar, for what every text begins with, and for the next mask.

        Args:
            schema: The schema, a JSON text.
            seconds: Deadline of each answer.
            forced: How many tokens may be taken that are the only way on.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
        """
        # What an earlier text has left is answered first.
        while self._pending:
            self._receive(None)
        self._answers.clear()
        self._unsure = None
        self.worker.start()
        opening: dict[str, Json] = {"open": True, "forced": forced}
        self._ask([{"compile": schema}, opening, {"mask": True}], seconds)

    def compiled(self) -> EngineAnswer:
        """Wait for the grammar; return what it says of its compile and of its texts.

        `forced` are the tokens with which every text begins, taken already, and
        `warnings` what the engine warned of and printed.

        Raises:
            EngineEnded: none is running.
        """
        answer = self._next()
        if answer.refusal is not None:
            raise EngineEnded(Result.COMPILE_ERROR, answer.refusal)
        answer.forced = self._next().forced
        lines = [*answer.warnings, *printed_lines(answer.printed)]
        answer.warnings = tuple(dict.fromkeys(lines))
        return answer

    def take(self, token: int, *, forced: int, seconds: float) -> None:
        """Ask to commit a token, and for the next mask.

        Args:
            token: The token.
            forced: How many tokens may be taken after it that are the only way on.
            seconds: Deadline of either answer.
        """
        self._unsure = token
        self._ask([{"take": token, "forced": forced}, {"mask": True}], seconds)

    def forced_after(self) -> tuple[int, ...]:
        """Wait until the last token is taken; return the tokens forced after it.

        Where nothing may be forced, `mask` waits for that.

        Raises:
            EngineEnded: the token was refused, though its mask allowed it.
        """
        if self._unsure is None:
            return ()
        token, self._unsure = self._unsure, None
        answer = self._next()
        if not answer.accepted:
            detail = f"token {token} was in the mask, and commit refuses it"
            raise EngineEnded(Result.ENGINE_ERROR, detail)
        return answer.forced

    def mask(self) -> int:
        """Wait until `allowed` is the requested mask.

        It holds until the next token is taken.

        Returns:
            The engine's own time for it, in nanoseconds.

        Raises:
            EngineEnded: the engine failed, or refused the last token.
        """
        self.forced_after()
        return self._next().mask_ns

    def is_waiting(self, seconds: float = 0.0) -> bool:
        """Return whether an answer is still to come after waiting so many seconds."""
        if self._pending:
            self._receive(seconds)
        return self._pending > 0

    def _ask(self, questions: list[dict[str, Json]], seconds: float) -> None:
        """Send questions, each to be answered within so many seconds."""
        self._pending = len(questions)
        self.worker.begin(questions, seconds)
        # They are on their way only when the pipe has been served.
        self._receive(0.0)

    def _receive(self, seconds: float | None) -> None:
        """Take the answers that come within so many seconds; None: until one comes."""
        for outcome in self.worker.wait(seconds):
            self._answers.append(_read_answer(outcome))
            is_over = outcome.ending not in {Ending.OK, Ending.ERROR}
            self._pending = 0 if is_over else self._pending - 1

    def _next(self) -> EngineAnswer:
        while not self._answers:
            if not self._pending:
                raise EngineEnded(Result.PROTOCOL_ERROR, "no answer")
            self._receive(None)
        answer = self._answers.popleft()
        if isinstance(answer, EngineEnded):
            raise answer
        if answer.closed:
            detail = "its process ended, or commit refuses a token that was forced"
            raise EngineEnded(Result.ENGINE_ERROR, detail)
        return answer


def _read_answer(outcome: ProcessResult) -> EngineAnswer | EngineEnded:
    if outcome.ending is Ending.OK:
        try:
            return msgspec.convert(outcome.answer, EngineAnswer)
        except msgspec.ValidationError as error:
            return EngineEnded(Result.PROTOCOL_ERROR, str(error))
    detail = outcome.detail
    if outcome.stderr:
        detail = f"{detail}: {outcome.stderr.strip()[-500:]}"
    return EngineEnded(RESULTS[outcome.ending], detail)


@contextmanager
def engine_sessions(
    program: Program,
    texts: int,
    *,
    vocab_size: int,
    limits: Limits,
    end_tokens: Collection[int] | None = None,
) -> Iterator[tuple[EngineSession, ...]]:
    """Open an engine's processes, one for each text; they are started when needed.

    Args:
        program: The engine's (`engine_program`).
        texts: How many texts may be under way.
        vocab_size: The number of ids that a mask covers.
        limits: What each process may use.
        end_tokens: The tokens that may come next where a text may end; None: the
            tokenizer's own.
    """
    size = mask_bytes(vocab_size)
    with ExitStack() as opened:
        masks = opened.enter_context(SharedMemory(size * texts))
        setup: dict[str, Json] = {"masks": masks.path, "mask_bytes": size}
        if end_tokens is not None:
            setup["ends"] = [*map(int, sorted(end_tokens))]
        rows = np.frombuffer(masks.bytes, np.uint8).reshape(texts, -1)
        sessions = []
        for row in range(texts):
            printed = opened.enter_context(SharedMemory(0)).path
            started = with_session(
                program, "generation_session.py", printed, {**setup, "row": row}
            )
            worker = opened.enter_context(Worker(started, limits))
            sessions.append(EngineSession(worker, RowMask(of=rows, row=row)))
        yield tuple(sessions)

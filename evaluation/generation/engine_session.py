"""An engine process: a session for each text of a batch, and the pipe they share.

The other side, with the questions and answers, is
`evaluation.walking.generation_session`.
"""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final, Self

import msgspec
import numpy as np

from curation.workers.limits import Ending, ProcessResult
from curation.workers.process import SharedMemory
from curation.workers.worker import Worker
from evaluation.core.cases import Result
from evaluation.models.base import RowMask, mask_bytes
from evaluation.walking.engine_worker import RESULTS, printed_lines, with_session

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from curation.core.json_types import Json
    from curation.workers.limits import Limits
    from curation.workers.process import Child, Program


#: Seconds for which the process looks for a grammar before it looks at the rest.
_LOOK: Final = 0.05
#: Seconds beyond a deadline that a question about it may take.
_GRACE: Final = 0.2


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
    running: bool = False
    forced: tuple[int, ...] = ()
    accepted: bool = msgspec.field(default=False, name="taken")
    mask_ns: int = 0
    closed: bool = False


@dataclass(slots=True)
class EngineQuestion:
    """A question, who asks it, and which of its texts it is about."""

    asker: EngineSession
    text: int
    message: dict[str, Json]
    #: Deadline of the answer.
    seconds: float


class EnginePipe:
    """Sends questions to an engine process, and hands out its answers.

    Only the text on which a process died ends with it. The masks of several texts are
    sent together, last, so that the process may compute them side by side.
    """

    def __init__(self, program: Program, limits: Limits) -> None:
        """Prepare; the process is started when first needed."""
        self._worker = Worker(program, limits)
        self._wall_times = limits.wall_times
        self._askers: Sequence[EngineSession] = ()
        #: Questions that are not sent yet, and the ones that are, in order.
        self._queued: list[EngineQuestion] = []
        self._sent: deque[EngineQuestion] = deque()
        #: The process that knows the texts under way.
        self._child: Child | None = None
        #: Whether masks are computed one after the other: a process has died over
        #: several, and it is not known yet over which.
        self._apart = False

    def serve_for(self, askers: Sequence[EngineSession]) -> None:
        """Say whose questions these are: all that a death of the process concerns."""
        self._askers = askers

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def start(self) -> None:
        """Start the process and load the engine, so that no text waits for it.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
        """
        self._worker.start()

    def clocks(self) -> tuple[float, float]:
        """Return the seconds of the wall clock, and of the process's processor time."""
        child = self._worker.child
        return monotonic(), child.processor_seconds() if child else 0.0

    def spent_since(self, begun: tuple[float, float]) -> float:
        """Return how many seconds of a deadline are over.

        Like those of all questions they are of processor time, or of `wall_times` as
        many by the wall clock. Other texts' work is counted too, up to that clock.

        Args:
            begun: `clocks` when they began.
        """
        (now, processor), (then, before) = self.clocks(), begun
        wall = now - then
        return min(wall, max(wall / self._wall_times, processor - before))

    def queue(self, question: EngineQuestion) -> None:
        """Queue a question."""
        self._queued.append(question)

    def flush(self) -> None:
        """Send the queued questions, once the earlier ones are answered."""
        if not self._queued:
            return
        while self._sent:
            self.serve(None)
        self._worker.start()
        if self._is_another_process():
            return
        self._sent.extend(self._masks_last())
        self._queued = []
        self._child = self._worker.child
        self._worker.begin(
            [question.message for question in self._sent],
            [question.seconds for question in self._sent],
        )
        # The questions are on their way only when the pipe has been served once.
        self.serve(0.0)

    def _masks_last(self) -> list[EngineQuestion]:
        """Return the queued questions, masks after the tokens that they follow.

        The first mask names the texts whose masks may be computed with it.
        """
        masks = [question for question in self._queued if "mask" in question.message]
        if len(masks) < 2 or self._apart:  # noqa: PLR2004 - two or more
            return self._queued
        tokens_first = [one for one in self._queued if "mask" not in one.message]
        places = [question.message["text"] for question in masks]
        masks[0].message = {**masks[0].message, "all": places}
        return [*tokens_first, *masks]

    def _is_another_process(self) -> bool:
        """Return whether the process has ended unasked; then all is redone."""
        if self._child is None or self._worker.child is self._child:
            return False
        self._lose_process()
        return True

    def _lose_process(
        self, culprit: EngineSession | None = None, failure: EngineEnded | None = None
    ) -> None:
        """Forget the process: one text may end with it, the others are redone."""
        self._child = None
        self._sent.clear()
        self._queued = []
        for asker in self._askers:
            if asker is culprit and failure is not None:
                asker.end(failure)
            else:
                asker.lose()

    def serve(self, seconds: float | None) -> None:
        """Send the queued questions, and hand out the answers.

        Args:
            seconds: How long to wait for an answer; None for as long as it takes.
        """
        if not self._sent:
            self.flush()
        for outcome in self._worker.wait(seconds) if self._sent else ():
            question = self._sent.popleft()
            if outcome.ending is Ending.OK:
                question.asker.receive(question, _read_answer(outcome.answer))
                continue
            failure = _engine_ended(outcome)
            # A process that only raised continues.
            if outcome.ending is Ending.ERROR:
                question.asker.receive(question, failure)
            else:
                self._mourn(question, failure)

    def _mourn(self, question: EngineQuestion, failure: EngineEnded) -> None:
        """Blame the text on which the process died; the others are redone.

        If a compile or several masks were under way, the culprit is unknown unless one
        was late: every text is redone alone.
        """
        masks = sum("mask" in sent.message for sent in (question, *self._sent))
        over_masks = masks > 1 and not self._apart and "mask" in question.message
        over_masks = over_masks and failure.result is not Result.TIMEOUT
        unclear = over_masks or any(
            asker.is_compiling_beside and asker is not question.asker
            for asker in self._askers
        )
        self._apart = over_masks or (self._apart and unclear)
        self._lose_process(None if unclear else question.asker, failure)

    def abandon(self, asker: EngineSession, failure: EngineEnded) -> None:
        """End the process because of one text; the others are redone."""
        self._worker.kill()
        self._lose_process(asker, failure)


def _read_answer(answer: Json) -> EngineAnswer | EngineEnded:
    try:
        return msgspec.convert(answer, EngineAnswer)
    except msgspec.ValidationError as error:
        return EngineEnded(Result.PROTOCOL_ERROR, str(error))


def _engine_ended(outcome: ProcessResult) -> EngineEnded:
    detail = outcome.detail
    if outcome.stderr:
        detail = f"{detail}: {outcome.stderr.strip()[-500:]}"
    return EngineEnded(RESULTS[outcome.ending], detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledGrammar:
    """A grammar that the engine has compiled."""

    #: Time of the compile call alone, in nanoseconds.
    ns: int
    #: The tokens with which every text begins, taken already.
    forced: tuple[int, ...]
    #: The engine's warnings, and its output.
    warnings: tuple[str, ...] = ()


class EngineSession:
    """One text at a time under an engine's constraint, asked ahead.

    Made by `evaluation.generation.engine_session.EngineProcess`.
    """

    def __init__(
        self, pipe: EnginePipe, place: int, masks: np.ndarray, *, beside_others: bool
    ) -> None:
        """Take a place in the batch of a process."""
        self._pipe = pipe
        self._beside_others = beside_others
        self._place = place
        #: What may come next in its text, as the engine's process has written it last.
        self.allowed = RowMask(of=masks, row=place)
        #: Counts its texts, so that no answer is taken for another's.
        self._text = 0
        self._questions: deque[EngineQuestion] = deque()
        self._answers: deque[EngineAnswer | EngineEnded] = deque()
        #: What has to be done again where the process is lost.
        self._schema = ""
        self._compile_seconds = 0.0
        self._forced_opening = 0
        self._tokens: list[int] = []
        #: Whether a text has begun, and is under way.
        self._has_begun = False
        self._lost = False
        #: Since when a grammar is compiled next to other texts, by the pipe's clocks;
        #: None while none is.
        self._since: tuple[float, float] | None = None
        #: A token of which it is not yet known whether it was taken, how many may be
        #: forced after it, and the deadline of the answer.
        self._unsure: tuple[int, int, float] | None = None

    @property
    def is_compiling_beside(self) -> bool:
        """Whether its grammar is being compiled while other texts run."""
        return self._since is not None

    def compile(self, schema: str, seconds: float, *, forced: int = 0) -> None:
        """Ask for a grammar, for what every text begins with, and for the next mask.

        Args:
            schema: The schema, a JSON text.
            seconds: Deadline of the answer.
            forced: How many tokens may be taken that are the only way on.
        """
        self._text += 1
        self._questions.clear()
        self._answers.clear()
        self._schema, self._compile_seconds = schema, seconds
        self._forced_opening = forced
        self._tokens, self._unsure = [], None
        self._lost = self._has_begun = False
        self._since = None
        if self._beside_others:
            self._pipe.start()
            self._since = self._pipe.clocks()
            self._ask({"compile": schema, "beside": True}, seconds)
        else:
            self._ask_alone()
        self._pipe.flush()

    def _ask_alone(self) -> None:
        """Ask for the grammar and all that follows, alone."""
        seconds = self._compile_seconds
        self._ask({"compile": self._schema}, seconds)
        self._ask_opening(seconds)

    def _ask_opening(self, seconds: float) -> None:
        self._ask({"open": True, "forced": self._forced_opening}, seconds)
        self._ask({"mask": True}, seconds)

    def compiled(self) -> CompiledGrammar:
        """Wait for the grammar.

        Raises:
            EngineEnded: none is running.
        """
        while self.is_waiting(_LOOK):
            pass
        answer = self._next()
        if answer.refusal is not None:
            raise EngineEnded(Result.COMPILE_ERROR, answer.refusal)
        opening = self._next()
        self._has_begun = True
        self._tokens.extend(opening.forced)
        lines = [*answer.warnings, *printed_lines(answer.printed)]
        return CompiledGrammar(
            ns=answer.compile_ns,
            forced=opening.forced,
            warnings=tuple(dict.fromkeys(lines)),
        )

    def take(self, token: int, *, forced: int, seconds: float) -> None:
        """Ask to commit a token, and for the next mask.

        Args:
            token: The token.
            forced: How many tokens may be taken after it that are the only way on.
            seconds: Deadline of either answer.

        Raises:
            EngineEnded: a new process cannot repeat the work of a lost one.
        """
        if self._lost:
            self._redo()
        self._unsure = token, forced, seconds
        self._ask_to_take(*self._unsure)

    def forced_after(self) -> tuple[int, ...]:
        """Wait until the last token is taken; return the tokens forced after it.

        Where nothing may be forced, `mask` waits for that.

        Raises:
            EngineEnded: the token was refused, though its mask allowed it.
        """
        if self._unsure is None:
            return ()
        token, answer = self._unsure[0], self._next()
        self._unsure = None
        if not answer.accepted:
            detail = f"token {token} was in the mask, and commit refuses it"
            raise EngineEnded(Result.ENGINE_ERROR, detail)
        self._tokens += [token, *answer.forced]
        return answer.forced

    def _ask_to_take(self, token: int, forced: int, seconds: float) -> None:
        self._ask({"take": token, "forced": forced}, seconds)
        self._ask({"mask": True}, seconds)

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

    def send(self) -> None:
        """Send the questions, so that the engine is at work meanwhile."""
        self._pipe.flush()

    def is_waiting(self, seconds: float = 0.0) -> bool:
        """Return whether an answer is still to come after this many seconds."""
        if self._lost:
            self._redo()
        elif self._since is not None:
            self._look_for_grammar(self._since, seconds)
        elif self._questions:
            self._pipe.serve(seconds)
        return self._lost or self._since is not None or bool(self._questions)

    def _look_for_grammar(self, since: tuple[float, float], seconds: float) -> None:
        """Begin the text if its grammar is compiled; give up past its deadline."""
        remaining = max(0.0, self._compile_seconds - self._pipe.spent_since(since))
        self._ask({"compiled": min(seconds, remaining)}, remaining + _GRACE)
        while self._questions and not self._lost:
            self._pipe.serve(None)
        if self._lost or not self._answers:
            return
        answer = self._answers.pop()
        self._answers.clear()
        if isinstance(answer, EngineEnded) or not answer.running:
            self._since = None
            self._answers.append(answer)
            self._ask_opening(self._compile_seconds)
            self._pipe.flush()
        elif not remaining:
            detail = f"no answer within {self._compile_seconds:g} s"
            self._pipe.abandon(self, EngineEnded(Result.TIMEOUT, detail))

    def receive(
        self, question: EngineQuestion, answer: EngineAnswer | EngineEnded
    ) -> None:
        """Take the answer to a question."""
        if question.text == self._text and self._questions:
            self._questions.popleft()
            self._answers.append(answer)

    def end(self, failure: EngineEnded) -> None:
        """Take that nothing more comes for this text."""
        self._since, self._schema = None, ""
        self._questions.clear()
        self._answers.append(failure)

    def lose(self) -> None:
        """Note that the process is gone with all its questions."""
        self._lost = bool(self._schema)

    def _redo(self) -> None:
        """Bring the text back to where it was, in a new process.

        Raises:
            EngineEnded: the engine cannot repeat its work.
        """
        wanted = bool(self._questions or self._answers)
        self._lost, self._since = False, None
        self._questions.clear()
        self._answers.clear()
        if not self._has_begun:
            self._ask_alone()
            return
        self._ask({"compile": self._schema}, self._compile_seconds)
        self._ask({"open": True, "forced": 0}, self._compile_seconds)
        self._ask({"retake": list(self._tokens)}, self._compile_seconds)
        while self._questions and not self._lost:
            self._pipe.serve(None)
        if self._lost:
            return
        refusal = self._next().refusal
        if refusal is not None:
            detail = f"its process ended; the next one refuses it: {refusal}"
            raise EngineEnded(Result.ENGINE_ERROR, detail)
        self._next()
        if not self._next().accepted:
            detail = "its process ended, and the next one refuses what was written"
            raise EngineEnded(Result.ENGINE_ERROR, detail)
        if self._unsure is not None:
            self._ask_to_take(*self._unsure)
        elif wanted:
            self._ask({"mask": True}, self._compile_seconds)

    def _ask(self, message: dict[str, Json], seconds: float) -> None:
        question = EngineQuestion(
            asker=self,
            text=self._text,
            message={**message, "text": self._place},
            seconds=seconds,
        )
        self._questions.append(question)
        self._pipe.queue(question)

    def _next(self) -> EngineAnswer:
        while not self._answers:
            if self._lost:
                self._redo()
            elif self._questions:
                self._pipe.serve(None)
            else:
                raise EngineEnded(Result.PROTOCOL_ERROR, "no answer")
        answer = self._answers.popleft()
        if isinstance(answer, EngineEnded):
            raise answer
        if answer.closed:
            detail = "commit refuses a token that was forced"
            raise EngineEnded(Result.ENGINE_ERROR, detail)
        return answer


class EngineProcess:
    """One engine process that constrains as many texts at a time as it has sessions.

    With several texts under way, grammars are compiled next to the others' masks.
    Only the text on which a process died ends with it: the others get a new one.

    Example:
        >>> with EngineProcess(program, 1, vocab_size=49152, limits=Limits()) as engine:
        ...     (session,) = engine.sessions
        ...     session.compile('{"type": "null"}', seconds=40.0)
        ...     session.compiled()
        ...     session.mask()
        ...     np.unpackbits(session.allowed.of[session.allowed.row]).sum()
    """

    def __init__(  # noqa: PLR0913 - the engine, and what its masks are for
        self,
        program: Program,
        texts: int,
        *,
        vocab_size: int,
        limits: Limits,
        mask_threads: int = 1,
        end_tokens: Collection[int] | None = None,
    ) -> None:
        """Prepare; the process is started when first needed.

        Args:
            program: The engine's (`engine_program`).
            texts: How many texts may be under way.
            vocab_size: The number of ids that a mask covers.
            limits: What the process may use.
            mask_threads: How many masks may be computed at a time, where the engine
                allows it.
            end_tokens: The tokens that may come next where a text may end; None: the
                tokenizer's own.
        """
        self._open = ExitStack()
        size = mask_bytes(vocab_size)
        masks = self._open.enter_context(SharedMemory(size * texts))
        printed = self._open.enter_context(SharedMemory(0))
        setup: dict[str, Json] = {
            "masks": masks.path,
            "texts": texts,
            "mask_bytes": size,
            "mask_threads": mask_threads,
        }
        if end_tokens is not None:
            setup["ends"] = [*map(int, sorted(end_tokens))]
        self._pipe = EnginePipe(
            with_session(program, "generation_session.py", printed.path, setup), limits
        )
        rows = np.frombuffer(masks.bytes, np.uint8).reshape(texts, -1)
        self._open.callback(self._pipe.close)
        self.sessions = tuple(
            EngineSession(self._pipe, place, rows, beside_others=texts > 1)
            for place in range(texts)
        )
        self._pipe.serve_for(self.sessions)

    def __enter__(self) -> Self:
        """Return the process."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.close()

    def close(self) -> None:
        """End the process."""
        self._open.close()

    def start(self) -> None:
        """Start the process and load the engine, so that no text waits for it.

        Raises:
            WorkerDidNotStart: the engine cannot be loaded.
        """
        self._pipe.start()

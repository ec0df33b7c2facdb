"""The pipe to an engine process: questions of several texts, and blame for deaths.

The other side, with the questions and answers, is
`evaluation.walking.generation_session`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Protocol

import msgspec

from curation.workers.outcomes import Ending, ProcessResult
from curation.workers.worker import Worker
from evaluation.core.cases import Result
from evaluation.walking.engine_worker import RESULTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.core.json_types import Json
    from curation.workers.limits import Limits
    from curation.workers.process import Child, Program


class EngineEnded(Exception):  # noqa: N818 - an ending, seen by the loop alone
    """The engine refused the schema or failed; the text is over."""

    def __init__(self, result: Result, detail: str) -> None:
        """Take what the text's row will say."""
        super().__init__(detail)
        self.result = result
        self.detail = detail


class EngineAnswer(msgspec.Struct):
    """An answer to any question; `generation_session` says which has which member."""

    refusal: str | None = None
    compile_ns: int = 0
    warnings: tuple[str, ...] = ()
    printed: str = ""
    running: bool = False
    forced: tuple[int, ...] = ()
    accepted: bool = msgspec.field(default=False, name="taken")
    mask_ns: int = 0
    closed: bool = False


class Asker(Protocol):
    """A text under way, as the pipe knows it."""

    @property
    def is_compiling_beside(self) -> bool:
        """Whether its grammar is being compiled beside what other texts do."""

    def receive(
        self, question: EngineQuestion, answer: EngineAnswer | EngineEnded
    ) -> None:
        """Take what came of a question."""

    def end(self, failure: EngineEnded) -> None:
        """Take that nothing more comes for this text."""

    def lose(self) -> None:
        """Note that the process is gone with all its questions."""


@dataclass(slots=True)
class EngineQuestion:
    """A question, who asks it, and which of its texts it is about."""

    asker: Asker
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
        self._askers: Sequence[Asker] = ()
        #: Questions that are not sent yet, and the ones that are, in order.
        self._queued: list[EngineQuestion] = []
        self._sent: deque[EngineQuestion] = deque()
        #: The process that knows the texts under way.
        self._child: Child | None = None
        #: Whether masks are computed one after the other: a process has died over
        #: several, and it is not known yet over which.
        self._apart = False

    def serve_for(self, askers: Sequence[Asker]) -> None:
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
        """Send what is queued, once what was sent before has been answered."""
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
        """Return what is queued, the masks behind the tokens that they follow.

        The first mask names the texts whose masks may be computed beside it.
        """
        masks = [question for question in self._queued if "mask" in question.message]
        if len(masks) < 2 or self._apart:  # noqa: PLR2004 - one is beside another
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
        self, culprit: Asker | None = None, failure: EngineEnded | None = None
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
        """Send what is queued, and hand out what has been answered.

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
            # A process that only raised goes on.
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

    def abandon(self, asker: Asker, failure: EngineEnded) -> None:
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

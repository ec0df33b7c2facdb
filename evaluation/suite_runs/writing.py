"""Having models answer: for every record, writer, repeat and repair one response.

Records are taken one after the other, and each is put to all writers in turn, so that
what is compared was written side by side. What the folder has already is not asked
again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING

from curation.workers.fingerprint import fingerprint
from curation.workers.worker import WorkerDidNotStart
from evaluation.core.cases import Sample
from evaluation.core.messages import Message
from evaluation.core.suite_records import FREE, SuiteResponse
from evaluation.generation.requests import GenerationRequest
from evaluation.generation.text_generation import TextEnding
from evaluation.walking.code_digest import writing_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evaluation.core.suite_records import SuitePrompt, SuiteRecord, Verdict
    from evaluation.generation.text_generation import Generation
    from evaluation.suite_runs.request import ChosenSuite
    from evaluation.suite_runs.scoring import LiveScorer
    from evaluation.suite_runs.suite_folder import ResponseStore
    from evaluation.suite_runs.writers import SuiteWriter

#: A schema for records without one: what is written free is held to nothing.
_ANYTHING = "true"
_NS = 1e9
_FINISH = {
    TextEnding.END: "stop",
    TextEnding.TRUNCATED: "length",
    TextEnding.ENGINE: "engine_error",
    TextEnding.MODEL: "",
    TextEnding.LOGITS: "",
    TextEnding.REFUSED: "refusal",
    TextEnding.FILTERED: "content_filter",
}


@dataclass(slots=True, kw_only=True)
class WritingTotals:
    """What having models answer came to."""

    written: int = 0
    found: int = 0
    #: Of those written, how many have no answer because a server was in trouble: the
    #: same command asks for them again.
    in_trouble: int = 0
    unavailable: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class _Conversation:
    """One record, asked once by one writer, with the turns so far."""

    record: SuiteRecord
    repeat: int
    messages: tuple[Message, ...]
    budget: int
    #: The last response; None before the first.
    answer: SuiteResponse | None = None


@dataclass(slots=True, kw_only=True)
class Questioner:
    """Puts records to writers, and failed answers back to them."""

    chosen: ChosenSuite
    store: ResponseStore
    #: Needed where answers are handed back.
    scorer: LiveScorer | None
    repairs: int
    seed: int
    batch: int
    advance: Callable[[int], None] = lambda _steps: None
    totals: WritingTotals = field(default_factory=WritingTotals)

    def ask_all(
        self, records: Iterable[SuiteRecord], writers: Sequence[SuiteWriter]
    ) -> WritingTotals:
        """Ask every writer for every record; return what that came to."""
        for writer in writers:
            if writer.writer is None:
                why = str(writer.about.get("unavailable") or "cannot be used here")
                self.totals.unavailable[writer.label] = why
        for group in _groups(records, self.batch):
            for writer in writers:
                if writer.label not in self.totals.unavailable:
                    self._ask(group, writer)
        return self.totals

    def _ask(self, records: Sequence[SuiteRecord], writer: SuiteWriter) -> None:
        """Ask one writer for a batch of records, its repairs included.

        A record without a schema is asked free alone: there is nothing to hold an
        answer to.
        """
        waiting = [
            self._conversation(record, repeat)
            for record in records
            if writer.condition == FREE or record.schema is not None
            for repeat in range(writer.asked.samples)
        ]
        for attempt in range(self.repairs + 1):
            try:
                self._answer(waiting, writer, attempt)
            except WorkerDidNotStart as fault:
                self.totals.unavailable[writer.label] = fault.what
                return
            if attempt < self.repairs:
                waiting = [
                    conversation
                    for conversation in waiting
                    if self._handed_back(conversation)
                ]
        self.advance(len(records) * writer.asked.samples)

    def _conversation(self, record: SuiteRecord, repeat: int) -> _Conversation:
        asked: SuitePrompt = self.chosen.suite.prompt(record, self.chosen.settings)
        return _Conversation(
            record=record,
            repeat=repeat,
            messages=asked.messages,
            budget=asked.budget,
        )

    def _answer(
        self, waiting: Sequence[_Conversation], writer: SuiteWriter, attempt: int
    ) -> None:
        """Get the next answer of every conversation, out of the folder or written."""
        missing: list[tuple[_Conversation, GenerationRequest, str]] = []
        for conversation in waiting:
            request = self._request(conversation, writer, attempt)
            mark = _mark(request, writer, conversation, attempt)
            conversation.answer = self.store.finished.get(mark)
            if conversation.answer is None:
                missing.append((conversation, request, mark))
            else:
                self.totals.found += 1
        if not missing or writer.writer is None:
            return

        def keep(place: int, generation: Generation) -> None:
            conversation, _, mark = missing[place]
            conversation.answer = _response(
                generation, conversation, writer, attempt, mark
            )
            self.store.write(conversation.answer)
            self.totals.written += 1
            self.totals.in_trouble += generation.may_pass

        writer.writer.write([request for _, request, _ in missing], keep)

    def _request(
        self, conversation: _Conversation, writer: SuiteWriter, attempt: int
    ) -> GenerationRequest:
        record = conversation.record
        named = f"{self.seed} {record.key} {conversation.repeat} {attempt}".encode()
        return GenerationRequest(
            sample=Sample(
                id=record.id,
                config=record.group,
                split="",
                schema=record.schema or _ANYTHING,
                dialect=record.dialect,
            ),
            messages=conversation.messages,
            budget=writer.asked.budget or conversation.budget,
            repeat=conversation.repeat,
            seed=int.from_bytes(sha256(named).digest()[:6], "big"),
            temperature=writer.asked.temperature,
        )

    def _handed_back(self, conversation: _Conversation) -> bool:
        """Add what is wrong with the last answer; return whether anything is."""
        answer = conversation.answer
        if answer is None or answer.error or self.scorer is None:
            return False
        verdict = self.scorer.score(conversation.record, answer)
        if verdict.passed or not verdict.counted:
            return False
        conversation.messages = (
            *conversation.messages,
            Message(role="assistant", content=answer.text or ""),
            Message(role="user", content=_correction(verdict)),
        )
        return True


def _correction(verdict: Verdict) -> str:
    """Return what a model is told that is to repair its answer."""
    reasons = "\n".join(f"- {reason}" for reason in verdict.reasons)
    return (
        f"That answer was not accepted:\n{reasons}\n"
        "Give the whole corrected answer again, and nothing else."
    )


def _groups(items: Iterable[SuiteRecord], size: int) -> Iterator[list[SuiteRecord]]:
    waiting = iter(items)
    while group := list(islice(waiting, size)):
        yield group


def _mark(
    request: GenerationRequest,
    writer: SuiteWriter,
    conversation: _Conversation,
    attempt: int,
) -> str:
    """Return the fingerprint of a response."""
    return fingerprint(
        code=writing_digest(),
        writer=writer.writer.identity if writer.writer else "",
        label=writer.label,
        record=conversation.record.key,
        schema=request.sample.schema,
        dialect=request.sample.dialect,
        messages=[[turn.role, turn.content] for turn in request.messages],
        budget=request.budget,
        repeat=conversation.repeat,
        attempt=attempt,
        seed=request.seed if request.temperature else 0,
        temperature=str(request.temperature),
    )


def _response(
    generation: Generation,
    conversation: _Conversation,
    writer: SuiteWriter,
    attempt: int,
    mark: str,
) -> SuiteResponse:
    """Return what was written as a response."""
    error = ""
    declined = generation.ending in {TextEnding.REFUSED, TextEnding.FILTERED}
    if not (generation.generated or declined):
        error = f"{generation.result}: {generation.detail or generation.ending}"
    text = generation.text.encode("utf-8", "backslashreplace").decode()
    return SuiteResponse(
        record=conversation.record.key,
        model=writer.model,
        condition=writer.condition,
        repeat=conversation.repeat,
        attempt=attempt,
        text=None if error else text,
        reasoning=generation.reasoning,
        finish=_FINISH.get(generation.ending, generation.ending.value),
        error=error,
        prompt_tokens=generation.prompt_tokens,
        output_tokens=generation.length,
        reasoning_tokens=generation.reasoning_tokens,
        seconds=None if generation.total_ns is None else generation.total_ns / _NS,
        cost=generation.cost,
        fingerprint="" if generation.may_pass else mark,
    )

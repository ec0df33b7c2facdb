"""Have models answer: one response for every record, writer, repeat and repair.

Each record is put to all writers in turn, so that compared answers are written side by
side. Responses in the run's folder are not written again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec

from curation.workers.fingerprint import fingerprint
from curation.workers.worker import WorkerDidNotStart
from evaluation.asking.response_files import RESPONSES, parse_response
from evaluation.core.records import Message, Record, Response, Verdict
from evaluation.generation.text_generation import (
    FINISHES,
    Generation,
    GenerationRequest,
    TextEnding,
)
from evaluation.servers.pacing import SpendingLimit
from evaluation.walking.code_digest import writing_digest
from evaluation.walking.run import RunTotals
from evaluation.walking.run_folder import AppendedLines, whole_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import Self

    from evaluation.asking.request import SuiteChoice
    from evaluation.asking.scoring import LiveScorer
    from evaluation.asking.writers import Writer

_NS: Final = 1e9


class ResponseStore:
    """The responses in a run's folder, earlier ones and those that are added."""

    def __init__(self, folder: Path) -> None:
        """Open the responses of a folder whose lock the caller holds."""
        path = folder / RESPONSES
        self.by_fingerprint: dict[str, Response] = {}
        #: Whether any response is an answer, and why the last one is none.
        self.answered = False
        self.error = ""
        self._lines = AppendedLines(path)
        for line in whole_lines(path):
            try:
                response = parse_response(line)
            except ValueError:
                continue
            if response.fingerprint:
                self._note(response)

    def __enter__(self) -> Self:
        """Return the store."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let every response reach the disk."""
        self._lines.close()

    @property
    def first_answers(self) -> int:
        """The number of answers that are no repair of another."""
        return sum(not each.attempt for each in self.by_fingerprint.values())

    def write(self, response: Response) -> None:
        """Add a response.

        Raises:
            CannotCreate: there is no room, or no right (exit 73).
        """
        self._lines.write(msgspec.json.encode(response))
        self._note(response)

    def _note(self, response: Response) -> None:
        self.by_fingerprint[response.fingerprint] = response
        self.answered |= not response.error
        self.error = response.error or self.error


@dataclass(slots=True, kw_only=True)
class _Conversation:
    """One record, put once to one writer, with the turns so far."""

    record: Record
    repeat: int
    messages: tuple[Message, ...]
    budget: int
    #: The last response; None before the first.
    answer: Response | None = None


@dataclass(slots=True, kw_only=True)
class Questioner:
    """Puts records to writers, and failed answers back to them."""

    choice: SuiteChoice
    store: ResponseStore
    #: Needed if answers are handed back.
    scorer: LiveScorer | None
    repairs: int
    seed: int
    #: Texts that a writer is given at a time.
    batch: int
    advance: Callable[[int], None] = lambda _steps: None
    totals: RunTotals = field(default_factory=RunTotals)

    def ask_all(
        self, records: Iterable[Record], writers: Sequence[Writer]
    ) -> RunTotals:
        """Put every record to every writer; return the totals."""
        for writer in writers:
            if writer.writer is None:
                self.totals.unavailable[writer.label] = writer.unavailable
        most = max((writer.options.samples for writer in writers), default=1)
        for number, group in enumerate(_groups(records, max(1, self.batch // most))):
            # What the first leaves behind, a server's prompt cache above all, is to
            # favour none of the others.
            turn = number % len(writers) if writers else 0
            try:
                for writer in (*writers[turn:], *writers[:turn]):
                    if writer.label not in self.totals.unavailable:
                        self._ask(group, writer)
            except SpendingLimit as limit:
                self.totals.stopped = str(limit)
                break
        return self.totals

    def _ask(self, records: Sequence[Record], writer: Writer) -> None:
        """Put a group of records to one writer, its repairs included.

        A record without a schema is asked free alone: nothing constrains the answer.
        """
        conversations = [
            conversation
            for record in records
            if record.is_asked(writer.condition)
            for conversation in self._conversations(record, writer)
        ]
        count = len(conversations)
        for attempt in range(self.repairs + 1):
            try:
                self._answer(conversations, writer, attempt)
            except WorkerDidNotStart as fault:
                self.totals.unavailable[writer.label] = fault.what
                return
            if attempt < self.repairs:
                conversations = [
                    conversation
                    for conversation in conversations
                    if self._handed_back(conversation)
                ]
        self.advance(count)

    def _conversations(self, record: Record, writer: Writer) -> Iterator[_Conversation]:
        prompt = self.choice.prompt(record)
        budget = writer.options.budget or prompt.tokens(writer.count)
        for repeat in range(writer.options.samples):
            yield _Conversation(
                record=record, repeat=repeat, messages=prompt.messages, budget=budget
            )

    def _answer(
        self, conversations: Sequence[_Conversation], writer: Writer, attempt: int
    ) -> None:
        """Get the next answer of every conversation, from the folder or written."""
        missing: list[tuple[_Conversation, GenerationRequest, str]] = []
        for conversation in conversations:
            request = self._request(conversation, writer, attempt)
            mark = _mark(request, writer, conversation, attempt)
            conversation.answer = self.store.by_fingerprint.get(mark)
            if conversation.answer is None:
                request = replace(request, mark=mark)
                missing.append((conversation, request, mark))
            else:
                self.totals.reused += 1
                if conversation.answer.cost is None:
                    writer.owe(request)
        if not missing or writer.writer is None:
            return

        def keep(place: int, generation: Generation) -> None:
            conversation, _, mark = missing[place]
            response = _response(generation, conversation, writer, attempt, mark)
            if self.choice.suite.keeps_writing:
                response = msgspec.structs.replace(
                    response, writing=generation.as_json()
                )
            conversation.answer = response
            self.store.write(response)
            self.totals.ran += 1
            self.totals.unanswered += generation.may_pass

        writer.writer.write([request for _, request, _ in missing], keep)

    def _request(
        self, conversation: _Conversation, writer: Writer, attempt: int
    ) -> GenerationRequest:
        record = conversation.record
        named = f"{self.seed} {record.key} {conversation.repeat} {attempt}".encode()
        return GenerationRequest(
            record=record,
            messages=conversation.messages,
            budget=conversation.budget,
            repeat=conversation.repeat,
            seed=int.from_bytes(sha256(named).digest()[:6], "big"),
            temperature=writer.options.temperature,
        )

    def _handed_back(self, conversation: _Conversation) -> bool:
        """Add the faults of the last answer; return whether there are any."""
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
    """Return the request to repair an answer."""
    reasons = "\n".join(f"- {reason}" for reason in verdict.reasons)
    return (
        f"That answer was not accepted:\n{reasons}\n"
        "Give the whole corrected answer again, and nothing else."
    )


def _groups(items: Iterable[Record], size: int) -> Iterator[list[Record]]:
    iterator = iter(items)
    while group := list(islice(iterator, size)):
        yield group


def _mark(
    request: GenerationRequest,
    writer: Writer,
    conversation: _Conversation,
    attempt: int,
) -> str:
    """Return the fingerprint of a response."""
    return fingerprint(
        code=writing_digest(),
        writer=writer.identity,
        label=writer.label,
        record=conversation.record.key,
        schema=request.record.constraint,
        dialect=request.record.dialect,
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
    writer: Writer,
    attempt: int,
    mark: str,
) -> Response:
    error = ""
    refused = generation.ending is TextEnding.REQUEST
    declined = generation.ending in {TextEnding.REFUSED, TextEnding.FILTERED}
    if not (generation.generated or declined):
        error = f"{generation.result}: {generation.detail or generation.ending}"
    text = generation.text.encode("utf-8", "backslashreplace").decode()
    return Response(
        record=conversation.record.key,
        model=writer.model,
        condition=writer.condition,
        participant=writer.participant,
        repeat=conversation.repeat,
        attempt=attempt,
        text=None if error else text,
        reasoning=generation.reasoning,
        finish=FINISHES.get(generation.ending, generation.ending.value),
        error=error,
        prompt_tokens=generation.prompt_tokens,
        output_tokens=generation.length,
        reasoning_tokens=generation.reasoning_tokens,
        seconds=None if generation.total_ns is None else generation.total_ns / _NS,
        cost=generation.cost,
        # A response without a fingerprint is asked for again.
        fingerprint="" if generation.may_pass or refused else mark,
    )

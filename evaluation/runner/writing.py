"""Have models answer: one response for every record, writer, repeat and repair.

Each record is put to all writers in turn, so that compared answers are written side by
side. Responses in the run's folder are not written again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec

from curation.workers.fingerprint import fingerprint
from curation.workers.worker import WorkerDidNotStart
from evaluation.core.records import Message, Record, Response, Verdict
from evaluation.generation.text_generation import (
    FINISHES,
    Generation,
    GenerationRequest,
    TextEnding,
)
from evaluation.masks.run import writing_digest
from evaluation.masks.run_folder import AppendedLines, whole_lines
from evaluation.runner.response_files import RESPONSES, parse_response
from evaluation.servers.pacing import SpendingLimit
from evaluation.servers.served_model import ConditionUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import Self

    from evaluation.masks.run import RunTotals
    from evaluation.runner.request import SuiteChoice
    from evaluation.runner.writers import Writer

_NS: Final = 1e9


class ResponseStore:
    """The responses in a run's folder, earlier and added ones."""

    def __init__(self, folder: Path) -> None:
        """Open the responses of a folder whose lock the caller holds."""
        path = folder / RESPONSES
        self.by_fingerprint: dict[str, Response] = {}
        #: Whether any response is an answer, and the last one's error.
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
        """The number of answers that are not repairs of another."""
        return sum(not value.attempt for value in self.by_fingerprint.values())

    def write(self, response: Response) -> None:
        """Add a response.

        Raises:
            CannotCreate: the disk is full, or no right (exit 73).
        """
        self._lines.write(msgspec.json.encode(response))
        self._note(response)

    def _note(self, response: Response) -> None:
        self.by_fingerprint[response.fingerprint] = response
        # A rejected schema is an answer: none of them may be accepted.
        is_rejected = response.finish == FINISHES[TextEnding.ENGINE]
        self.answered |= not response.error or is_rejected
        self.error = response.error or self.error


@dataclass(slots=True, kw_only=True)
class Questioner:
    """Puts records to writers, and failed answers back to them."""

    choice: SuiteChoice
    store: ResponseStore
    #: Needed if answers are handed back.
    score: Callable[[Record, Response], Verdict] | None
    repairs: int
    seed: int
    #: Texts that a writer is given at a time.
    batch: int
    advance: Callable[[int], None]
    totals: RunTotals

    def ask_all(self, records: Iterable[Record], writers: Sequence[Writer]) -> None:
        """Put every record to every writer."""
        for writer in writers:
            if writer.unavailable:
                self.totals.unavailable[writer.label] = writer.unavailable
        most = max((writer.options.samples for writer in writers), default=1)
        waiting = iter(records)
        number = 0
        while group := list(islice(waiting, max(1, self.batch // most))):
            # Remains of the first, above all a server's prompt cache, are to
            # favour none of the others.
            turn = number % len(writers) if writers else 0
            number += 1
            try:
                for writer in (*writers[turn:], *writers[:turn]):
                    if writer.label not in self.totals.unavailable:
                        self._ask(group, writer)
            except SpendingLimit as limit:
                self.totals.stopped = str(limit)
                break

    def _ask(self, records: Sequence[Record], writer: Writer) -> None:
        """Put a group of records to one writer, its repairs included.

        A record without a schema is asked free alone: nothing constrains the answer.
        """
        options = writer.options
        requests: list[GenerationRequest] = []
        for record in records:
            if record.is_asked(writer.condition):
                prompt = self.choice.prompt(record)
                budget = options.budget or prompt.tokens(writer.count)
                requests += [
                    GenerationRequest(
                        record=record,
                        messages=prompt.messages,
                        budget=budget,
                        repeat=repeat,
                        temperature=options.temperature,
                    )
                    for repeat in range(options.samples)
                ]
        count = len(requests)
        for attempt in range(self.repairs + 1):
            marked = [self._marked(request, writer, attempt) for request in requests]
            try:
                answers = self._answer(marked, writer, attempt)
            except (WorkerDidNotStart, ConditionUnavailable) as fault:
                self.totals.unavailable[writer.label] = fault.message
                return
            if attempt < self.repairs:
                requests = [*self._handed_back(marked, answers)]
        self.advance(count)

    def _marked(
        self, request: GenerationRequest, writer: Writer, attempt: int
    ) -> GenerationRequest:
        """Return a request with its seed and the fingerprint of its response."""
        record = request.record
        named = f"{self.seed} {record.key} {request.repeat} {attempt}".encode()
        seed = int.from_bytes(sha256(named).digest()[:6], "big")
        mark = fingerprint(
            code=writing_digest(),
            writer=writer.model.identity(writer.constraint),
            label=writer.label,
            record=record.key,
            schema=record.constraint,
            dialect=record.dialect,
            messages=[[turn.role, turn.content] for turn in request.messages],
            budget=request.budget,
            repeat=request.repeat,
            attempt=attempt,
            seed=seed if request.temperature else 0,
            temperature=str(request.temperature),
        )
        return replace(request, seed=seed, mark=mark)

    def _answer(
        self, requests: Sequence[GenerationRequest], writer: Writer, attempt: int
    ) -> list[Response | None]:
        """Return the answer to every request, from the folder or written."""
        answers = [self.store.by_fingerprint.get(request.mark) for request in requests]
        missing: list[int] = []
        for index, (request, answer) in enumerate(zip(requests, answers, strict=True)):
            if answer is None:
                missing.append(index)
                continue
            self.totals.reused += 1
            if answer.cost is None:
                writer.model.owe(request, writer.constraint)
        if not missing:
            return answers

        def keep(place: int, generation: Generation) -> None:
            index = missing[place]
            response = _response(generation, requests[index], writer, attempt)
            if self.choice.suite.keeps_writing:
                response = msgspec.structs.replace(
                    response, writing=generation.as_json()
                )
            answers[index] = response
            self.store.write(response)
            self.totals.ran += 1
            self.totals.unanswered += generation.may_pass

        prompts = [requests[index] for index in missing]
        writer.model.generate(prompts, writer.constraint, keep)
        return answers

    def _handed_back(
        self,
        requests: Sequence[GenerationRequest],
        answers: Sequence[Response | None],
    ) -> Iterator[GenerationRequest]:
        """Yield requests to repair the answers that fail, with the reasons."""
        for request, answer in zip(requests, answers, strict=True):
            if answer is None or answer.error or self.score is None:
                continue
            verdict = self.score(request.record, answer)
            if verdict.passed or not verdict.counted:
                continue
            reasons = "\n".join(f"- {reason}" for reason in verdict.reasons)
            correction = (
                f"That answer was not accepted:\n{reasons}\n"
                "Give the whole corrected answer again, and nothing else."
            )
            turns = (
                Message(role="assistant", content=answer.text or ""),
                Message(role="user", content=correction),
            )
            yield replace(request, messages=(*request.messages, *turns))


def _response(
    generation: Generation, request: GenerationRequest, writer: Writer, attempt: int
) -> Response:
    error = ""
    refused = generation.ending is TextEnding.REQUEST
    declined = generation.ending in {TextEnding.REFUSED, TextEnding.FILTERED}
    if not (generation.generated or declined):
        error = f"{generation.result}: {generation.detail or generation.ending}"
    text = generation.text.encode("utf-8", "backslashreplace").decode()
    return Response(
        record=request.record.key,
        model=writer.name,
        condition=writer.condition,
        participant=writer.participant,
        repeat=request.repeat,
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
        fingerprint="" if generation.may_pass or refused else request.mark,
    )

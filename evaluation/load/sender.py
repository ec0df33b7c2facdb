"""Send requests at the moments drawn for them, independent of the answers.

No request is repeated or waits for another's answer: slow and fast servers get the same
arrivals, and waits count from the scheduled arrival (no "coordinated omission").
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from itertools import pairwise
from queue import SimpleQueue
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from evaluation.core.cases import Result
from evaluation.generation.text_generation import TextEnding
from evaluation.servers.asked_text import AskedText
from evaluation.servers.client import (
    DeadlinePassed,
    RequestRefused,
    RetriesExhausted,
    ServerClient,
)
from evaluation.servers.request_body import request_body
from evaluation.servers.request_refusals import RefusalCause

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluation.generation.text_generation import Generation
    from evaluation.load.arrivals import PlannedRequest
    from evaluation.servers.model_server import ModelServer

#: Nanoseconds between the beginning of a stream and its first arrival.
_LEAD: Final = 20_000_000
#: What a request ends with that is refused for another cause than its schema.
_ENDINGS: Final = {
    RefusalCause.CONTEXT: TextEnding.PROMPT,
    RefusalCause.FILTER: TextEnding.FILTERED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SentRequest:
    """A request that is over; nanoseconds from its scheduled arrival."""

    planned: PlannedRequest
    generation: Generation
    sent_late_ns: int
    over_ns: int
    #: Times between pieces of the answer.
    gaps_ns: tuple[int, ...] = ()


class OpenLoopSender:
    """Sends a stream of requests to one server, in one dialect."""

    def __init__(
        self,
        server: ModelServer,
        concurrency: int,
        *,
        client: ServerClient | None = None,
    ) -> None:
        """Prepare; nothing is sent yet.

        Args:
            server: Who is asked, and in which dialect.
            concurrency: Most requests that are under way.
            client: The connection; one of its own by default.
        """
        self._dialect = server.dialect
        self._client = client or ServerClient(server.connection)
        self._concurrency = concurrency
        self._stopped = threading.Event()

    def close(self) -> None:
        """Send nothing more; requests under way are abandoned."""
        self._stopped.set()
        self._client.close()

    def send(self, stream: Sequence[PlannedRequest]) -> Iterator[SentRequest]:
        """Send a stream; yield each request when it is over.

        Raises:
            NotPermitted: the key is missing or wrong (exit 77).
            BadConfiguration: this is no such server.
        """
        waiting: SimpleQueue[tuple[PlannedRequest, int] | None] = SimpleQueue()
        over: SimpleQueue[SentRequest | Exception] = SimpleQueue()
        begun = perf_counter_ns() + _LEAD
        places = min(self._concurrency, len(stream))
        # Daemons: a server that never answers does not hold up the end of the program.
        for _ in range(places):
            threading.Thread(
                target=self._work, args=(waiting, over), daemon=True
            ).start()
        clock = threading.Thread(
            target=self._schedule, args=(stream, begun, places, waiting), daemon=True
        )
        clock.start()
        for _ in stream:
            sent = over.get()
            if isinstance(sent, Exception):
                self._stopped.set()
                raise sent
            yield sent

    def _schedule(
        self,
        stream: Sequence[PlannedRequest],
        begun: int,
        places: int,
        waiting: SimpleQueue[tuple[PlannedRequest, int] | None],
    ) -> None:
        """Hand out each request when its moment has come."""
        for planned in stream:
            moment = begun + planned.arrival_ns
            wait_ns = moment - perf_counter_ns()
            if wait_ns > 0 and self._stopped.wait(wait_ns / 1e9):
                break
            waiting.put((planned, moment))
        for _ in range(places):
            waiting.put(None)

    def _work(
        self,
        waiting: SimpleQueue[tuple[PlannedRequest, int] | None],
        over: SimpleQueue[SentRequest | Exception],
    ) -> None:
        """Ask for one request after the other; this is one of the places."""
        while (item := waiting.get()) is not None and not self._stopped.is_set():
            planned, moment = item
            try:
                over.put(self._ask(planned, moment))
            except Exception as error:  # noqa: BLE001 - raised where requests are awaited
                over.put(error)

    def _ask(self, planned: PlannedRequest, moment: int) -> SentRequest:
        sent = perf_counter_ns()
        sample = planned.request.sample
        schema, edits = self._dialect.adapt(planned.schema, sample.dialect)
        text = AskedText(planned.request, schema if edits else "", edits, None)
        gaps: tuple[int, ...] = ()
        try:
            answer = self._client.ask_once(
                request_body(self._dialect, planned.request, schema)
            )
            generation = text.written(answer, moment)
            gaps = _gaps(answer.pieces)
        except DeadlinePassed as late:
            generation = text.late(late.answer, moment)
            gaps = _gaps(late.answer.pieces)
        except RequestRefused as refused:
            generation = self._refused(text, refused)
        except RetriesExhausted as failed:
            generation = text.failed(Result.ERROR, TextEnding.MODEL, str(failed))
        return SentRequest(
            planned=planned,
            generation=replace(generation, id=planned.id),
            sent_late_ns=max(0, sent - moment),
            over_ns=perf_counter_ns() - moment,
            gaps_ns=gaps,
        )

    def _refused(self, text: AskedText, refused: RequestRefused) -> Generation:
        """Return the generation of a refusal; it is not looked into by asking more."""
        cause = refused.words.cause
        if cause is RefusalCause.SCHEMA and self._dialect.constrains:
            return text.failed(Result.COMPILE_ERROR, TextEnding.ENGINE, str(refused))
        ending = _ENDINGS.get(cause, TextEnding.REQUEST)
        return text.failed(Result.ERROR, ending, str(refused))


def _gaps(pieces: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(later - earlier for (earlier, _), (later, _) in pairwise(pieces))

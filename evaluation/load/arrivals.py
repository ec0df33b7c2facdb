"""The streams of requests of a load run: drawn in advance, then sent.

No request is repeated or waits for another's answer: slow and fast servers get the same
arrivals, and waits count from the scheduled arrival (no "coordinated omission").
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from itertools import pairwise
from math import isinf
from queue import SimpleQueue
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

import numpy as np

from curation.system.errors import BadUsage
from evaluation.core.cases import Result
from evaluation.generation.text_generation import (
    Generation,
    GenerationRequest,
    TextEnding,
)
from evaluation.servers.client import DeadlinePassed, RequestRefused, RetriesExhausted
from evaluation.servers.pacing import SpendingLimit
from evaluation.servers.writer import AskedText, ServerWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import Json

#: The times that a limit can be set for.
LIMITED: Final = ("ttft", "tpot", "e2e")
_LIMIT: Final = re.compile(r"([a-z0-9]+)[:=]([0-9]*\.?[0-9]+)(ms|s)?")
_NS: Final = {"ms": 1_000_000, "s": 1_000_000_000}


class SchemaChoice(StrEnum):
    """The schemas for which the requests of one stream ask."""

    ONE = "one"
    """One schema for all: all caches of the server hit."""
    MARKED = "marked"
    """The same, made new for each request by a `$comment`: the text has the same
    prompt and the same grammar, and nothing that a server caches by schema fits."""
    EACH = "each"
    """A schema of its own for each request, as the data has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimit:
    """The longest time with which an answer is still in time."""

    #: One of `LIMITED`.
    name: str
    ns: int

    def __str__(self) -> str:
        """Return it as the command line takes it: `ttft:200ms`."""
        return f"{self.name}:{Decimal(self.ns).scaleb(-6).normalize():f}ms"


def parse_limits(texts: Sequence[str]) -> tuple[ServiceLimit, ...]:
    """Parse limits such as `ttft:200ms`; one text may hold several, with blanks.

    Raises:
        BadUsage: one is no such limit, or a time has two.

    Example:
        >>> [str(limit) for limit in parse_limits(["ttft:0.2s tpot:50ms"])]
        ['ttft:200ms', 'tpot:50ms']
    """
    limits: dict[str, ServiceLimit] = {}
    for part in (part for text in texts for part in re.split(r"[\s,]+", text.strip())):
        match = _LIMIT.fullmatch(part)
        ns = round(float(match[2]) * _NS[match[3] or "ms"]) if match else 0
        if match is None or match[1] not in LIMITED or not ns:
            raise BadUsage(
                f"--goodput {part!r}: no limit",
                then=f"say {', '.join(LIMITED)} and a time, such as ttft:200ms",
            )
        if match[1] in limits:
            raise BadUsage(f"--goodput: two limits for {match[1]}")
        limits[match[1]] = ServiceLimit(name=match[1], ns=ns)
    return tuple(limits.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSettings:
    """The arrival of requests; all of it is part of a run's header."""

    #: Requests a second; infinite: all at once.
    rate: float
    #: Most requests under way; later arrivals wait here, and their wait is measured.
    concurrency: int = 256
    #: See `draw_arrivals`.
    burstiness: float = 1.0
    #: Requests before the first that is measured, arriving in the same way.
    warm_up: int = 8
    choices: tuple[SchemaChoice, ...] = (SchemaChoice.ONE, SchemaChoice.EACH)
    #: The limits of goodput.
    limits: tuple[ServiceLimit, ...] = ()
    seed: int = 0

    def header(self) -> dict[str, Json]:
        """Return its entry in a run's header."""
        return {
            "rate": str(self.rate),
            "concurrency": self.concurrency,
            "burstiness": self.burstiness,
            "warm_up": self.warm_up,
            "schemas": [choice.value for choice in self.choices],
            "goodput": [str(limit) for limit in self.limits],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRequest:
    """One request of a stream."""

    choice: SchemaChoice
    #: Its place in the stream, the warm-up included. Requests of one place arrive at
    #: the same moment in every stream of a run.
    number: int
    #: Whether it only warms the server up.
    warm_up: bool
    #: Nanoseconds from the beginning of the stream.
    arrival_ns: int
    request: GenerationRequest
    #: Makes its schema another text that means the same; empty for none.
    mark: str = ""

    @property
    def schema(self) -> str:
        """The record's schema, with the mark."""
        own = self.request.record.constraint
        return mark_schema(own, self.mark) if self.mark else own

    @property
    def id(self) -> str:
        """Its name in rows: `one#17`."""
        return f"{self.choice}#{self.number}"


def draw_arrivals(
    count: int, rate: float, *, burstiness: float = 1.0, seed: int = 0
) -> list[float]:
    """Draw the moments of arrivals, in seconds from the beginning, in order.

    The gaps between them, the first one included, are drawn from a gamma distribution
    whose mean is 1 / rate.

    Args:
        count: Number of arrivals.
        rate: Arrivals a second; infinite: all at once.
        burstiness: Shape of the gamma distribution. 1 is a Poisson process; below,
            arrivals come in bursts; above, they are more even.
        seed: The same seed gives the same moments.

    Example:
        >>> len(draw_arrivals(3, 2.0))
        3
        >>> draw_arrivals(2, float("inf"))
        [0.0, 0.0]
    """
    if isinf(rate):
        return [0.0] * count
    random = np.random.default_rng(seed)
    gaps = random.gamma(burstiness, 1 / (rate * burstiness), count)
    return [float(moment) for moment in np.cumsum(gaps)]


def plan_stream(
    requests: Sequence[GenerationRequest], choice: SchemaChoice, settings: LoadSettings
) -> list[PlannedRequest]:
    """Plan the requests of one stream, in the order of their arrival.

    The warm-up comes first, beside one request for each record. Its schemas are not
    measured later, unless all requests share one schema.

    Args:
        requests: One for each schema; their order is drawn.
        choice: The schemas for which they ask.
        settings: Their arrival.

    Raises:
        BadUsage: all are to ask for one schema, and none is a JSON object.
    """
    warm_up = settings.warm_up
    arrivals = draw_arrivals(
        warm_up + len(requests),
        settings.rate,
        burstiness=settings.burstiness,
        seed=settings.seed,
    )
    order = np.random.default_rng(settings.seed).permutation(len(requests))
    common = _common_request(requests)
    planned = []
    for number, arrival in enumerate(arrivals):
        warms = number < warm_up
        own = choice is SchemaChoice.EACH and not warms
        request = requests[order[number - warm_up]] if own else common
        marks = not own and choice is not SchemaChoice.ONE
        planned.append(
            PlannedRequest(
                choice=choice,
                number=number,
                warm_up=warms,
                arrival_ns=round(arrival * 1e9),
                request=request,
                mark=f"request {number}" if marks else "",
            )
        )
    return planned


def mark_schema(schema: str, mark: str) -> str:
    """Return a schema that means the same and is another text.

    Args:
        schema: A JSON object.
        mark: Becomes its `$comment`, which no validator may act upon (JSON Schema
            2020-12, core, 8.3).
    """
    return json.dumps({**json.loads(schema), "$comment": mark})


def _common_request(requests: Sequence[GenerationRequest]) -> GenerationRequest:
    """Return the request whose schema has the median length.

    Raises:
        BadUsage: no schema is an object.
    """
    ordered = sorted(
        (one for one in requests if one.record.constraint.lstrip()[:1] == "{"),
        key=lambda one: (len(one.record.constraint), one.record.id, one.repeat),
    )
    if not ordered:
        raise BadUsage("no schema of the data is a JSON object")
    return ordered[len(ordered) // 2]


#: Nanoseconds between the beginning of a stream and its first arrival.
_LEAD: Final = 20_000_000


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
    """Sends a stream of requests to one server, in one way."""

    def __init__(self, writer: ServerWriter, concurrency: int) -> None:
        """Prepare; nothing is sent yet.

        Args:
            writer: Who is asked, in which way, and who pays.
            concurrency: Most requests that are under way.
        """
        self._writer, self._server = writer, writer.server
        self._concurrency = concurrency
        self._stopped = threading.Event()

    def close(self) -> None:
        """Send nothing more; requests under way are abandoned."""
        self._stopped.set()
        self._writer.close()

    def send(self, stream: Sequence[PlannedRequest]) -> Iterator[SentRequest]:
        """Send a stream; yield each request when it is over.

        Raises:
            NotPermitted: the key is missing or wrong (exit 77).
            BadConfiguration: this is no such server.
            SpendingLimit: no more may be sent, and all that was is over.
        """
        waiting: SimpleQueue[tuple[PlannedRequest, int] | None] = SimpleQueue()
        over: SimpleQueue[SentRequest | Exception | None] = SimpleQueue()
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
        limit: SpendingLimit | None = None
        while places:
            sent = over.get()
            if sent is None:
                places -= 1
            elif isinstance(sent, SentRequest):
                yield sent
            else:
                self._stopped.set()
                if not isinstance(sent, SpendingLimit):
                    raise sent
                limit = sent
        if limit is not None:
            raise limit

    def _schedule(
        self,
        stream: Sequence[PlannedRequest],
        begun: int,
        places: int,
        waiting: SimpleQueue[tuple[PlannedRequest, int] | None],
    ) -> None:
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
        over: SimpleQueue[SentRequest | Exception | None],
    ) -> None:
        """Ask for one request after the other; this is one of the places."""
        while (item := waiting.get()) is not None and not self._stopped.is_set():
            planned, moment = item
            try:
                over.put(self._ask(planned, moment))
            except Exception as error:  # noqa: BLE001 - raised where requests are awaited
                over.put(error)
        over.put(None)

    def _ask(self, planned: PlannedRequest, moment: int) -> SentRequest:
        sent = perf_counter_ns()
        record = planned.request.record
        adapted = self._server.adapter.of(record)
        text = AskedText(planned.request, adapted, self._writer.account.prices)
        schema = planned.schema
        if text.schema.edits:
            schema = text.schema.text
            schema = mark_schema(schema, planned.mark) if planned.mark else schema
        gaps: tuple[int, ...] = ()
        try:
            if text.schema.refusal:
                generation = text.undeclared()
            else:
                answer, _ = self._writer.ask(planned.request, schema)
                generation = text.written(answer, moment)
                gaps = _gaps(answer.pieces)
        except DeadlinePassed as late:
            generation = text.late(late.answer, moment)
            gaps = _gaps(late.answer.pieces)
        except RequestRefused as refused:
            generation = text.refused(
                refused.words.cause, str(refused), constrains=self._server.constrains
            )
        except RetriesExhausted as failed:
            generation = text.failed(Result.ERROR, TextEnding.MODEL, str(failed))
        return SentRequest(
            planned=planned,
            generation=replace(generation, id=planned.id),
            sent_late_ns=max(0, sent - moment),
            over_ns=perf_counter_ns() - moment,
            gaps_ns=gaps,
        )


def _gaps(pieces: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(later - earlier for (earlier, _), (later, _) in pairwise(pieces))

"""Streams of requests sent to a server, each request one row of the run's folder."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from curation.system.errors import Unavailable
from curation.workers.fingerprint import fingerprint
from evaluation.core.cases import Result
from evaluation.execution.code_digest import writing_digest
from evaluation.execution.plan import RunTotals
from evaluation.generation.judgement import TextJudge
from evaluation.open_loop.answered import RequestTimes, row_of_request
from evaluation.open_loop.settings import SchemaChoice
from evaluation.open_loop.workload import plan_stream
from evaluation.servers.client import ServerClient
from evaluation.servers.open_loop_sender import OpenLoopSender

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evaluation.execution.results_folder import ResultsFolder
    from evaluation.generation.requests import GenerationRequest
    from evaluation.open_loop.settings import OpenLoopSettings
    from evaluation.open_loop.workload import PlannedRequest
    from evaluation.servers.model_server import ModelServer
    from evaluation.servers.open_loop_sender import SentRequest

#: So many failures in a row, and it is asked whether the server is there at all.
_IN_A_ROW: Final = 20


def choices_of(
    server: ModelServer, settings: OpenLoopSettings
) -> tuple[SchemaChoice, ...]:
    """Return the streams of one participant.

    Where no schema is sent there is none to be marked.
    """
    return tuple(
        choice
        for choice in settings.choices
        if server.dialect.constrains or choice is not SchemaChoice.MARKED
    )


def run_open_loop(
    servers: Sequence[ModelServer],
    requests: Sequence[GenerationRequest],
    settings: OpenLoopSettings,
    out: ResultsFolder,
    advance: Callable[[int], None],
) -> RunTotals:
    """Send every stream to every participant, but for the rows that are there.

    Participants have the server to themselves, one after the other. A stream that
    was ended in its middle goes on with a warm-up of its own.

    Args:
        servers: One server, in each of the dialects in which it is asked.
        requests: What is asked for, one for each schema and repeat.
        settings: How requests arrive.
        out: The run's folder, to which rows are written.
        advance: Called with the number of rows that are there in addition.

    Raises:
        Unavailable: the server does not answer any more; the same command goes on.
        NotPermitted: the key is missing or wrong (exit 77).
    """
    totals = RunTotals()
    with TextJudge() as judge:
        for choice in settings.choices:
            for server in servers:
                if choice not in choices_of(server, settings):
                    continue
                whole = plan_stream(requests, choice, settings)
                marks = {
                    planned.number: _mark(server, planned, settings)
                    for planned in whole
                }
                stream = [
                    planned
                    for planned in whole
                    if marks[planned.number] not in out.finished or planned.warm_up
                ]
                if all(mark in out.finished for mark in marks.values()):
                    totals.found += len(marks)
                    advance(len(marks))
                    continue
                found = len(marks) - len(stream)
                totals.found += found
                advance(found)
                sitting = datetime.datetime.now(datetime.UTC).isoformat()
                for sent in _sent(server, _closed_up(stream), settings):
                    planned, made = sent.planned, sent.generation
                    sample = planned.request.sample
                    judgement = (
                        judge.judge(
                            made.text, sample.schema, sample.dialect, made.adapted
                        )
                        if made.generated
                        else None
                    )
                    out.write(
                        row_of_request(
                            planned,
                            made,
                            _times(sent, sitting),
                            engine=server.label,
                            judgement=judgement,
                            fingerprint=marks[planned.number],
                        )
                    )
                    totals.ran += 1
                    advance(1)
    return totals


def _closed_up(stream: Sequence[PlannedRequest]) -> list[PlannedRequest]:
    """Return what is left of a stream with the first of it right after the warm-up.

    The moments of what follows keep their distances.
    """
    warm_up = [planned for planned in stream if planned.warm_up]
    left = [planned for planned in stream if not planned.warm_up]
    if not left:
        return warm_up
    begins = warm_up[-1].arrival_ns if warm_up else 0
    first = left[0]
    whole = first.number == len(warm_up)
    moved = 0 if whole else first.arrival_ns - begins
    return [
        *warm_up,
        *(replace(one, arrival_ns=one.arrival_ns - moved) for one in left),
    ]


def _sent(
    server: ModelServer, stream: Sequence[PlannedRequest], settings: OpenLoopSettings
) -> Iterator[SentRequest]:
    """Yield what came of a stream's requests, in the order in which they were over.

    Raises:
        Unavailable: nobody is there; what failed for that is not yielded.
    """
    sender = OpenLoopSender(server, settings.concurrency)
    failed: list[SentRequest] = []
    try:
        for sent in sender.send(stream):
            if sent.generation.result is Result.ERROR:
                failed.append(sent)
                if len(failed) % _IN_A_ROW == 0:
                    _check_there(server)
                continue
            yield from failed
            failed = []
            yield sent
        if failed:
            _check_there(server)
        yield from failed
    finally:
        sender.close()


def _check_there(server: ModelServer) -> None:
    client = ServerClient(server.connection)
    try:
        client.description()
    except Unavailable as gone:
        raise Unavailable(
            "the server does not answer any more",
            server.connection.base,
            "start it again; the same command goes on from here",
        ) from gone
    finally:
        client.close()


def _times(sent: SentRequest, sitting: str) -> RequestTimes:
    planned = sent.planned
    return RequestTimes(
        choice=planned.choice,
        number=planned.number,
        warm_up=planned.warm_up,
        scheduled_ns=planned.arrival_ns,
        sent_late_ns=sent.sent_late_ns,
        over_ns=sent.over_ns,
        gaps_ns=sent.gaps_ns,
        sitting=sitting,
    )


def _mark(
    server: ModelServer, planned: PlannedRequest, settings: OpenLoopSettings
) -> str:
    """Return the fingerprint of a row."""
    request = planned.request
    return fingerprint(
        code=writing_digest(),
        writer=server.identity,
        stream=settings.header(),
        seed=settings.seed,
        choice=planned.choice.value,
        number=planned.number,
        arrival=planned.arrival_ns,
        schema=planned.schema,
        messages=[[message.role, message.content] for message in request.messages],
        budget=request.budget,
        request_seed=request.seed if request.temperature else 0,
        temperature=str(request.temperature),
    )


def count_units(
    servers: Iterable[ModelServer], requests: int, settings: OpenLoopSettings
) -> int:
    """Return how many requests there are in all streams, warm-ups included."""
    streams = sum(len(choices_of(server, settings)) for server in servers)
    return streams * (requests + settings.warm_up)

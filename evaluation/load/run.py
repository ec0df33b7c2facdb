"""Run load on a server: streams of requests sent, judged, each a row of the folder."""

from __future__ import annotations

import datetime
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import orjson

from curation.download.acquire import FetchSettings
from curation.system.credentials import redacted_words
from curation.system.errors import BadData, BadUsage, NoInput, Unavailable
from curation.system.progress import Progress, Quiet
from curation.system.terminal import command_line
from curation.system.user_files import refuse_large
from curation.system.words import command, counted
from curation.workers.fingerprint import fingerprint
from evaluation.asking.records import records_of
from evaluation.asking.request import SuiteChoice, choose_suite
from evaluation.asking.scoring import LiveScorer
from evaluation.core.cases import Result
from evaluation.core.records import Response
from evaluation.core.suite import RecordRequest
from evaluation.data import Dataset, RecordSelection, open_data
from evaluation.generation.text_generation import GenerationRequest, TokenPrices
from evaluation.load.arrivals import (
    LoadSettings,
    OpenLoopSender,
    PlannedRequest,
    SchemaChoice,
    SentRequest,
    ServiceLimit,
    parse_limits,
    plan_stream,
)
from evaluation.load.rows import ROWS, LoadRow, RequestTimes, read_rows, report
from evaluation.models.store import DEFAULT
from evaluation.servers.client import RequestLimits, ServerClient
from evaluation.servers.model_server import ModelServer, served_model
from evaluation.servers.pacing import Account, Spending, SpendingLimit
from evaluation.servers.parameters import Parameters
from evaluation.servers.prices import prices_of
from evaluation.servers.writer import ServerWriter
from evaluation.setup.machine import machine
from evaluation.suites.coverage.texts import class_of, judgement_of
from evaluation.tokenizers import get_tokenizer, token_counter
from evaluation.walking.code_digest import writing_digest
from evaluation.walking.reproducers import absolute_words
from evaluation.walking.run_folder import (
    HEADER,
    AppendedLines,
    hold_run_folder,
    record_parameters,
    refuse_taken,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from curation.core.json_types import Json
    from evaluation.reporting.tables import Table

#: After so many failures in a row, the server is asked whether it is there at all.
_IN_A_ROW: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRequest:
    """A server, the records for which it is asked, and the arrival of requests."""

    #: `http://localhost:8000/v1#NAME`; the name may be left out if there is one model.
    address: str
    settings: LoadSettings
    #: The ways in which it is asked.
    engines: Sequence[str] = ("none",)
    #: As `evaluation.data.open_data` takes it.
    data: str | None = None
    #: Most records; None for all.
    limit: int | None = None
    #: Most tokens of a text; None: by the witnesses of its schema.
    budget: int | None = None
    #: Deadline of one text, in seconds.
    seconds: float = 40.0
    #: None for a folder below `runs/` named after the plan.
    run_dir: Path | None = None
    #: Nothing more is sent once answers have cost so much, or after so many requests.
    max_cost: float | None = None
    max_requests: int | None = None
    #: What tokens cost, or a list; None for our own.
    prices: TokenPrices | Path | None = None
    fetch: FetchSettings = field(default_factory=FetchSettings.from_environment)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRun:
    """A run's folder, read: what was asked for, and the outcome of each request."""

    folder: Path
    header: dict[str, Json]
    rows: Sequence[LoadRow]
    #: The limits of goodput.
    limits: Sequence[ServiceLimit]
    #: The limit that ended it; empty for none.
    stopped: str = ""

    def tables(self) -> Sequence[Table]:
        """Return rates, latencies and pairs of streams."""
        return report(self.rows, self.limits)


class _LoadPart(msgspec.Struct):
    """What tables need of the settings in a header."""

    goodput: tuple[str, ...]


class _LoadHeader(msgspec.Struct):
    load: _LoadPart | None = None


def open_load(folder: Path) -> LoadRun:
    """Read the folder of a load run.

    Raises:
        NoInput: there is no such folder.
        BadData: it is of another kind of run, or a row cannot be read.
    """
    try:
        header = orjson.loads(refuse_large(folder / HEADER).read_bytes())
        load = msgspec.convert(header, _LoadHeader).load
        limits = parse_limits(load.goodput if load else ())
        rows = read_rows(folder)
    except OSError as error:
        raise NoInput("no run of csbdata load", str(folder)) from error
    except (orjson.JSONDecodeError, msgspec.ValidationError, BadUsage) as error:
        raise BadData(f"not a run of csbdata load ({error})", str(folder)) from error
    if load is None:
        raise BadData(
            "a run of csbdata eval or of a suite",
            str(folder),
            command("results", "show", folder),
        )
    return LoadRun(folder=folder, header=header, rows=rows, limits=limits)


def run_load(request: LoadRequest, progress: Progress | None = None) -> LoadRun:
    """Send every stream to every participant, but for the rows that are there.

    Participants have the server to themselves. A stream that was stopped continues
    after another warm-up.

    Args:
        request: Server, records, arrivals.
        progress: Shows what takes long; nothing is shown by default.

    Raises:
        Unavailable: the server does not answer, not any more, or nothing at all; the
            same command continues (exit 69).
        NotPermitted: the key is missing or wrong (exit 77).
        BadConfiguration: the folder is of another run, or there is no such way to ask.
        TemporarilyUnavailable: another run is at work in the folder (exit 75).
    """
    progress = progress or Quiet()
    refuse_taken(request.run_dir)
    limits = RequestLimits(seconds=request.seconds, patience=0)
    servers = served_model(request.address, request.engines, limits)
    spending = Spending(request.max_cost, request.max_requests)
    account = Account(
        spending, prices_of(request.prices, servers[0].connection, request.max_cost)
    )
    data = open_data(
        request.data,
        selection=RecordSelection(limit=request.limit, seed=request.settings.seed),
        settings=request.fetch,
        progress=progress,
    )
    suite = choose_suite("coverage")
    requests = _requests(request, suite, data, progress.say)
    head = _header(request, servers, data.header(), suite)
    folder = request.run_dir or Path("runs") / str(head["plan"])[:12]
    progress.say(
        f"{counted(len(requests), 'record')}, server {servers[0].connection.base}"
    )
    progress.say(f"folder: {folder}")
    streams = [
        (server, choice)
        for choice in request.settings.choices
        for server in servers
        # Where no schema is sent there is none to be marked.
        if server.constrains or choice is not SchemaChoice.MARKED
    ]
    if not streams:
        raise BadUsage("no schema is sent to be marked", then="add --engine strict")
    settings = request.settings
    total = len(streams) * (len(requests) + settings.warm_up)
    with hold_run_folder(folder, head), LiveScorer(suite) as scorer:
        earlier = open_load(folder).rows
        finished = _finished(earlier)
        plans = [plan_stream(requests, choice, settings) for _, choice in streams]
        rests = [
            _rest(server, plan, settings, finished)
            for (server, _), plan in zip(streams, plans, strict=True)
        ]
        found = total - sum(map(len, rests))
        records = [each.record for each in requests]
        for server in servers:
            server.adapter.prepare(records, folder, server.label, progress)
        lines = AppendedLines(folder / ROWS)
        parameters = Parameters(servers[0].connection.provider.parameters)
        stopped = ""
        try:
            with progress.bar("Sending", total, found, spending.__str__) as advance:
                advance(found)
                writers = [
                    ServerWriter(server, account, say=progress.say)
                    for server, _ in streams
                ]
                _pay_again(earlier, spending, writers, plans, settings)
                for writer, rest in zip(writers, rests, strict=True):
                    writer.parameters = parameters
                    for row in _rows(writer, rest, settings, scorer):
                        lines.write(msgspec.json.encode(row))
                        advance(1)
        except SpendingLimit as limit:
            stopped = str(limit)
        finally:
            lines.close()
            record_parameters(folder, {it.label: parameters.changes for it in servers})
    run = replace(open_load(folder), stopped=stopped)
    if run.rows and not _finished(run.rows):
        last = run.rows[-1].generation.detail
        what = f"no request was answered; the last one: {last}"
        then = "the same command asks again"
        raise Unavailable(what, servers[0].connection.base, then)
    return run


def _finished(rows: Sequence[LoadRow]) -> set[str]:
    """Return the fingerprints of rows; if the server answered nothing, none counts."""
    answered = any(row.generation.result is not Result.ERROR for row in rows)
    return {row.fingerprint for row in rows if answered}


def _pay_again(
    earlier: Iterable[LoadRow],
    spending: Spending,
    writers: Sequence[ServerWriter],
    plans: Sequence[Sequence[PlannedRequest]],
    settings: LoadSettings,
) -> None:
    """Count what earlier answers cost; where it is not told, the most it can be."""
    untold = Counter[str]()
    for row in earlier:
        spending.pay(row.generation.cost)
        untold[row.fingerprint] += row.generation.cost is None
    for writer, plan in zip(writers, plans, strict=True):
        for each in plan:
            for _ in range(untold[_mark(writer.server, each, settings)]):
                writer.owe(each.request)


def _rest(
    server: ModelServer,
    plan: Sequence[PlannedRequest],
    settings: LoadSettings,
    finished: set[str],
) -> list[tuple[PlannedRequest, str]]:
    """Return the requests of a stream that are to be sent, each with its mark.

    A stream that goes on has its warm-up again.
    """
    marked = [(each, _mark(server, each, settings)) for each in plan]
    if finished.issuperset(mark for _, mark in marked):
        return []
    return [
        (each, mark) for each, mark in marked if each.warm_up or mark not in finished
    ]


def _rows(
    writer: ServerWriter,
    rest: Sequence[tuple[PlannedRequest, str]],
    settings: LoadSettings,
    scorer: LiveScorer,
) -> Iterator[LoadRow]:
    marks = {each.number: mark for each, mark in rest}
    sitting = datetime.datetime.now(datetime.UTC).isoformat()
    for sent in _send(writer, _closed_up([each for each, _ in rest]), settings):
        planned, generation = sent.planned, sent.generation
        record = planned.request.record
        verdict = scorer.score(
            record, Response(record=record.key, writing=generation.as_json())
        )
        yield LoadRow(
            engine=writer.label,
            config=record.group,
            record=record.id,
            times=RequestTimes(
                choice=planned.choice,
                number=planned.number,
                warm_up=planned.warm_up,
                scheduled_ns=planned.arrival_ns,
                sent_late_ns=sent.sent_late_ns,
                over_ns=sent.over_ns,
                gaps_ns=sent.gaps_ns,
                sitting=sitting,
            ),
            generation=generation,
            judgement=judgement_of(verdict),
            outcome=class_of(verdict),
            fingerprint=marks[planned.number],
        )


def _requests(
    request: LoadRequest, suite: SuiteChoice, data: Dataset, say: Callable[[str], None]
) -> list[GenerationRequest]:
    count = token_counter(partial(get_tokenizer, DEFAULT, request.fetch, say))
    records = RecordRequest(data=request.data, fetch=request.fetch, dataset=data)
    requests = []
    for record in records_of(suite, records).records:
        prompt = suite.prompt(record)
        requests.append(
            GenerationRequest(
                record=record,
                messages=prompt.messages,
                budget=request.budget or prompt.tokens(count),
            )
        )
    return requests


def _header(
    request: LoadRequest,
    servers: Sequence[ModelServer],
    data: dict[str, Json],
    suite: SuiteChoice,
) -> dict[str, Json]:
    """Return the content of `run.json`; `plan` is the fingerprint of the request."""
    models: dict[str, Json] = {
        **(suite.suite.facts(suite.settings) if suite.suite.facts else {}),
        "budget": request.budget,
        **request.settings.header(),
    }
    settings: Json = request.settings.header()
    plan = fingerprint(
        writing=writing_digest(),
        engines=[server.identity for server in servers],
        data=data.get("sha256"),
        limit=request.limit,
        models=models,
        seed=request.settings.seed,
    )
    return {
        "plan": plan,
        "shard": "1/1",
        "command": [*redacted_words(absolute_words(command_line()))],
        "engines": [server.header() for server in servers],
        "data": data,
        "limit": request.limit,
        "load": settings,
        "models": models,
        "machine": machine(),
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _closed_up(stream: Sequence[PlannedRequest]) -> list[PlannedRequest]:
    """Return the rest of a stream with its first request right after the warm-up.

    Later arrivals keep their distances.
    """
    warm_up = [each for each in stream if each.warm_up]
    measured = [each for each in stream if not each.warm_up]
    if not measured:
        return warm_up
    begins = warm_up[-1].arrival_ns if warm_up else 0
    first = measured[0]
    whole = first.number == len(warm_up)
    moved = 0 if whole else first.arrival_ns - begins
    return [
        *warm_up,
        *(replace(each, arrival_ns=each.arrival_ns - moved) for each in measured),
    ]


def _send(
    writer: ServerWriter, stream: Sequence[PlannedRequest], settings: LoadSettings
) -> Iterator[SentRequest]:
    """Send a stream; yield its requests in the order in which they were over.

    Raises:
        Unavailable: the server is gone; requests that failed for that are not yielded.
        SpendingLimit: a limit is reached, and every request sent has been yielded.
    """
    sender = OpenLoopSender(writer, settings.concurrency)
    failed: list[SentRequest] = []
    try:
        for sent in sender.send(stream):
            if sent.generation.result is Result.ERROR:
                failed.append(sent)
                if len(failed) % _IN_A_ROW == 0:
                    _failures(failed, writer.server)
                continue
            yield from failed
            failed = []
            yield sent
        yield from _failures(failed, writer.server)
    except SpendingLimit:
        yield from _failures(failed, writer.server)
        raise
    finally:
        sender.close()


def _failures(
    failed: Sequence[SentRequest], server: ModelServer
) -> Sequence[SentRequest]:
    """Return the requests that failed last, if not because the server is gone."""
    client = ServerClient(server.connection)
    try:
        if failed:
            client.description()
    except Unavailable as gone:
        raise Unavailable(
            "the server does not answer any more",
            server.connection.base,
            "start it again; the same command continues",
        ) from gone
    finally:
        client.close()
    return failed


def _mark(server: ModelServer, planned: PlannedRequest, settings: LoadSettings) -> str:
    request: GenerationRequest = planned.request
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
    )

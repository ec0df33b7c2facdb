"""Ask a served model with schemas, and keep which of them its service accepts.

Each request is the schema as it is, in the way that constrains most, and the fewest
tokens. The table has a line a record; a profile of `csbdata fit` may cite it.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from curation.system.errors import BadUsage
from curation.system.words import counted
from evaluation.core.cases import Result
from evaluation.core.records import Adapt, Message, Record
from evaluation.generation.text_generation import GenerationRequest
from evaluation.masks.run_folder import AppendedLines, read_lines
from evaluation.servers.client import RequestLimits, ServerClient
from evaluation.servers.model_server import served_model
from evaluation.servers.models import find_prices
from evaluation.servers.pacing import Account, Spending, SpendingLimit
from evaluation.servers.provider import is_served, split_provider
from evaluation.servers.served_model import ServedModel

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.servers.model_server import ModelServer

#: Tokens of an answer: OpenAI takes no fewer.
_BUDGET: Final = 16
_LIMITS: Final = RequestLimits(seconds=60.0, patience=0.5, tries=2)
#: Ways that send no schema as a constraint.
_LOOSE: Final = "json"
ACCEPTED, REJECTED, UNKNOWN = "accepted", "rejected", "unknown"


class Acceptance(msgspec.Struct, frozen=True, kw_only=True):
    """What a service did with one schema."""

    record: str
    #: `accepted`, `rejected`, or `unknown`: no answer, or refused for another reason.
    verdict: str
    #: The service's words.
    message: str
    model: str
    date: str


def list_servers(address: str, *ways: str) -> list[ModelServer]:
    """Return a served model in these ways and all of its provider's.

    Schemas are sent as they are.

    Raises:
        BadUsage: not a served model.
        CsbdataError: the server does not answer, or knows neither key nor model.
    """
    if not is_served(address):
        raise BadUsage("no served model", address, "type PROVIDER:NAME or URL#NAME")
    provider_ways = split_provider(address)[0].ways
    servers = served_model(address, [*ways, *provider_ways], _LIMITS)
    return [replace(server, adapt=Adapt.NONE) for server in servers]


def ask_records(
    address: str,
    records: Sequence[Record],
    max_cost: float | None,
    log: Callable[[str], None],
    max_requests: int | None = None,
) -> Iterator[Acceptance]:
    """Yield a service's acceptance of each schema, requested one by one.

    Args:
        address: `PROVIDER:NAME` or `URL#NAME`.
        records: The schemas.
        max_cost: Stop sending once the answers have cost this much.
        log: Reports the maximum cost before the first request.
        max_requests: Maximum number of requests.

    Raises:
        BadUsage: not a served model, or no price is known.
        CsbdataError: the server does not answer, or knows neither key nor model.
    """
    # The last way constrains most.
    server = [server for server in list_servers(address) if server.way != _LOOSE][-1]
    prices = find_prices(None, server.connection, max_cost)
    requests = [
        GenerationRequest(
            record=record,
            messages=(Message(role="user", content="{}"),),
            budget=_BUDGET,
        )
        for record in records
    ]
    cost = "what they cost is not known"
    if prices is not None:
        # A token has at least one character.
        characters = sum(len(record.schema or "") for record in records)
        at_most = prices.cost(characters, _BUDGET * len(records)) or 0.0
        cost = f"together at most {at_most:.4f} ({prices.source})"
    log(f"{server.label}: {counted(len(records), 'request')}, {cost}")
    account = Account(Spending(max_cost, max_requests), prices)
    today = str(datetime.datetime.now(datetime.UTC).date())
    client = ServerClient(server.connection, account=account)
    with closing(ServedModel(client, log)) as model:
        for request in requests:
            try:
                (generation,) = model.generate([request], server)
            except SpendingLimit as limit:
                log(f"{limit}: the same command continues")
                return
            message = generation.detail
            verdict = ACCEPTED
            if generation.result is Result.COMPILE_ERROR:
                verdict = REJECTED
            elif generation.result is Result.ERROR:
                verdict = UNKNOWN
                message = message or generation.ending.value
            yield Acceptance(
                record=request.record.key,
                verdict=verdict,
                message=message,
                model=server.label,
                date=today,
            )


def write_acceptance(
    file: Path,
    records: Sequence[Record],
    ask: Callable[[Sequence[Record]], Iterator[Acceptance]],
) -> list[Acceptance]:
    """Ask about the records that a table lacks; return the whole table.

    Args:
        file: The table, JSON lines; records in it are not sent again, except
            those without an answer.
        records: The schemas.
        ask: `ask_records`, for a list of records.
    """
    done = {line.record: line for line in read_lines(file, Acceptance)}
    remaining = [
        record
        for record in records
        if record.key not in done or done[record.key].verdict == UNKNOWN
    ]
    with closing(AppendedLines(file)) as lines:
        for line in ask(remaining) if remaining else ():
            lines.write(msgspec.json.encode(line))
            done[line.record] = line
    return [done[record.key] for record in records if record.key in done]

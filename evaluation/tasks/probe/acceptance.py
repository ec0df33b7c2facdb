"""Ask a service once with a schema, and return whether it accepts it.

The request is the schema as it is, in the way that constrains most, and the fewest
tokens. `csbdata fit --ask` shows the answer next to the profiles'.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.system.errors import BadUsage
from evaluation.core.cases import Result
from evaluation.core.records import Adapt, Message, Record
from evaluation.generation.text_generation import GenerationRequest
from evaluation.servers.client import RequestLimits, ServerClient
from evaluation.servers.model_server import served_model
from evaluation.servers.models import prices_of
from evaluation.servers.provider import is_served, split_provider
from evaluation.servers.served_model import ServedModel

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.servers.model_server import ModelServer

#: Tokens of an answer: OpenAI takes no fewer.
_BUDGET: Final = 16
_LIMITS: Final = RequestLimits(seconds=60.0, patience=0.5, tries=2)
#: Ways that send no schema as a constraint.
_LOOSE: Final = "json"


class Acceptance(NamedTuple):
    """What a service did with one schema."""

    #: None without an answer, or if refused for another reason.
    accepted: bool | None
    #: The service's words.
    message: str
    model: str


def servers_of(address: str, *ways: str) -> list[ModelServer]:
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


def ask_service(address: str, schema: Json, log: Callable[[str], None]) -> Acceptance:
    """Return a service's acceptance of a schema, from one request.

    Args:
        address: `PROVIDER:NAME` or `URL#NAME`.
        schema: The schema.
        log: Reports the maximum cost before the request.

    Raises:
        BadUsage: not a served model.
        CsbdataError: the server does not answer, or knows neither key nor model.
    """
    # The last way constrains most.
    server = [server for server in servers_of(address) if server.way != _LOOSE][-1]
    record = Record(id="schema", schema=json.dumps(schema))
    prices = prices_of(None, server.connection, None)
    cost = "what they cost is not known"
    if prices is not None:
        # A token has at least one character.
        at_most = prices.cost(len(record.constraint), _BUDGET) or 0.0
        cost = f"together at most {at_most:.4f} ({prices.source})"
    log(f"{server.label}: 1 request, {cost}")
    request = GenerationRequest(
        record=record,
        messages=(Message(role="user", content="{}"),),
        budget=_BUDGET,
    )
    with closing(ServedModel(ServerClient(server.connection), log)) as model:
        (generation,) = model.generate([request], server)
    accepted: bool | None = generation.result is not Result.COMPILE_ERROR
    message = generation.detail
    if generation.result is Result.ERROR:
        accepted = None
        message = message or generation.ending.value
    return Acceptance(accepted, message, server.label)

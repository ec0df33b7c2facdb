"""Files of prompts: the folder they may stand in, and lines of batches."""

from __future__ import annotations

from os.path import realpath
from typing import TYPE_CHECKING

import orjson

from curation.system.atomic_files import atomic_write_bytes
from curation.system.credentials import redacted
from curation.system.errors import BadUsage
from evaluation.asking.response_files import custom_id
from evaluation.generation.text_generation import GenerationRequest
from evaluation.results.reader import HEADER
from evaluation.servers.adaptation import FITS
from evaluation.servers.batches import batch_line
from evaluation.servers.client import ServerConnection
from evaluation.servers.model_server import ModelServer, server_participants
from evaluation.servers.provider import is_served, split_provider
from evaluation.tokenizers import tokens_at_most
from evaluation.walking.run_folder import RECORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from curation.system.progress import Progress
    from evaluation.asking.request import RunRequest, SuiteChoice
    from evaluation.core.records import Prompt, Record


def refuse_overwriting(out: Path, data: str | None) -> None:
    """Refuse a file of prompts that would replace its own data, or a run's records.

    Args:
        out: The file; `RECORDS` and `FITS` are written beside it.
        data: Where the records are read from.

    Raises:
        BadUsage: it is one of these files, one of them is the data, or a run is there.
    """
    beside = [realpath(out.parent / name) for name in (RECORDS, FITS)]
    place = realpath(out)
    is_own = data is not None and realpath(data) in {place, *beside}
    if is_own or place in beside or (out.parent / HEADER).exists():
        raise BadUsage(
            f"{RECORDS} and {FITS}, written beside it, would replace records",
            str(out),
            "name a file in another folder",
        )


def servers_of(layout: str, model: str, ways: Sequence[str]) -> Sequence[ModelServer]:
    """Return who answers the requests of a batch, once for each way to ask.

    Args:
        layout: `openai-batch` or `anthropic-batch`.
        model: Its name, with its provider or without.
        ways: Names of ways to ask.

    Raises:
        BadUsage: the provider has no such batches, or no such way.
    """
    vendor = layout.removesuffix("-batch")
    provider, address = split_provider(
        model if is_served(model) else f"{vendor}:{model}"
    )
    if provider.batches != vendor:
        then = f"say --model {vendor}:NAME"
        raise BadUsage(f"no provider of {layout}", redacted(model), then)
    named = address.rpartition("#")[2]
    connection = ServerConnection(base="", model=named, provider=provider)
    return server_participants(connection, ways)


def _budgets(request: RunRequest) -> Callable[[Prompt], int]:
    """Return what gives a prompt the budget that it has in a run of the request.

    Raises:
        BadUsage: a run would ask for several texts a record.
    """
    options = request.models[0]
    if options.samples > 1 or request.repairs:
        then = "leave out --set samples and repairs"
        raise BadUsage("prompts are one a record", then=then)
    return lambda prompt: options.budget or prompt.tokens(tokens_at_most)


def prompt_lines(
    choice: SuiteChoice, request: RunRequest, records: Sequence[Record]
) -> list[bytes]:
    """Return prompts as JSON lines of csbdata's own layout.

    Raises:
        BadUsage: the request asks for several texts a record.
    """
    budget_of, lines = _budgets(request), []
    for record in records:
        prompt = choice.prompt(record)
        line = {
            "record": record.key,
            "messages": [
                {"role": turn.role, "content": turn.content} for turn in prompt.messages
            ],
            "budget": budget_of(prompt),
            "schema": record.schema,
        }
        lines.append(orjson.dumps(line))
    return lines


def lines_of(
    request: RunRequest,
    records: Sequence[Record],
    servers: Sequence[ModelServer],
    folder: Path | None,
    progress: Progress,
) -> list[bytes]:
    """Return prompts as requests of a provider's batches, in every way to ask.

    A schema that the provider does not take is left out.

    Args:
        request: The suite, the temperature, and the budget.
        records: Its records.
        servers: Who answers.
        folder: Keeps the rewrites of schemas; None keeps none.
        progress: Shows how far rewriting is.

    Raises:
        BadUsage: the request names no suite, or asks for several texts a record.
    """
    choice, lines = request.suite, []
    if choice is None:
        raise BadUsage("no suite is named")
    budget_of = _budgets(request)
    if folder is not None:
        atomic_write_bytes(folder / FITS, b"")
    for server in servers:
        server.adapter.prepare(records, folder, server.label, progress)
        for record in filter(lambda it: it.is_asked(server.condition), records):
            fit = server.adapter.of(record)
            if fit.refusal:
                continue
            prompt = choice.prompt(record)
            generation = GenerationRequest(
                record=record,
                messages=prompt.messages,
                budget=budget_of(prompt),
                temperature=request.models[0].temperature,
            )
            name = custom_id(record.key, server.condition)
            body = server.request(generation, fit.text)
            lines.append(batch_line(server.connection.provider, name, body))
    return lines

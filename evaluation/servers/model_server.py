"""A server's model, as a participant of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from curation.core.json_types import Json
from curation.system.credentials import split_url
from curation.system.errors import BadConfiguration, BadUsage
from curation.workers.fingerprint import fingerprint
from evaluation.core.records import FREE, Adapt
from evaluation.servers.adaptation import SchemaAdapter
from evaluation.servers.client import (
    RequestLimits,
    ServerClient,
    ServerConnection,
)
from evaluation.servers.models import ModelFacts, model_table
from evaluation.servers.provider import PROMPT_ALONE, split_provider

if TYPE_CHECKING:
    from evaluation.generation.text_generation import GenerationRequest


#: Of this process: nothing of an earlier run is found in a server's cache.
_SALT: Final = token_hex(8)
#: Contexts are asked for in steps: each change has Ollama load the model again.
_SMALLEST_CONTEXT: Final = 8192


@dataclass(frozen=True, kw_only=True)
class ModelServer:
    """One model of one server, asked in one way, as it takes part in a run."""

    #: How it is asked for a schema: a key of its provider's `ways`, or `none`.
    way: str
    connection: ServerConnection
    #: The requested level of reasoning; empty for the server's own.
    effort: str = ""
    #: What is done with schemas that the provider does not take.
    adapt: Adapt = Adapt.SAFE
    #: How the server describes itself, by path (`ServerClient.description`).
    about: Mapping[str, Json] = field(default_factory=dict)

    @cached_property
    def adapter(self) -> SchemaAdapter:
        """The adapter of schemas to its provider."""
        return SchemaAdapter(self.connection.provider.profile, self.adapt, self.way)

    def request(
        self, request: GenerationRequest, schema: str | None
    ) -> dict[str, Json]:
        """Return the request for a text, as the provider's table has it.

        Args:
            request: The requested text.
            schema: The schema's text; None sends none.
        """
        provider = self.connection.provider
        apart = [turn for turn in request.messages if turn.role == "system"]
        apart = apart if provider.system else []
        turns: list[Json] = []
        for turn in request.messages:
            if turn not in apart:
                role = provider.roles.get(turn.role, turn.role)
                turns.append(
                    _filled(provider.turn, {"role": role, "text": turn.content})
                )
        values: dict[str, Json] = {
            "model": self.connection.model,
            "messages": turns,
            "system": "\n\n".join(turn.content for turn in apart),
            "budget": request.budget,
            "context": _context_size(request),
            "temperature": request.temperature if self.facts.sampling else None,
            "seed": request.seed % 2**31,
            "effort": self.effort,
            "salt": f"{_SALT} {self.way}",
        }
        templates = [provider.members]
        if apart:
            templates.append(provider.system)
        if self._is_cold:
            templates.append(provider.cold.members)
        if self.effort and self._has_effort:
            templates.append(provider.effort)
        if schema is not None and self.constrains:
            values["schema"] = json.loads(schema)
            templates.append(provider.ways[self.way])
        body: dict[str, Json] = {}
        for template in templates:
            for name, value in _filled(template, values).items():
                member = body.get(name)
                if isinstance(member, dict) and isinstance(value, dict):
                    body[name] = {**member, **value}
                else:
                    body[name] = value
        return body

    @cached_property
    def facts(self) -> ModelFacts:
        """What is known of the model beforehand."""
        provider = self.connection.provider
        names = (provider.name, provider.parent)
        return model_table().facts(names, self.connection.model)

    @property
    def _has_effort(self) -> bool:
        efforts = self.facts.efforts
        return not self.effort or efforts is None or self.effort in efforts

    @property
    def lacks(self) -> tuple[str, ...]:
        """What is not sent, since the model does not have it; one sentence each."""
        table = model_table()
        source = f"{self.connection.model} has none ({table.source}, {table.date})"
        lacking = []
        if not self._has_effort:
            lacking.append(f"no level {self.effort!r} of reasoning is sent: {source}")
        if not self.facts.sampling:
            lacking.append(f"no temperature is sent: {source}")
        return tuple(lacking)

    @cached_property
    def _is_cold(self) -> bool:
        return self.connection.provider.is_cold(self.about)

    @property
    def spec(self) -> str:
        """What `--engine` names it by: the way to ask, and after an `@` the effort."""
        return f"{self.way}@{self.effort}" if self.effort else self.way

    @property
    def condition(self) -> str:
        """The same, with `free` for a way that constrains nothing."""
        if self.constrains:
            return self.spec
        return FREE + self.spec.removeprefix(PROMPT_ALONE)

    @property
    def constrains(self) -> bool:
        """Whether anything constrains its texts."""
        return self.way != PROMPT_ALONE

    @property
    def label(self) -> str:
        """Its name in rows and tables: `vllm strict Qwen/Qwen3-0.6B`."""
        parts = self.connection.provider.name, self.spec, self.connection.model
        return " ".join(filter(None, parts))

    @property
    def unavailable(self) -> str:
        """Empty: a server that does not answer ends the run instead."""
        return ""

    @property
    def backend(self) -> str:
        """Which library constrains its texts, if the server reports it."""
        told = self.connection.provider.backend_told(self.about)
        return told or "not told by the server"

    @property
    def identity(self) -> str:
        """Fingerprint of server, model, way and limits, without the key."""
        return fingerprint(
            way=self.spec,
            provider=self.connection.provider.name,
            base=self.connection.base,
            model=self.connection.model,
            limits=asdict(self.connection.limits),
            backend=self.backend,
            adapt=self.adapter.facts,
        )

    def header(self) -> dict[str, Json]:
        """Return its entry in the run's header."""
        backend = {"backend": self.backend} if self.constrains else {}
        lacking: dict[str, Json] = {"lacks": [*self.lacks]} if self.lacks else {}
        members = self.connection.provider.cold.members if self._is_cold else ()
        return {
            "engine": self.label,
            "name": self.spec,
            "spec": self.spec,
            "version": "",
            "preset": "",
            "options": {**backend, **self.adapter.facts, **lacking},
            "interpreter": "",
            "provider": self.connection.provider.name,
            "server": self.connection.base,
            "model": self.connection.model,
            "about": dict(self.about),
            "prompt_cache": ", ".join(members) or "shared, asked in turns",
            "unavailable": None,
            "install": "",
        }


def _context_size(request: GenerationRequest) -> int:
    """Return the tokens that a context needs for the prompt and its answer."""
    size = sum(len(turn.content.encode()) for turn in request.messages)
    context = _SMALLEST_CONTEXT
    while context < size // 2 + request.budget:
        context *= 2
    return context


def _filled(template: Any, values: Mapping[str, Json]) -> Any:  # noqa: ANN401 (JSON)
    """Return a template with `{NAME}` replaced by a value, whatever that holds."""
    if isinstance(template, dict):
        members = {name: _filled(it, values) for name, it in template.items()}
        return {name: it for name, it in members.items() if it is not None}
    if isinstance(template, list):
        return [_filled(member, values) for member in template]
    if isinstance(template, str) and template.startswith("{"):
        return values[template.strip("{}")]
    return template


def server_participants(
    connection: ServerConnection, ways: Sequence[str]
) -> list[ModelServer]:
    """Return the participants of a run: one server, asked in each way.

    Args:
        connection: The server and its model.
        ways: Names of ways to ask, one at least, each with `@EFFORT` or without.

    Raises:
        BadUsage: the provider has no such way; the message names all.
    """
    provider = connection.provider
    servers = []
    for spec in dict.fromkeys(ways):
        way, _, effort = spec.partition("@")
        if effort and not provider.effort:
            raise BadUsage(
                f"{provider.name} has no levels of reasoning", hint=f"say {way}"
            )
        if effort and way in provider.unthinking.ways:
            others = [it for it in provider.ways if it not in provider.unthinking.ways]
            raise BadUsage(
                f"{provider.name} does not think where {way!r} is forced: {spec}",
                hint=f"say {way}, or {' or '.join(f'{it}@{effort}' for it in others)}",
            )
        server = ModelServer(way=way, connection=connection, effort=effort)
        if way == "tool" and not server.facts.forced_tool:
            table = model_table()
            raise BadUsage(
                f"{connection.model} cannot be forced to call a tool "
                f"({table.source}, {table.date})",
                hint="say strict",
            )
        servers.append(server)
        if way not in {PROMPT_ALONE, *provider.ways}:
            raise BadUsage(
                f"there is no way {way!r} to ask {provider.name or 'a server'}",
                hint=f"use --engine {', '.join((PROMPT_ALONE, *provider.ways))}",
            )
    return servers


def served_model(
    address: str, ways: Sequence[str], limits: RequestLimits
) -> Sequence[ModelServer]:
    """Return a server's model, once for each way to send a schema.

    Args:
        address: The server's address, and the model's name after a `#`; or a
            provider with its model.
        ways: Names of ways to ask, one at least.
        limits: What one text may cost.

    Raises:
        BadUsage: no such way, or no server in the address.
        BadConfiguration: the server has several models and none is named.
        Unavailable: the server does not answer (exit 69).
    """
    provider, address = split_provider(address)
    url = split_url(address)
    base, _, model = url.clean.partition("#")
    base = base.rstrip("/")
    if not urlsplit(base).hostname:
        hint = "say --model http://HOST:PORT/v1#MODEL"
        raise BadUsage("this address names no server", address, hint)
    connection = ServerConnection(
        base=base, model=model, provider=provider, address=url, limits=limits
    )
    server_participants(connection, ways)
    with closing(ServerClient(connection)) as client:
        served, answers = client.description()
    if not model and len(served) != 1:
        raise BadConfiguration(
            "this server has several models, or does not name them",
            hint=f"say {base}#NAME ({', '.join(served[:5]) or 'any'})",
        )
    connection = replace(connection, model=model or served[0])
    about: dict[str, Json] = {"models": [*served], **answers}
    servers = server_participants(connection, ways)
    return [replace(server, about=about) for server in servers]

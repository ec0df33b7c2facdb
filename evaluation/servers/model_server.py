"""A server's model, as a participant of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING
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
        any_schema = self.way in {PROMPT_ALONE, "json"}
        profile = "" if any_schema else self.connection.provider.profile
        sends, is_tool = self.way != PROMPT_ALONE, self.way == "tool"
        return SchemaAdapter(profile, self.adapt, tool=is_tool, sends=sends)

    def request(
        self, request: GenerationRequest, schema: str | None
    ) -> dict[str, Json]:
        """Return the request for a text; see `Provider.request`."""
        connection = self.connection
        effort = self.effort if self._has_effort else ""
        return connection.provider.request(
            connection.model,
            request,
            self.way,
            schema,
            effort,
            cold=self._is_cold,
            sampling=self.facts.sampling,
        )

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
                f"{provider.name} has no levels of reasoning", then=f"say {way}"
            )
        if effort and way in provider.unthinking.ways:
            others = [it for it in provider.ways if it not in provider.unthinking.ways]
            raise BadUsage(
                f"{provider.name} does not think where {way!r} is forced: {spec}",
                then=f"say {way}, or {' or '.join(f'{it}@{effort}' for it in others)}",
            )
        server = ModelServer(way=way, connection=connection, effort=effort)
        if way == "tool" and not server.facts.forced_tool:
            table = model_table()
            raise BadUsage(
                f"{connection.model} cannot be forced to call a tool "
                f"({table.source}, {table.date})",
                then="say strict",
            )
        servers.append(server)
        if way not in {PROMPT_ALONE, *provider.ways}:
            raise BadUsage(
                f"there is no way {way!r} to ask {provider.name or 'a server'}",
                then=f"use --engine {', '.join((PROMPT_ALONE, *provider.ways))}",
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
        then = "say --model http://HOST:PORT/v1#MODEL"
        raise BadUsage("this address names no server", address, then)
    connection = ServerConnection(
        base=base, model=model, provider=provider, address=url, limits=limits
    )
    server_participants(connection, ways)
    client = ServerClient(connection)
    try:
        served, answers = client.description()
    finally:
        client.close()
    if not model and len(served) != 1:
        raise BadConfiguration(
            "this server has several models, or does not name them",
            then=f"say {base}#NAME ({', '.join(served[:5]) or 'any'})",
        )
    connection = replace(connection, model=model or served[0])
    about: dict[str, Json] = {"models": [*served], **answers}
    servers = server_participants(connection, ways)
    return [replace(server, about=about) for server in servers]

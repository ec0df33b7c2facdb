"""A model behind a server, as it takes part in a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from curation.core.json_types import Json
from curation.system.credentials import SplitUrl, split_url
from curation.system.errors import BadConfiguration
from curation.workers.fingerprint import fingerprint
from evaluation.servers.adaptation import SchemaAdapter
from evaluation.servers.client import (
    RequestLimits,
    ServerClient,
    ServerConnection,
    split_address,
)
from evaluation.servers.dialect import Adapt, ServerDialect, server_dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """One model of one server, asked in one dialect, as it takes part in a run."""

    dialect: ServerDialect
    connection: ServerConnection
    #: The library that is to constrain its texts, as the user says; empty: whichever.
    wanted_backend: str = ""
    #: What is done with schemas that the provider does not take.
    adapt: Adapt = Adapt.SAFE
    #: How the server describes itself, by path (`ServerClient.description`).
    about: Mapping[str, Json] = field(default_factory=dict)

    def adapter(self) -> SchemaAdapter:
        """Return what adapts schemas to what it takes."""
        return SchemaAdapter(self.dialect.profile, self.adapt)

    @property
    def label(self) -> str:
        """Its name in rows and tables: `vllm Qwen/Qwen3-0.6B`."""
        return f"{self.dialect.name} {self.connection.model}".strip()

    @property
    def unavailable(self) -> str:
        """Empty: a server that does not answer ends the run instead."""
        return ""

    @property
    def backend(self) -> str:
        """Which library constrains its texts, and who says so."""
        backend = self.dialect.backend(self.about)
        if not backend and self.wanted_backend:
            return f"{self.wanted_backend} (the server does not tell)"
        return backend or "not told by the server"

    def check_backend(self) -> None:
        """Check that the server is not constrained by another library than is wanted.

        Raises:
            BadConfiguration: it tells that it is (exit 78).
        """
        backend = self.dialect.backend(self.about)
        if backend and self.wanted_backend and self.wanted_backend != backend:
            raise BadConfiguration(
                f"the server's texts are constrained by {backend}, "
                f"not by {self.wanted_backend}",
                self.connection.base,
                "start it with the other one, or leave --option backend out",
            )

    @property
    def identity(self) -> str:
        """Fingerprint of server, model, dialect and limits, without the key."""
        return fingerprint(
            dialect=self.dialect.name,
            base=self.connection.base,
            model=self.connection.model,
            limits=asdict(self.connection.limits),
            backend=self.backend,
            adapt=self.adapter().facts,
        )

    def header(self) -> dict[str, Json]:
        """Return its entry in the run's header."""
        backend = {"backend": self.backend} if self.dialect.constrains else {}
        return {
            "engine": self.label,
            "name": self.dialect.name,
            "spec": self.dialect.name,
            "version": "",
            "preset": "",
            "options": {**backend, **self.adapter().facts},
            "interpreter": "",
            "server": self.connection.base,
            "model": self.connection.model,
            "about": dict(self.about),
            "unavailable": None,
            "install": "",
        }


def server_participants(
    base: str,
    model: str,
    dialects: Sequence[str],
    limits: RequestLimits,
    address: SplitUrl = SplitUrl(clean=""),  # noqa: B008 - frozen
) -> list[ModelServer]:
    """Return the participants of a run: one server, asked in each dialect.

    Args:
        base: The server's address; it ends in `/v1` as a rule.
        model: The model's name at this server.
        dialects: Names of dialects (`server_dialects`), one at least.
        limits: What one text may cost.
        address: The user's address, whose secrets the server is sent.

    Raises:
        BadConfiguration: there is no such dialect.
    """
    named_dialects = [server_dialect(name) for name in dict.fromkeys(dialects)]
    return [
        ModelServer(
            dialect=dialect,
            connection=ServerConnection(
                base=base,
                model=model,
                keys=dialect.keys,
                limits=limits,
                address=address,
            ),
        )
        for dialect in named_dialects
    ]


def served_model(
    address: str, dialects: Sequence[str], limits: RequestLimits
) -> Sequence[ModelServer]:
    """Return a model behind a server, once for each dialect in which it is asked.

    Args:
        address: The server's address, and the model's name after a `#`.
        dialects: Names of dialects, one at least.
        limits: What one text may cost.

    Raises:
        BadConfiguration: there is no such dialect, or the server has several models
            and none is named.
        Unavailable: the server does not answer (exit 69).
    """
    base, model = split_address(address)
    secrets = split_url(address)
    servers = server_participants(base, model, dialects, limits, secrets)
    client = ServerClient(replace(servers[0].connection, limits=RequestLimits()))
    try:
        paths = [path for server in servers for path in server.dialect.described_at]
        served, answers = client.description(paths)
    finally:
        client.close()
    if not model and len(served) == 1:
        servers = server_participants(base, served[0], dialects, limits, secrets)
    elif not model:
        raise BadConfiguration(
            "this server has several models, or does not name them",
            then=f"say --model {base}#NAME ({', '.join(served[:5]) or 'any'})",
        )
    about: dict[str, Json] = {"models": [*served], **answers}
    return [replace(server, about=about) for server in servers]

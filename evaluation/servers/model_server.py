"""A model behind a server, as it takes part in a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from curation.system.errors import BadConfiguration
from curation.workers.fingerprint import fingerprint
from evaluation.servers.client import ServerConnection
from evaluation.servers.server_dialects import server_dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.servers.client import RequestLimits
    from evaluation.servers.server_dialect import ServerDialect


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """One model of one server, asked in one dialect, as it takes part in a run."""

    dialect: ServerDialect
    connection: ServerConnection
    #: The library that is to constrain its texts, as the user says; empty: whichever.
    wanted_backend: str = ""
    #: How the server describes itself, by path (`ServerClient.description`).
    about: Mapping[str, Json] = field(default_factory=dict)

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
        told = self.dialect.backend(self.about)
        if not told and self.wanted_backend:
            return f"{self.wanted_backend} (the server does not tell)"
        return told or "not told by the server"

    def check_backend(self) -> None:
        """Check that the server is not constrained by another library than is wanted.

        Raises:
            BadConfiguration: it tells that it is (exit 78).
        """
        told = self.dialect.backend(self.about)
        if told and self.wanted_backend and self.wanted_backend != told:
            raise BadConfiguration(
                f"the server's texts are constrained by {told}, "
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
        )

    def header(self) -> dict[str, Json]:
        """Return its entry in the run's header."""
        return {
            "engine": self.label,
            "name": self.dialect.name,
            "spec": self.dialect.name,
            "version": "",
            "preset": "",
            "options": {"backend": self.backend} if self.dialect.constrains else {},
            "interpreter": "",
            "server": self.connection.base,
            "model": self.connection.model,
            "about": dict(self.about),
            "unavailable": None,
            "install": "",
        }


def server_participants(
    base: str, model: str, dialects: Sequence[str], limits: RequestLimits
) -> list[ModelServer]:
    """Return the participants of a run: one server, asked in each dialect.

    Args:
        base: The server's address; it ends in `/v1` as a rule.
        model: The model's name at this server.
        dialects: Names of dialects (`server_dialects`), one at least.
        limits: What one text may cost.

    Raises:
        BadConfiguration: there is no such dialect.
    """
    found = [server_dialect(name) for name in dict.fromkeys(dialects)]
    return [
        ModelServer(
            dialect=dialect,
            connection=ServerConnection(
                base=base,
                model=model,
                keys=dialect.keys,
                limits=limits,
            ),
        )
        for dialect in found
    ]

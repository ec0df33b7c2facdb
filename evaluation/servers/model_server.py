"""A model behind a server, as it takes part in a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from curation.workers.fingerprint import fingerprint
from evaluation.servers.client import RequestLimits, ServerConnection
from evaluation.servers.server_dialects import server_dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from curation.core.json_types import Json
    from evaluation.servers.server_dialects import ServerDialect


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServer:
    """One model of one server, asked in one dialect, as it takes part in a run."""

    dialect: ServerDialect
    connection: ServerConnection
    #: How the server describes itself (`ServerClient.description`).
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
    def identity(self) -> str:
        """Fingerprint of server, model, dialect and limits, without the key."""
        return fingerprint(
            dialect=self.dialect.name,
            base=self.connection.base,
            model=self.connection.model,
            limits=asdict(self.connection.limits),
        )

    def header(self) -> dict[str, Json]:
        """Return its entry in the run's header."""
        return {
            "engine": self.label,
            "name": self.dialect.name,
            "spec": self.dialect.name,
            "version": "",
            "preset": "",
            "options": {},
            "interpreter": "",
            "server": self.connection.base,
            "model": self.connection.model,
            "about": dict(self.about),
            "unavailable": None,
            "install": "",
        }


def server_participants(
    base: str, model: str, dialects: Sequence[str], seconds: float
) -> list[ModelServer]:
    """Return the participants of a run: one server, asked in each dialect.

    Args:
        base: The server's address; it ends in `/v1` as a rule.
        model: The model's name at this server.
        dialects: Names of dialects (`SERVER_DIALECTS`), one at least.
        seconds: Deadline of one text.

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
                limits=RequestLimits(seconds=seconds),
            ),
        )
        for dialect in found
    ]

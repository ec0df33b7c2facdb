"""Who takes part in a run: an engine here, or a model behind a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from curation.core.json_types import Json


class Participant(Protocol):
    """One that takes part, as the header of a run needs it.

    `EngineUnderTest` is one, and so is `ModelServer`.
    """

    @property
    def label(self) -> str:
        """What rows and tables call it."""

    @property
    def identity(self) -> str:
        """Fingerprint of everything about it that decides its answers."""

    def header(self) -> dict[str, Json]:
        """Return its entry in the run's header; see `ParticipantHeader`."""

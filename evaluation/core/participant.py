"""Who takes part in a run: an engine here, or a model behind a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


class Participant(Protocol):
    """What the header of a run says of one that takes part."""

    @property
    def label(self) -> str:
        """What rows and tables call it."""

    @property
    def identity(self) -> str:
        """Fingerprint of everything about it that decides its answers."""

    def header(self) -> dict[str, UntypedJson]:
        """Return what the run's header says of it."""

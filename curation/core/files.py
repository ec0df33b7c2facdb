"""Files of an archive, however they are stored."""

from __future__ import annotations

from typing import Protocol


class Files(Protocol):
    """The selected files of one archive (`curation.download.packs.Pack`)."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths inside the archive, sorted by code point."""

    def read(self, path: str) -> bytes:
        """Return one file's bytes; KeyError where the archive lacks it."""

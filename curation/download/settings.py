"""How archives are fetched, and where they are kept."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import platformdirs

_GITHUB: Final = "https://codeload.github.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSettings:
    """Where archives are, and whether the network may be used."""

    #: The folder that we may fill, and anyone may delete.
    cache: Path
    #: A folder of archives, tried before the network.
    mirror: Path | None = None
    #: Only the mirror and the cache.
    offline: bool = False
    #: The lock of schemas that are hosted outside their archive; one in the cache by
    #: default (`curation.sources.schemastore`).
    live_lock: Path | None = None
    #: The server of repositories' tarballs.
    github: str = _GITHUB
    #: Publishers that did not answer, and are not asked again.
    silent: set[str] = field(default_factory=set, repr=False, compare=False)

    @classmethod
    def from_environment(
        cls, *, mirror: Path | None = None, offline: bool = False
    ) -> FetchSettings:
        """Return the settings of the environment; for commands alone.

        `CSBDATA_CACHE` names the cache, by default the user's own; `CSBDATA_LIVE_LOCK`
        the lock of what is hosted outside an archive; `CSBDATA_GITHUB_BASE` a server
        in the place of GitHub's.

        Args:
            mirror: A folder of archives; by default `CSBDATA_MIRROR`.
            offline: Only the mirror and the cache.
        """
        cache = os.environ.get("CSBDATA_CACHE")
        named = os.environ.get("CSBDATA_MIRROR")
        lock = os.environ.get("CSBDATA_LIVE_LOCK")
        return cls(
            cache=Path(
                cache or platformdirs.user_cache_dir("csbdata", appauthor=False)
            ),
            mirror=mirror or (Path(named) if named else None),
            offline=offline,
            live_lock=Path(lock) if lock else None,
            github=os.environ.get("CSBDATA_GITHUB_BASE", _GITHUB).rstrip("/"),
        )

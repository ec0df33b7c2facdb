"""Where archives are fetched from, and the local cache.

packs/<digest>.pack     unpacked archives
tokenizers/, models/    folders made once
locks/                  one lock an archive or a folder
.downloads/             bytes on their way
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

import platformdirs

from curation.system.atomic_files import atomic_folder, locked, sweep
from curation.system.errors import NoInput, TemporarilyUnavailable

_T = TypeVar("_T")
#: How long to wait for another process that fetches the same archive, seconds.
_PATIENCE = 1800.0


class FolderName(NamedTuple):
    """The name of a folder made once: `<kind>s/<label>-<fingerprint>`."""

    #: What it holds, as `tokenizer`.
    kind: str
    #: A name for people who look into the cache.
    label: str
    #: A digest of everything that decides the content.
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder that csbdata may fill, and that anyone may delete."""

    folder: Path

    @property
    def packs(self) -> Path:
        """Where packs are."""
        return self.folder / "packs"

    @property
    def downloads(self) -> Path:
        """Where bytes are that have not been verified yet."""
        return self.folder / ".downloads"

    def clear_downloads(self, name: str) -> None:
        """Remove the downloaded files of an archive; the caller has its lock."""
        shutil.rmtree(self.downloads / name, ignore_errors=True)

    @contextmanager
    def lock(self, name: str, log: Callable[[str], None]) -> Iterator[None]:
        """Be the only process that fetches this archive.

        Waits for another one. Removes remains of a killed one.

        Raises:
            TemporarilyUnavailable: another process has it for half an hour.
            CannotCreate: the cache cannot be written.
        """
        message = "another csbdata has been fetching it for half an hour"
        with locked(
            self.folder / "locks" / f"{name}.lock",
            TemporarilyUnavailable(message, name, "try again later"),
            wait_seconds=_PATIENCE,
            before_waiting=lambda: log(
                f"{name}: waiting for another csbdata that fetches it"
            ),
        ):
            self.clear_downloads(name)
            sweep(self.packs, name)
            yield

    def folder_made_once(
        self,
        name: FolderName,
        *,
        read: Callable[[Path], _T | None],
        make: Callable[[Path], None],
        log: Callable[[str], None],
    ) -> _T:
        """Return the content of a folder of the cache, made first if needed.

        The folder appears whole or not at all, and is made again if it
        was damaged.

        Args:
            name: Which folder.
            read: Returns the folder's content, None if it is missing or damaged.
            make: Fills an empty folder.
            log: Prints when it waits for another process.

        Raises:
            NoInput: the new content cannot be read.
            TemporarilyUnavailable: another process has been making it for half an
                hour.
            CannotCreate: the cache cannot be written.
        """
        folder = self.folder / f"{name.kind}s" / f"{name.label}-{name.fingerprint}"
        value = read(folder)
        if value is not None:
            return value
        with self.lock(f"{name.kind}-{name.fingerprint}", log):
            value = read(folder)
            if value is None:
                # A damaged folder would be taken for another's, and not be replaced.
                shutil.rmtree(folder, ignore_errors=True)
                with atomic_folder(folder) as empty:
                    make(empty)
                value = read(folder)
        if value is None:
            raise NoInput(f"the {name.kind} just made cannot be read", str(folder))
        return value


_GITHUB = "https://codeload.github.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSettings:
    """Where archives are, and whether the network may be used."""

    #: The folder that we may fill, and anyone may delete.
    cache: Path
    #: A folder of archives, tried before the network.
    mirror: Path | None = None
    #: Only the mirror and the cache.
    offline: bool = False
    #: The server of repositories' tarballs.
    github: str = _GITHUB
    #: Publishers that did not answer, and are not asked again.
    silent: set[str] = field(default_factory=set, repr=False, compare=False)

    @classmethod
    def from_environment(
        cls, *, mirror: Path | None = None, offline: bool = False
    ) -> FetchSettings:
        """Return the settings of the environment; for commands alone.

        `CSBDATA_CACHE` names the cache, by default the user's own;
        `CSBDATA_GITHUB_BASE` a server in the place of GitHub's.

        Args:
            mirror: A folder of archives; by default `CSBDATA_MIRROR`.
            offline: Only the mirror and the cache.
        """
        cache = os.environ.get("CSBDATA_CACHE")
        named = os.environ.get("CSBDATA_MIRROR")
        return cls(
            cache=Path(
                cache or platformdirs.user_cache_dir("csbdata", appauthor=False)
            ),
            mirror=mirror or (Path(named) if named else None),
            offline=offline,
            github=os.environ.get("CSBDATA_GITHUB_BASE", _GITHUB).rstrip("/"),
        )

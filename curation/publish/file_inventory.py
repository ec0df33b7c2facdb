"""The files of a dataset folder and of a repository, and how they differ."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from huggingface_hub.utils.sha import git_hash

from curation.system.checksums import names_in
from curation.system.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFile:
    """One file of the folder, as it was when it was looked at."""

    bytes: int
    sha256: str
    #: The name that git gives to the content.
    git_oid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """One file of a repository, as its server describes it."""

    bytes: int
    #: Known of large files, which the Hub keeps outside git; else `git_oid` is.
    sha256: str | None = None
    git_oid: str | None = None

    def holds(self, local: LocalFile) -> bool:
        """Return whether it has the content of a local file."""
        if self.bytes != local.bytes:
            return False
        if self.sha256 is not None:
            return self.sha256 == local.sha256
        return self.git_oid == local.git_oid


def inventory(folder: Path) -> dict[str, LocalFile]:
    """Return every file of a folder, sorted by name.

    Raises:
        BadData: a name leads out of the folder, through a link.
        OSError: a file cannot be read.
    """
    root = folder.resolve()
    found = {}
    for name in sorted(names_in(folder)):
        path = folder / name
        if not path.resolve().is_relative_to(root):
            raise BadData("a link that leads out of the folder", str(path))
        found[name] = describe_content(path.read_bytes())
    return found


def describe_content(content: bytes) -> LocalFile:
    """Return size, sha256 and git's name of a content."""
    return LocalFile(
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        git_oid=git_hash(content),
    )


def files_to_send(
    local: Mapping[str, LocalFile], remote: Mapping[str, RemoteFile]
) -> tuple[str, ...]:
    """Return the local files that a repository lacks, or has with another content."""
    return tuple(
        name
        for name, file in local.items()
        if name not in remote or not remote[name].holds(file)
    )

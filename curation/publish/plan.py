"""Plan a push: compare a folder with a repository, file by file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from huggingface_hub.utils.sha import git_hash

from curation.core.json_types import Json
from curation.packaging.manifest import UNLISTED
from curation.system.checksums import names_in
from curation.system.errors import BadData


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFile:
    """One file of the folder, as it was when it was read."""

    bytes: int
    sha256: str
    #: The name that git gives to the content.
    git_oid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """One file of a repository, as its server describes it."""

    #: Known of large files, which the Hub keeps outside git; else `git_oid` is.
    sha256: str | None = None
    git_oid: str | None = None

    def holds(self, local: LocalFile) -> bool:
        """Return whether it has the content of a local file."""
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
    files = {}
    for name in sorted(names_in(folder)):
        path = folder / name
        if not path.resolve().is_relative_to(root):
            raise BadData("a link that leads out of the folder", str(path))
        files[name] = describe_content(path.read_bytes())
    return files


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PushPlan:
    """The difference between a folder and a repository, file by file."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    #: Files of the manifest that is there which the folder has no more.
    deleted: tuple[str, ...]
    #: Files there that no manifest of ours knows: never touched.
    left_alone: tuple[str, ...]
    #: Size of what is added and changed.
    bytes: int

    @property
    def nothing(self) -> bool:
        """Return whether the repository holds all of it already."""
        return not (self.added or self.changed or self.deleted)

    @property
    def written(self) -> tuple[str, ...]:
        """The files to send, sorted."""
        return tuple(sorted((*self.added, *self.changed)))

    def as_json(self) -> dict[str, Json]:
        """Return the plan as a command prints it."""
        members: dict[str, Json] = msgspec.to_builtins(self)
        return members


def plan_for(
    local: Mapping[str, LocalFile], remote: Mapping[str, RemoteFile], own: Iterable[str]
) -> PushPlan:
    """Compare a folder with a repository.

    Args:
        local: The folder's files.
        remote: The repository's files.
        own: Files in the repository's own manifest: only these are deleted.
    """
    send = set(files_to_send(local, remote))
    gone = {name for name in own if name in remote and name not in local}
    return PushPlan(
        added=tuple(sorted(send - remote.keys())),
        changed=tuple(sorted(send & remote.keys())),
        unchanged=tuple(sorted(local.keys() - send)),
        deleted=tuple(sorted(gone)),
        left_alone=tuple(sorted(remote.keys() - local.keys() - gone)),
        bytes=sum(local[name].bytes for name in send),
    )


class _ListedFiles(msgspec.Struct):
    """The part of any manifest that lists files."""

    files: dict[str, msgspec.Raw]


def files_listed(manifest: bytes) -> frozenset[str]:
    """Return the files that a manifest lists, itself included.

    A manifest that is not ours lists nothing.
    """
    try:
        files = msgspec.json.decode(manifest, type=_ListedFiles).files
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset({*UNLISTED, *files})

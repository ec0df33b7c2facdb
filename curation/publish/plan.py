"""Plan a push: compare a folder with a repository, file by file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from huggingface_hub.utils.sha import git_hash

from curation.core.benchmark import CONFIGS, SPLITS, UNDIVIDED, UNNAMED
from curation.core.json_types import Json
from curation.packaging.manifest import UNLISTED
from curation.system.checksums import names_in
from curation.system.errors import BadData

#: The file that the Hub itself keeps in a repository.
HUB_FILE = ".gitattributes"
_PART = r"\d{5}-of-\d{5}\.parquet"
_UNNAMED_TABLES = (*CONFIGS, UNDIVIDED, "Handwritten", "Synthesized", *SPLITS)
#: The card and the tables of the edition published with the paper.
_PUBLISHED = re.compile(
    rf"README\.md|{UNNAMED}/(?:{'|'.join(_UNNAMED_TABLES)})"
    rf"(?:-(?:{'|'.join(SPLITS)}))?-{_PART}"
    rf"|(?:{'|'.join(CONFIGS)})/(?:{'|'.join(SPLITS)})-{_PART}"
)


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
    """The difference between a folder and a repository, file by file.

    Carried out, it leaves the folder's files and the Hub's own, and nothing else.
    """

    added: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    #: Files of the edition there which the folder does not have.
    deleted: tuple[str, ...]
    #: Files there that belong to no edition: removed only if the user says so.
    foreign: tuple[str, ...]
    #: Size of what is added and changed.
    bytes: int

    @property
    def nothing(self) -> bool:
        """Return whether the repository holds all of it already."""
        return not (self.written or self.removed)

    @property
    def written(self) -> tuple[str, ...]:
        """The files to send, sorted."""
        return tuple(sorted((*self.added, *self.changed)))

    @property
    def removed(self) -> tuple[str, ...]:
        """The files to remove, sorted."""
        return tuple(sorted((*self.deleted, *self.foreign)))

    @property
    def replaces(self) -> bool:
        """Return whether a file that is there goes or gets another content."""
        return bool(self.changed or self.removed)

    def as_json(self) -> dict[str, Json]:
        """Return the plan as a command prints it."""
        members: dict[str, Json] = msgspec.to_builtins(self)
        return members


def plan_for(
    local: Mapping[str, LocalFile],
    remote: Mapping[str, RemoteFile],
    edition: Iterable[str],
) -> PushPlan:
    """Compare a folder with a repository.

    Args:
        local: The folder's files.
        remote: The repository's files.
        edition: The files of the edition that is there.
    """
    send = set(files_to_send(local, remote))
    others = remote.keys() - local.keys() - {HUB_FILE}
    gone = others.intersection(edition)
    return PushPlan(
        added=tuple(sorted(send - remote.keys())),
        changed=tuple(sorted(send & remote.keys())),
        unchanged=tuple(sorted(local.keys() - send)),
        deleted=tuple(sorted(gone)),
        foreign=tuple(sorted(others - gone)),
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


def published_files(names: Iterable[str]) -> frozenset[str]:
    """Return those names that the edition published with the paper has on the Hub."""
    return frozenset(filter(_PUBLISHED.fullmatch, names))

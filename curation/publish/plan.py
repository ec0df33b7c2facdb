"""What a push would do, as a value: nothing here asks or changes anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from curation.packaging.manifest import UNLISTED
from curation.publish.file_inventory import files_to_send

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from curation.core.json_types import Json
    from curation.publish.file_inventory import LocalFile, RemoteFile


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
        return {
            "added": list(self.added),
            "changed": list(self.changed),
            "unchanged": list(self.unchanged),
            "deleted": list(self.deleted),
            "left_alone": list(self.left_alone),
            "bytes": self.bytes,
        }


def plan_for(
    local: Mapping[str, LocalFile],
    remote: Mapping[str, RemoteFile],
    ours: Iterable[str],
) -> PushPlan:
    """Compare a folder with a repository.

    `ours` are the files that the repository's own manifest lists: only these are
    deleted where the folder lacks them.
    """
    send = set(files_to_send(local, remote))
    gone = {name for name in ours if name in remote and name not in local}
    return PushPlan(
        added=tuple(sorted(send - remote.keys())),
        changed=tuple(sorted(send & remote.keys())),
        unchanged=tuple(sorted(local.keys() - send)),
        deleted=tuple(sorted(gone)),
        left_alone=tuple(sorted(remote.keys() - local.keys() - gone)),
        bytes=sum(local[name].bytes for name in send),
    )


class _ListedFiles(msgspec.Struct):
    """What is read of a manifest that may be of any version, or of others."""

    files: dict[str, msgspec.Raw]


def files_listed(manifest: bytes) -> frozenset[str]:
    """Return the files that a manifest answers for, its own among them.

    A manifest comes from where the repository is: one that is not ours lists nothing.
    """
    try:
        files = msgspec.json.decode(manifest, type=_ListedFiles).files
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset({*UNLISTED, *files})

"""The run folder: one run at a time, and finished work that is never taken on trust.

A run has a fingerprint of everything that decides its result. A completion is
found again only under the fingerprint it was stored with, and only if its bytes
still have the digest they were stored with; a file's presence proves nothing.
"""

from __future__ import annotations

import hashlib
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

import orjson

from curation.system import locks
from curation.system.atomic_files import UNFINISHED, atomic_file, cannot_write
from curation.system.errors import TemporarilyUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def run_folder_of(out: Path) -> Path:
    """Return where the runs that write a folder keep what differs from run to run."""
    return out.with_name(out.name + ".run")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run folder, which is made if need be, for the length of a block.

    Raises:
        TemporarilyUnavailable: another run holds it (exit 75).
        CannotCreate: it cannot be written (exit 73).
    """
    busy = TemporarilyUnavailable(
        "another run is at work here",
        str(folder),
        "wait for its end or choose another folder",
    )
    with locks.locked(folder / "lock", busy, guarded=folder):
        yield


class RunFolder:
    """An open run folder; made by `RunFolder.open`."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        """Look at a folder whose lock the caller holds."""
        self.folder = folder
        self.fingerprint = fingerprint
        self._completions = folder / "completions" / fingerprint[:32]

    @classmethod
    @contextmanager
    def open(cls, folder: Path, fingerprint: str) -> Iterator[RunFolder]:
        """Lock the folder, drop what earlier runs left that is of no use now.

        Raises:
            TemporarilyUnavailable: another run holds the folder (exit 75).
            CannotCreate: the folder cannot be written (exit 73).
        """
        with locked(folder):
            run = cls(folder, fingerprint)
            run._sweep()
            yield run

    def done(self, name: str) -> bytes | None:
        """Return the completion of that name, None if it has to be made (again)."""
        try:
            content = (self._completions / name).read_bytes()
        except OSError:
            return None
        head, _, payload = content.partition(b"\n")
        return payload if head == self._head(name, payload) else None

    def store(self, name: str, payload: bytes) -> None:
        """Store a completion: whole, or not at all.

        Raises:
            CannotCreate: the folder cannot be written (exit 73).
        """
        with atomic_file(self._completions / name) as temporary:
            temporary.write_bytes(self._head(name, payload) + b"\n" + payload)

    def _head(self, name: str, payload: bytes) -> bytes:
        sha256 = hashlib.sha256(payload).hexdigest()
        return orjson.dumps([self.fingerprint, name, sha256])

    def _sweep(self) -> None:
        """Remove other fingerprints' completions and the torsos of killed runs."""
        try:
            for each in self._completions.parent.glob("*"):
                if each.name != self._completions.name:
                    shutil.rmtree(each, ignore_errors=True)
            for torso in self.folder.rglob(f".*{UNFINISHED}"):
                torso.unlink(missing_ok=True)
        except OSError as error:
            raise cannot_write(self.folder, error) from error

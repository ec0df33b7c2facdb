"""Finished pieces of a run, found again only as they were stored.

There are two shapes of finished work, each with one implementation: pieces of bytes
under one fingerprint, which are here, and whole folders that are made once and kept
in the cache (`curation.download.cache.Cache.folder_made_once`). Three things are
something else and say so where they are: a run's rows, which are only appended
(`evaluation.walking.run_folder`), instances of any schema, which have a key and
an age each (`evaluation.data.instance_store`), and verdicts that hold for every build
(`curation.validation.fastjsonschema_check`).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from curation.system.atomic_files import atomic_file, cannot_write

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class FinishedWork:
    """Named pieces of finished work, one file each.

    A piece is found again only under the fingerprint and the name that it was stored
    with, and only if its bytes still have the digest that they were stored with; a
    file's presence proves nothing.

    Example:
        >>> work = FinishedWork(folder / "completions", fingerprint)
        >>> work.store("batch-00000", b"[]")
        >>> work.find("batch-00000")
        b'[]'
    """

    #: The folder of all fingerprints.
    folder: Path
    #: A digest of everything that decides what the pieces are.
    fingerprint: str

    def find(self, name: str) -> bytes | None:
        """Return the piece of that name, None if it has to be made (again)."""
        try:
            content = (self._own / name).read_bytes()
        except OSError:
            return None
        head, _, payload = content.partition(b"\n")
        return payload if head == self._head(name, payload) else None

    def store(self, name: str, payload: bytes) -> None:
        """Store a piece: whole, or not at all.

        Raises:
            CannotCreate: the folder cannot be written (exit 73).
        """
        with atomic_file(self._own / name) as temporary:
            temporary.write_bytes(self._head(name, payload) + b"\n" + payload)

    def remove_old(self, *, keep: int) -> None:
        """Count this fingerprint as used now, and remove those used longest ago.

        Args:
            keep: Number of other fingerprints whose pieces stay, the last used first.

        Raises:
            CannotCreate: the folder cannot be written (exit 73).
        """
        try:
            self._own.mkdir(parents=True, exist_ok=True)
            # The system's own stamp may be the same for several runs in a row.
            os.utime(self._own, ns=(time.time_ns(), time.time_ns()))
            others = [path for path in self.folder.iterdir() if path != self._own]
            others.sort(key=lambda path: path.stat().st_mtime_ns, reverse=True)
            for old in others[keep:]:
                shutil.rmtree(old, ignore_errors=True)
        except OSError as error:
            raise cannot_write(self.folder, error) from error

    @property
    def _own(self) -> Path:
        return self.folder / self.fingerprint[:32]

    def _head(self, name: str, payload: bytes) -> bytes:
        sha256 = hashlib.sha256(payload).hexdigest()
        return msgspec.json.encode([self.fingerprint, name, sha256])

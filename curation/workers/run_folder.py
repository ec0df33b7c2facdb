"""The run folder: its lock, and finished work, verified before its use."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from curation.system import atomic_files
from curation.system.atomic_files import sweep_tree, unfinished, writing
from curation.system.errors import TemporarilyUnavailable

#: Number of other fingerprints whose finished work is kept.
_KEPT = 2
#: The folder in a run folder that holds the finished work.
_COMPLETIONS = "completions"


def find_run_folder(out: Path) -> Path:
    """Return where the runs that write a folder keep what differs from run to run."""
    return out.with_name(out.name + ".run")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run folder, which is made if needed, for the length of a block.

    Raises:
        TemporarilyUnavailable: another run holds it.
        CannotCreate: it cannot be written.
    """
    busy = TemporarilyUnavailable(
        "another run is at work here",
        str(folder),
        "wait for its end or choose another folder",
    )
    with atomic_files.locked(folder / "lock", busy):
        yield


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Named pieces of finished work, one file each; opened by `RunFolder.open`.

    A piece is found only under its fingerprint and name, and if its bytes still have
    the digest that they were stored with.

    Example:
        >>> with RunFolder.open(Path("out.run"), fingerprint(value=1)) as run:
        ...     if run.done("one") is None:
        ...         run.store("one", b"result")
    """

    #: The folder of the run.
    folder: Path
    #: A digest of everything that decides the pieces.
    fingerprint: str

    @classmethod
    @contextmanager
    def open(cls, folder: Path, fingerprint: str) -> Iterator[RunFolder]:
        """Lock the folder, and remove leftovers of earlier runs.

        Finished work of the last few fingerprints stays.

        Raises:
            TemporarilyUnavailable: another run holds the folder.
            CannotCreate: the folder cannot be written.
        """
        with locked(folder):
            run = cls(folder, fingerprint)
            with writing(folder):
                pieces = run._pieces
                pieces.mkdir(parents=True, exist_ok=True)
                # The system's own stamp may be the same for several runs in a row.
                os.utime(pieces, ns=(time.time_ns(), time.time_ns()))
                older = [path for path in pieces.parent.iterdir() if path != pieces]
                older.sort(key=lambda path: path.stat().st_mtime_ns, reverse=True)
                for old in older[_KEPT:]:
                    shutil.rmtree(old, ignore_errors=True)
            sweep_tree(folder)
            yield run

    def done(self, name: str) -> bytes | None:
        """Return the piece of that name, None if it has to be made (again)."""
        try:
            content = self.path(name).read_bytes()
        except OSError:
            return None
        head, _, payload = content.partition(b"\n")
        return payload if head == self._head(name, payload) else None

    def store(self, name: str, payload: bytes) -> None:
        """Store a piece: whole, or not at all.

        It is not waited for until the disk has it: its remains after a power failure
        has another digest.

        Raises:
            CannotCreate: the folder cannot be written.
        """
        with unfinished(self._pieces, name) as temporary:
            temporary.write_bytes(self._head(name, payload) + b"\n" + payload)
            temporary.replace(self.path(name))

    def path(self, name: str) -> Path:
        """Return the file of a piece, which ends with its bytes."""
        return self._pieces / name

    @property
    def _pieces(self) -> Path:
        return self.folder / _COMPLETIONS / self.fingerprint[:32]

    def _head(self, name: str, payload: bytes) -> bytes:
        sha256 = hashlib.sha256(payload).hexdigest()
        return msgspec.json.encode([self.fingerprint, name, sha256])

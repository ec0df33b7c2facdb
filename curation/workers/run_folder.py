"""The run folder: one run at a time, and finished work that is never taken on trust.

A run has a fingerprint of everything that decides its result; its completions are
pieces of `curation.workers.finished_work`.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from curation.system import locks
from curation.system.atomic_files import sweep_tree
from curation.system.errors import TemporarilyUnavailable
from curation.workers.finished_work import FinishedWork

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Fingerprints beside a run's own whose finished work is kept.
_KEPT: Final = 2
#: The folder in a run folder that holds the finished work.
COMPLETIONS: Final = "completions"


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
    """An open run folder; made by `RunFolder.open`.

    Example:
        >>> with RunFolder.open(Path("out.run"), fingerprint(value=1)) as run:
        ...     if run.done("one") is None:
        ...         run.store("one", b"result")
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        """Prepare a folder whose lock the caller holds."""
        self.folder = folder
        self.fingerprint = fingerprint
        self._finished = FinishedWork(folder / COMPLETIONS, fingerprint)

    @classmethod
    @contextmanager
    def open(cls, folder: Path, fingerprint: str) -> Iterator[RunFolder]:
        """Lock the folder, and remove what earlier runs left that is of no use now.

        The work of the fingerprints that were used last stays: whoever goes back to
        them finds it done.

        Raises:
            TemporarilyUnavailable: another run holds the folder (exit 75).
            CannotCreate: the folder cannot be written (exit 73).
        """
        with locked(folder):
            run = cls(folder, fingerprint)
            run._finished.remove_old(keep=_KEPT)
            sweep_tree(folder)
            yield run

    def done(self, name: str) -> bytes | None:
        """Return the completion of that name, None if it has to be made (again)."""
        return self._finished.find(name)

    def store(self, name: str, payload: bytes) -> None:
        """Store a completion: whole, or not at all.

        Raises:
            CannotCreate: the folder cannot be written (exit 73).
        """
        self._finished.store(name, payload)

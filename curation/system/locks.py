"""One lock for every folder of ours, which the system releases with the process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from curation.system.atomic_files import cannot_write
from curation.system.errors import TemporarilyUnavailable


@contextmanager
def locked(
    file: Path,
    busy: TemporarilyUnavailable,
    *,
    wait_seconds: float = 0.0,
    before_waiting: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Hold the lock of a file for the length of a block.

    Args:
        file: What is locked; made with its folders if needed.
        busy: Raised if another process holds the lock.
        wait_seconds: How long to wait for another process.
        before_waiting: Called once if it has to be waited for.

    Raises:
        TemporarilyUnavailable: another process holds it.
        CannotCreate: it cannot be written.

    Example:
        >>> with locked(folder / "lock", TemporarilyUnavailable("in use", str(folder))):
        ...     write_into(folder)
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(file)
        try:
            lock.acquire(blocking=False)
        except filelock.Timeout:
            if not wait_seconds:
                raise
            before_waiting()
            lock.acquire(timeout=wait_seconds)
    except filelock.Timeout:
        raise busy from None
    except OSError as error:
        raise cannot_write(file.parent, error) from error
    try:
        yield
    finally:
        lock.release()

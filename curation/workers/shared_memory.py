"""Memory that this process and a child map; it is freed when the last of them ends."""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path
from typing import Self


class SharedMemory:
    """Bytes that a child writes and this process reads.

    Example:
        >>> with SharedMemory(4096) as memory:
        ...     child_opens(memory.path)
        ...     memory.bytes[:8]
    """

    def __init__(self, size: int) -> None:
        """Make it, filled with zeros; a size of 0 is a file that may grow.

        Raises:
            OSError: there is no memory, or no place for it.
        """
        self._file, self.path = _open_file()
        self.bytes: mmap.mmap | bytes = b""
        if size:
            os.ftruncate(self._file, size)
            # Writable, as what is handed to a device must be.
            self.bytes = mmap.mmap(self._file, size)

    def __enter__(self) -> Self:
        """Return the memory."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give it back."""
        os.close(self._file)
        if not self.path.startswith("/proc/"):
            Path(self.path).unlink(missing_ok=True)


def _open_file() -> tuple[int, str]:
    """Return a descriptor, and the path by which a child opens the same."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("csbdata")
        return descriptor, f"/proc/{os.getpid()}/fd/{descriptor}"
    return tempfile.mkstemp(prefix="csbdata-")

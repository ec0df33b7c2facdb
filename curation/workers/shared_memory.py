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
        # A child opens the same by its path.
        if hasattr(os, "memfd_create"):
            self._file = os.memfd_create("csbdata")
            self.path = f"/proc/{os.getpid()}/fd/{self._file}"
        else:
            self._file, self.path = tempfile.mkstemp(prefix="csbdata-")
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

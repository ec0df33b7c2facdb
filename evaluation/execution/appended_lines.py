"""A file of JSON lines that is only ever appended to, and survives a kill.

A torn last line is cut off when the file is opened again.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from curation.system.atomic_files import cannot_write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class AppendedLines:
    """One such file, open for appending; its folder's lock is the caller's."""

    def __init__(self, path: Path) -> None:
        """Open the file, new or with what an earlier try has left."""
        self.path = path
        _cut_torn_line(path)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, line: bytes) -> None:
        """Append one line, given without its end.

        Raises:
            CannotCreate: there is no room, or no right (exit 73).
        """
        rest = memoryview(line + b"\n")
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def close(self) -> None:
        """Let everything reach the disk."""
        os.fsync(self._file)
        os.close(self._file)


def whole_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file with their ends; a torn last one and no file are none.

    Raises:
        OSError: the file is there and cannot be read.
    """
    try:
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    return
                yield line
    except FileNotFoundError:
        return


def _cut_torn_line(path: Path) -> None:
    end = sum(map(len, whole_lines(path)))
    if path.exists() and end != path.stat().st_size:
        os.truncate(path, end)

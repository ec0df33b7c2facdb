"""Refuse files of the user's that cannot be used: too large, a device, an odd name."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISBLK, S_ISCHR

from curation.system.errors import BadData, NoInput

#: Bytes of the largest file that is read whole, or line by line.
MOST_BYTES = 2 * 2**30


def refuse_large(path: Path) -> Path:
    """Return the path of a file, to be read at once.

    A file that cannot be looked at is left to its reader, which says why.

    Raises:
        BadData: it is larger than `MOST_BYTES`, or a device without an end.

    Example:
        >>> refuse_large(Path("answers.jsonl")).name
        'answers.jsonl'
    """
    try:
        status = path.stat()
    except OSError:
        return path
    mode, size = status.st_mode, status.st_size
    if S_ISBLK(mode) or (S_ISCHR(mode) and not _is_terminal(path)):
        raise BadData("a device, and no file", str(path))
    if size > MOST_BYTES:
        what = f"{size:,} bytes, over the limit of {MOST_BYTES:,}"
        raise BadData(what, str(path), "split it, or name another file")
    return path


def absolute(expression: str) -> str:
    """Return a source expression that names the same file from every folder.

    Example:
        >>> absolute("owner/name"), absolute("openapi:/api.yaml")
        ('owner/name', 'openapi:/api.yaml')
    """
    path = Path(expression).expanduser()
    if path.exists():
        return str(path.resolve())
    prefix, colon, argument = expression.partition(":")
    inside = Path(argument).expanduser()
    if colon and argument and inside.exists():
        return f"{prefix}:{inside.resolve()}"
    return expression


def has_other_bytes(path: str) -> bool:
    """Return whether a path has bytes that are no UTF-8, which Python escapes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return True
    return False


def refuse_unprintable(path: Path) -> Path:
    """Return the path, whose name can be written into files and rows.

    Raises:
        NoInput: it has bytes that are no UTF-8.
    """
    if has_other_bytes(path.name):
        name = str(path).encode("utf-8", "backslashreplace").decode()
        raise NoInput("its name is no UTF-8", name, "rename it")
    return path


def _is_terminal(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return os.isatty(file.fileno())
    except OSError:
        return False

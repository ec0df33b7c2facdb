"""Files that are whole or absent, even if the process that writes them is killed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from curation.system.errors import CannotCreate

#: What a file is called while it is being written.
UNFINISHED = ".unfinished"


@contextmanager
def unfinished(folder: Path, name: str) -> Iterator[Path]:
    """Yield a path for a file that is being written, removed at the end if still there.

    A process that is killed leaves it behind; `sweep` removes what is left.

    Raises:
        CannotCreate: the folder cannot be written.
    """
    temporary = folder / f".{name}.{os.getpid()}{UNFINISHED}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield temporary
    except OSError as error:
        raise cannot_write(folder / name, error) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def replace_file(temporary: Path, path: Path) -> None:
    """Bring a finished file to the disk, then give it its name in one step."""
    flush(temporary)
    temporary.replace(path)
    flush(path.parent)


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary file that becomes `path` at the end of the block.

    If the block raises, `path` stays as it was.

    Example:
        >>> with atomic_file(Path("table.csv")) as temporary:
        ...     temporary.write_text("a,b")
    """
    with unfinished(path.parent, path.name) as temporary:
        yield temporary
        replace_file(temporary, path)


def atomic_write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new one.

    Raises:
        CannotCreate: the place cannot be written.
    """
    with atomic_file(path) as temporary:
        temporary.write_bytes(content)


def flush(path: Path) -> None:
    """Ask the system to bring a file, or a folder's entries, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sweep(folder: Path, name: str) -> None:
    """Remove what killed processes left of `name`; the caller holds its lock."""
    for leftover in leftovers(folder, name):
        leftover.unlink(missing_ok=True)


def leftovers(folder: Path, name: str, suffix: str = UNFINISHED) -> list[Path]:
    """Return what is called `.name.TAG` and the suffix, where no tag holds a dot.

    So `b` has nothing of what another process writes as `b.c`.
    """
    return [
        path
        for path in folder.glob(f".{escape(name)}.*{suffix}")
        if "." not in path.name.removeprefix(f".{name}.").removesuffix(suffix)
    ]


def sweep_tree(folder: Path) -> None:
    """Remove what killed processes left anywhere in a folder that the caller holds.

    Raises:
        CannotCreate: the folder cannot be written.
    """
    with writing(folder):
        for leftover in folder.rglob(f".*{UNFINISHED}"):
            leftover.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say which path cannot be written, if the system refuses in the block.

    Raises:
        CannotCreate: it does.
    """
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> CannotCreate:
    """Return the error that says why a path cannot be written."""
    why = error.strerror or type(error).__name__
    return CannotCreate(
        f"cannot be written ({why})",
        str(path),
        "free space, change its rights or choose another place",
    )

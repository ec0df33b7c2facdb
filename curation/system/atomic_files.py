"""Files and folders that are whole or absent, even if their writer is killed; locks."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

import filelock

from curation.system.errors import CannotCreate, TemporarilyUnavailable

#: What a file is called while it is being written.
UNFINISHED = ".unfinished"


@contextmanager
def unfinished(folder: Path, name: str) -> Iterator[Path]:
    """Yield a path for a file that is being written, removed at the end if still there.

    A killed process leaves it; `sweep` removes it.

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
    """Return the paths named `.name.TAG` and the suffix, where no tag holds a dot.

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
    """Return the error with the reason why a path cannot be written."""
    why = error.strerror or type(error).__name__
    return CannotCreate(
        f"cannot be written ({why})",
        str(path),
        "free space, change its rights or choose another place",
    )


#: Marks a folder of exported files as ours: the next export may write there.
EXPORTED = ".csbdata-export"
#: What the old folder is called for the moment in which the new one takes its
#: name, where the system cannot swap two names.
_REPLACED = ".replaced"
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def atomic_folder(path: Path, *, marker: str = "manifest.json") -> Iterator[Path]:
    """Yield an empty folder that becomes `path` at the end of the block.

    If the block raises or the process is killed, `path` stays as it was. A folder that
    is neither empty nor holds `marker` is not replaced. The caller holds the run's
    lock: leftovers of killed processes are removed.

    Raises:
        CannotCreate: the place cannot be written.
    """
    refuse_foreign(path, marker)
    path = path.resolve()
    temporary = path.parent / f".{path.name}.{os.getpid()}{UNFINISHED}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        recover(path)
        temporary.mkdir()
        yield temporary
        for parent, _, names in os.walk(temporary):
            for file in (Path(parent, name) for name in names):
                if not file.is_symlink():
                    flush(file)
            flush(Path(parent))
        if not path.exists():
            temporary.rename(path)
        elif not _exchange(temporary, path):
            aside = temporary.with_suffix(_REPLACED)
            path.rename(aside)
            temporary.rename(path)
            shutil.rmtree(aside, ignore_errors=True)
        flush(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def recover(path: Path) -> None:
    """Restore files that a killed process moved aside, and remove its remains."""
    for aside in leftovers(path.parent, path.name, _REPLACED):
        if path.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.rename(path)
    for leftover in leftovers(path.parent, path.name):
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)


def refuse_foreign(path: Path, *markers: str, left: Collection[str] = ()) -> None:
    """Refuse a place that is neither empty nor holds a file that marks it as ours.

    Worth asking before long work, whose result could not be written.

    Args:
        path: The place.
        markers: The paths of such files in it.
        left: All that a process which was killed before it wrote one may have left.

    Raises:
        CannotCreate: the place is taken.
    """
    try:
        path.resolve()
        is_there = path.exists()
    except OSError as error:
        raise cannot_write(path, error) from error
    except RuntimeError as error:
        raise CannotCreate(
            "leads nowhere: a link to itself", str(path), "choose another place"
        ) from error
    if not is_there:
        return
    if path.is_dir() and (
        any((path / marker).exists() for marker in markers)
        or {entry.name for entry in path.iterdir()}.issubset(left)
    ):
        return
    raise CannotCreate(
        "is there already and holds something else", str(path), "choose another place"
    )


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names in one step; False where the system has no such call."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    names = (os.fsencode(one), os.fsencode(other))
    status = rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)
    return bool(status == 0)


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

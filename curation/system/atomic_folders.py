"""A whole output folder, replaced in one step: the old one or the new, no mix."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from curation.system.atomic_files import UNFINISHED, cannot_write, flush, leftovers
from curation.system.errors import CannotCreate

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
        _swap_folders(temporary, path)
        flush(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def recover(path: Path) -> None:
    """Put back what a killed process had moved aside, and remove what it left."""
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


def _swap_folders(new: Path, path: Path) -> None:
    """Give the new folder its name; where there was one, `new` now names the old."""
    if not path.exists():
        new.rename(path)
    elif not _exchange(new, path):
        aside = new.with_suffix(_REPLACED)
        path.rename(aside)
        new.rename(path)
        shutil.rmtree(aside, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names in one step; False where the system has no such call."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    names = (os.fsencode(one), os.fsencode(other))
    status = rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)
    return bool(status == 0)

"""Which files a check is about: single ones, all below a folder, standard input."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from curation.system.errors import NoInput
from curation.workers.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: What stands for standard input.
STDIN = "-"
#: Folders of tools, whose JSON files are no schemas of the user.
_NOT_OURS = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFile:
    """One text to be checked."""

    #: As the user named it, or below the folder that the user named.
    name: str
    content: bytes
    #: Where it is; None for standard input.
    path: Path | None


def read_schema_files(names: Sequence[str]) -> list[SchemaFile]:
    """Return the texts that names stand for: each file once, in order.

    Args:
        names: Files, folders (every `.json` below them, folders that begin with a dot
            aside), or `-`.

    Raises:
        NoInput: a file cannot be read, or a folder holds no `.json`.
    """
    # One byte more than the limit is enough to know that it is exceeded.
    most = Limits().document_bytes + 1
    found: dict[str, SchemaFile] = {}
    for name in names:
        if name == STDIN:
            content = sys.stdin.buffer.read(most)
            found[name] = SchemaFile(name="<stdin>", content=content, path=None)
            continue
        for path in _files(Path(name)):
            key = str(path.resolve())
            if key not in found:
                content = _read(path, most)
                found[key] = SchemaFile(name=str(path), content=content, path=path)
    return list(found.values())


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    below = sorted(_below(path))
    if not below:
        raise NoInput("no .json file in it", str(path))
    yield from below


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [
            name for name in folders if name[0] != "." and name not in _NOT_OURS
        ]
        for path in (Path(parent, name) for name in names if name.endswith(".json")):
            if path.exists() and not path.is_file():
                raise NoInput("neither a file nor a folder", str(path))
            yield path


def _read(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(most)
    except OSError as error:
        what = error.strerror or type(error).__name__
        raise NoInput(what, str(path)) from error


def root_of(files: Sequence[SchemaFile]) -> Path:
    """Return the folder below which references between files may lead.

    It is the working folder where all files are below it, else the one that all have
    in common.
    """
    here = Path.cwd()
    # A link keeps its name: where it leads is no reason to read more of the machine.
    folders = [file.path.absolute().parent for file in files if file.path is not None]
    folders = [Path(os.path.normpath(folder)) for folder in folders]
    if all(folder.is_relative_to(here) for folder in folders):
        return here
    return Path(os.path.commonpath(folders))


def place_of(file: SchemaFile, root: Path) -> str | None:
    """Return the path of a file below the root, with `/`; None for standard input."""
    if file.path is None:
        return None
    whole = Path(os.path.normpath(file.path.absolute()))
    return whole.relative_to(root).as_posix()

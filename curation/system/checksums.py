"""Digests of files, and `SHA256SUMS`, which `sha256sum -c` reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from curation.system.errors import BadData
from curation.system.user_files import file_digest, read_utf8

#: The file's name in a dataset folder. It lists every other file.
FILE = "SHA256SUMS"
#: What git and the Hub's clients keep in a folder.
NOT_OURS = frozenset({".git", ".gitattributes", ".cache"})
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


def compute_sums(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the digests of files of a folder, by their names with `/`.

    Raises:
        OSError: a file cannot be read.
    """
    return {name: file_digest(folder / name) for name in names}


def names_in(folder: Path) -> set[str]:
    """Return the names of all files of a folder, with `/`; the folder may be absent.

    Files of git and of the Hub's clients in a repository are skipped.
    """
    paths = (path for path in folder.rglob("*") if path.is_file())
    names = (path.relative_to(folder) for path in paths)
    return {name.as_posix() for name in names if name.parts[0] not in NOT_OURS}


def write_sums(folder: Path, sums: Mapping[str, str]) -> str:
    """Write `SHA256SUMS`, and return its path in the folder.

    Raises:
        OSError: the file cannot be written.
    """
    lines = (f"{sums[name]}  {name}\n" for name in sorted(sums))
    (folder / FILE).write_text("".join(lines), encoding="utf-8", newline="\n")
    return FILE


def read_sums(folder: Path) -> dict[str, str]:
    """Return the `SHA256SUMS` of a folder: name to digest.

    Raises:
        OSError: the file cannot be read.
        BadData: it is not text, or a line of it is not one of checksums.
    """
    sums = {}
    text = read_utf8(folder / FILE)
    # A name may hold what Python takes for the end of a line.
    lines = text.removesuffix("\n").split("\n") if text else []
    for number, line in enumerate(lines, start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise BadData("not a line of checksums", f"{folder / FILE}:{number}")
        sums[match[2]] = match[1]
    return sums

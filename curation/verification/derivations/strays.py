"""Is there anything in the folder that is no part of a dataset?"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from curation.core.benchmark import (
    LEDGER,
    NOTICES,
    SPLITS,
    holds_instances,
    records_config,
)
from curation.dataset.parquet import file_name
from curation.packaging.derived_files import CHANGELOG, is_derived
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding
from curation.verification.core.folder_contents import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "strays"
_GIT = ".git"
#: Where the Hub's client notes what it has downloaded.
_HUB_NOTES = ".cache/huggingface/"


def _finding(where: str, detail: str, *, failure: bool = True) -> Finding:
    return Finding(check=_NAME, where=where, detail=detail, failure=failure)


def _of_the_folder(folder: Path) -> Iterator[Finding]:
    """Yield what no list of files can hold: empty folders, and what others keep."""
    for parent, folders, names in os.walk(folder):
        where = Path(parent).relative_to(folder).as_posix()
        inside = "" if where == "." else f"{where}/"
        if inside and not folders and not names:
            yield _finding(where, "an empty folder")
        if _GIT in folders or _GIT in names:
            detail = "git's own folder, which may hold anything; verify a copy without"
            yield _finding(inside + _GIT, detail)
            folders[:] = [name for name in folders if name != _GIT]
        if inside.startswith(".cache/") and not inside.startswith(_HUB_NOTES):
            for name in names:
                yield _finding(inside + name, "no note of the Hub's client")


def _is_of_a_build(name: str, folder: str, files: Mapping[str, int]) -> bool:
    """Return whether a build may write a table of this name into this folder.

    `files` says how many tables of each split are in the folder.
    """
    config = records_config(folder) if holds_instances(folder) else folder
    named = name in {
        file_name(folder, split, number, files[split])
        for split in SPLITS
        for number in range(files[split])
    }
    return named and "/" not in config


def _of_the_files(contents: FolderContents) -> Iterator[Finding]:
    tables: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for found in contents.tables.values():
        tables[found.folder][found.split] += 1
    for name, path in contents.files.items():
        table = contents.tables.get(name)
        if table is not None and table.folder != LEDGER:
            if not _is_of_a_build(name, table.folder, tables[table.folder]):
                yield _finding(name, "a table that no build writes under this name")
        elif table is None and not is_derived(name) and name != CHANGELOG:
            try:
                read_text(path)
            except (ValueError, OSError) as error:
                yield _finding(name, f"no file of a build, and no text ({error})")
                continue
            # Others' notices have the names that they have there.
            if not name.startswith(f"{NOTICES}/"):
                yield _finding(name, "no file of a build", failure=False)


def _judge(contents: FolderContents, _results: Sequence[UnitResult]) -> CheckResult:
    return CheckResult(
        findings=[*_of_the_folder(contents.folder), *_of_the_files(contents)]
    )


STRAYS = FolderCheck(
    name=_NAME,
    question="is there nothing else: no stray file, no empty folder, no .git?",
    judge=_judge,
)

"""Open a dataset folder with suspicion: its files, tables and manifest.

Only regular files of the folder itself are read. Anything unreadable is a finding, so
that the checks see only sound files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from curation.core.benchmark import CORE, LEDGER, holds_instances, is_table
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import Manifest, read_manifest, versions_here
from curation.system.checksums import NOT_OURS
from curation.system.errors import BadData, NoInput
from curation.system.user_files import reading_parquet
from curation.system.words import shortened
from curation.verification.findings import READABLE, Finding

#: Bytes of the largest text file to read whole.
_MAX_TEXT = 64 * 2**20
_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetTable:
    """One parquet file: its path and metadata."""

    #: Path in the folder, with `/`.
    path: str
    metadata: pq.FileMetaData

    @property
    def folder(self) -> str:
        """Its folder, with `/`: the config of a table of records."""
        return self.path.rpartition("/")[0]

    @property
    def split(self) -> str:
        """Its split, the first part of its name."""
        return Path(self.path).name.partition("-")[0]

    @property
    def columns(self) -> set[str]:
        """The names of its columns."""
        return set(self.metadata.schema.to_arrow_schema().names)

    @property
    def holds_records(self) -> bool:
        """Return whether its rows are schemas."""
        return self.folder not in {CORE, LEDGER} and not holds_instances(self.folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderContents:
    """A folder, as far as it can be read."""

    folder: Path
    #: Regular files, by path in the folder, in order.
    files: Mapping[str, Path]
    #: The parquet files that open, by path.
    tables: Mapping[str, ParquetTable]
    #: None if it cannot be read.
    manifest: Manifest | None
    #: What could not be read.
    findings: tuple[Finding, ...]

    def records(self) -> Iterator[ParquetTable]:
        """Yield the tables of schemas."""
        return (table for table in self.tables.values() if table.holds_records)

    @property
    def must_be_valid(self) -> bool:
        """Return whether the rules promise legal schemas, and none twice.

        Those of `clean` do, and so does a folder whose manifest cannot be read.
        """
        return self.manifest is None or self.manifest.rules == "clean"

    def other_maker(self, *names: str) -> str:
        """Return a program that made the folder and has another version here, or "".

        Args:
            names: The relevant ones besides Python; empty for all.
        """
        if self.manifest is None:
            return MANIFEST
        versions, here = dict(self.manifest.versions), versions_here()
        # Python's minor version decides which characters there are.
        for each in (versions, here):
            each["python"] = each.get("python", "").rpartition(".")[0]
        for name in ("python", *(names or here)):
            if versions.get(name) != here[name]:
                return f"{name} {versions.get(name)}"
        return ""


def open_folder(folder: Path) -> FolderContents:
    """Open a dataset folder.

    Raises:
        NoInput: no such folder, or it is not a build.
    """
    if not folder.is_dir():
        raise NoInput("no such folder", str(folder), "csbdata build makes one")
    if not (folder / MANIFEST).exists():
        raise NoInput(
            f"no {MANIFEST} in it: no build", str(folder), "csbdata build makes one"
        )
    findings: list[Finding] = []

    def report(where: str, detail: str) -> None:
        detail = shortened(detail, _SHOWN)
        findings.append(Finding(check=READABLE, where=where, detail=detail))

    files = dict(sorted(_regular_files(folder, report)))
    tables = {}
    for name in filter(is_table, files):
        try:
            with reading_parquet(files[name]), pq.ParquetFile(files[name]) as file:
                tables[name] = ParquetTable(path=name, metadata=file.metadata)
        except BadData as error:
            report(name, error.what)
    manifest = None
    if MANIFEST in files:
        try:
            manifest = read_manifest(folder)
        except BadData as error:
            report(MANIFEST, error.what)
    return FolderContents(
        folder=folder,
        files=files,
        tables=tables,
        manifest=manifest,
        findings=tuple(findings),
    )


def _regular_files(
    folder: Path, report: Callable[[str, str], None]
) -> Iterator[tuple[str, Path]]:
    """Yield path in the folder and path of every file that can be read."""
    root = folder.resolve()
    for parent, folders, names in os.walk(folder):
        here = Path(parent)
        foreign = NOT_OURS if here == folder else frozenset()
        folders[:] = [name for name in folders if name not in foreign]
        links = [name for name in folders if (here / name).is_symlink()]
        for name in (*links, *(name for name in names if name not in foreign)):
            path = here / name
            where = path.relative_to(folder).as_posix()
            if wrong := _not_a_file(path, root):
                report(where, wrong)
            else:
                yield where, path


def _not_a_file(path: Path, root: Path) -> str:
    """Return the reason not to read a path; empty for none."""
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            return "a symbolic link that leads out of the folder"
        mode = path.stat().st_mode
    except (OSError, RuntimeError) as error:
        return f"cannot be read ({getattr(error, 'strerror', None) or error})"
    if path.is_symlink() and stat.S_ISDIR(mode):
        return "a symbolic link to a folder"
    if not stat.S_ISREG(mode):
        return "neither a file nor a folder"
    readable = mode & stat.S_IRUSR and os.access(path, os.R_OK)
    return "" if readable else "may not be read"


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises:
        ValueError: it is too large, or not UTF-8.
        OSError: it cannot be read.
    """
    if path.stat().st_size > _MAX_TEXT:
        raise ValueError(f"over {_MAX_TEXT:,} bytes")
    return path.read_text(encoding="utf-8")

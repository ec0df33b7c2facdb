"""A folder opened with suspicion, its checks, and their findings.

Only regular files of the folder itself are read. Anything unreadable is a finding, so
that the checks see only sound files. A check without work for child processes has no
batches. Otherwise a child does one item at a time; a child that dies costs only that
item.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import msgspec
import pyarrow.parquet as pq

from curation.core.benchmark import CORE, LEDGER, holds_instances, is_table
from curation.core.json_types import UntypedJson
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.manifest import Manifest, read_manifest, versions_here
from curation.system.checksums import NOT_OURS
from curation.system.errors import BadData, NoInput, Unavailable
from curation.system.user_files import reading_parquet
from curation.system.words import safe, shortened
from curation.workers.limits import Ending, ProcessResult

#: Bytes of the largest text file to read whole.
_MAX_TEXT = 64 * 2**20
_FAULT_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetTable:
    """One parquet file: its path and metadata."""

    #: Path in the folder, with `/`.
    path: str
    #: Its folder, with `/`: the config of a table of records.
    folder: str
    #: The first part of its name.
    split: str
    metadata: pq.FileMetaData

    @property
    def columns(self) -> set[str]:
        """The names of its columns."""
        return set(self.metadata.schema.to_arrow_schema().names)


def folder_and_split(path: str) -> tuple[str, str]:
    """Return the folder of a table, with `/`, and its split, by its path."""
    folder, _, name = path.rpartition("/")
    return folder, name.partition("-")[0]


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

    @property
    def records(self) -> list[ParquetTable]:
        """The tables of schemas."""
        excluded = {LEDGER, CORE, *(table.folder for table in self.instances)}
        return [table for table in self.tables.values() if table.folder not in excluded]

    @property
    def instances(self) -> list[ParquetTable]:
        """The tables of instances."""
        return [
            table for table in self.tables.values() if holds_instances(table.folder)
        ]

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
    root = folder.resolve()
    files, tables, faults = {}, {}, {}
    for name, path in sorted(_paths_in(folder)):
        if fault := _fault(path, root):
            faults[name] = fault
        else:
            files[name] = path
    for name in filter(is_table, files):
        inside, split = folder_and_split(name)
        try:
            with reading_parquet(files[name]), pq.ParquetFile(files[name]) as file:
                tables[name] = ParquetTable(
                    path=name, folder=inside, split=split, metadata=file.metadata
                )
        except BadData as error:
            faults[name] = error.message
    manifest = None
    if MANIFEST in files:
        try:
            manifest = read_manifest(folder)
        except BadData as error:
            faults[MANIFEST] = error.message
    return FolderContents(
        folder=folder,
        files=files,
        tables=tables,
        manifest=manifest,
        findings=tuple(
            Finding(check=READABLE, where=name, detail=shortened(fault, _FAULT_SHOWN))
            for name, fault in faults.items()
        ),
    )


def _paths_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield path in the folder, and path, of every file and link."""
    for parent, folders, names in os.walk(folder):
        here = Path(parent)
        foreign = NOT_OURS if here == folder else frozenset()
        folders[:] = [name for name in folders if name not in foreign]
        links = [name for name in folders if (here / name).is_symlink()]
        for name in {*links, *names} - foreign:
            yield (here / name).relative_to(folder).as_posix(), here / name


def _fault(path: Path, root: Path) -> str:
    """Return the reason not to read a path; empty for none."""
    try:
        is_link = path.is_symlink()
        if is_link and not path.resolve().is_relative_to(root):
            return "a symbolic link that leads out of the folder"
        mode = path.stat().st_mode
    except (OSError, RuntimeError) as error:
        return f"cannot be read ({getattr(error, 'strerror', None) or error})"
    if is_link and stat.S_ISDIR(mode):
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


#: The check whose failures mean unreadable files.
READABLE = "readable"
#: Exit code if everything was read and a check failed.
FAILED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fact about a folder."""

    #: Name of the check.
    check: str = ""
    #: A path in the folder, `config/unique_id`, or both; empty for the whole.
    where: str
    #: The fact. A credential's value is never in here.
    detail: str
    #: False for a note: the folder may be published so.
    failure: bool = True
    #: Whether the check was not run, for want of a program; such a finding is a note.
    not_run: bool = False

    def __str__(self) -> str:
        """Return the finding as one line."""
        parts = (self.check, self.where, self.detail)
        return ": ".join(safe(" ".join(part.split())) for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """All findings about a folder, with counts of the things checked."""

    #: By check, in the order in which the checks are registered.
    findings: tuple[Finding, ...]
    #: Nouns of the things counted, to their numbers.
    counted: Mapping[str, int] = field(default_factory=dict)
    #: Whether the build is partial, by its manifest.
    partial: bool = False
    #: The question of each check, by its name.
    questions: Mapping[str, str] = field(default_factory=dict)
    #: Seeds the sample of instances; empty if all were judged.
    nonce: str = ""

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that forbid publishing."""
        return tuple(finding for finding in self.findings if finding.failure)

    @property
    def notes(self) -> tuple[Finding, ...]:
        """The findings that do not."""
        return tuple(finding for finding in self.findings if not finding.failure)

    @property
    def exit_code(self) -> int:
        """Return 0 without a failure, 1 with one, otherwise the worst one.

        65: something cannot be read at all; 69: no check failed, one was not run.
        """
        if any(failure.check == READABLE for failure in self.failures):
            return BadData.exit_code
        if self.failures:
            return FAILED
        not_run = any(finding.not_run for finding in self.findings)
        return Unavailable.exit_code if not_run else 0


#: Characters of the reason for a missing answer.
_SHOWN = 300


class CheckItem(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of work for a child process."""

    #: Path of a table in the folder, the name of a config, or empty for the whole.
    where: str
    #: Name of the check.
    check: str = ""
    #: Number of a row group of the table, from 0; -1 for all.
    group: int = -1
    #: Number of a row in the row group, from 0; -1 for all.
    row: int = -1
    #: Whether every row is checked, and not a sample.
    whole: bool = False
    #: Seeds the sample, together with the table's bytes.
    nonce: str = ""

    @property
    def rows(self) -> str:
        """The rows inside the table, as a finding names them."""
        if self.group < 0:
            return ""
        row = "" if self.row < 0 else f"row {self.row} of "
        return f"{row}row group {self.group}: "


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one item, or of a whole check."""

    findings: list[Finding] = []
    #: Nouns of the things counted, to their numbers.
    counted: dict[str, int] = {}
    #: What is judged together with the values of the other items.
    values: list[UntypedJson] = []


#: Items that one child does one after another.
CheckBatch: TypeAlias = Sequence[CheckItem]


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderCheck:
    """One check of a folder; `curation.verification.run.CHECKS` lists all."""

    name: str
    #: One clause for the table of `csbdata verify`.
    question: str
    #: Takes the results of all items, in the parent; returns the check's.
    judge: Callable[[FolderContents, CheckResult], CheckResult]
    #: Returns the items for children, in batches.
    batches: Callable[[FolderContents], Iterable[CheckBatch]] = lambda _contents: ()
    #: Does one item of the folder at a path, in a child.
    work: Callable[[Path, CheckItem], CheckResult] = lambda _folder, _item: (
        CheckResult()
    )

    def conclude(
        self,
        contents: FolderContents,
        outcomes: Iterable[tuple[CheckItem, ProcessResult]],
    ) -> CheckResult:
        """Return the result of the check; an item without an answer is a failure."""
        findings: list[Finding] = []
        counted: Counter[str] = Counter()
        values: list[UntypedJson] = []
        for item, outcome in outcomes:
            if outcome.ending is Ending.OK:
                answer = outcome.answer_as(CheckResult)
                findings += answer.findings
                counted.update(answer.counted)
                values += answer.values
            else:
                detail = f"{item.rows}{outcome.ending}: {outcome.detail}"
                findings.append(
                    Finding(where=item.where, detail=shortened(detail, _SHOWN))
                )
        result = self.judge(
            contents, CheckResult(findings=findings, counted=counted, values=values)
        )
        named = [replace(finding, check=self.name) for finding in result.findings]
        return msgspec.structs.replace(result, findings=named)


def group_batches(tables: Iterable[ParquetTable]) -> Iterator[CheckBatch]:
    """Yield a batch for each row group, with one item."""
    for table in tables:
        for group in range(table.metadata.num_row_groups):
            yield [CheckItem(where=table.path, group=group)]


@lru_cache(maxsize=1)
def group_rows(
    path: Path, group: int, names: tuple[str, ...]
) -> list[dict[str, UntypedJson]]:
    """Return columns of the rows of one row group; the last is remembered.

    Raises:
        pa.ArrowException: the file is damaged.
    """
    with pq.ParquetFile(path) as file:
        rows: list[dict[str, UntypedJson]] = file.read_row_group(
            group, columns=list(names)
        ).to_pylist()
    return rows

"""Checks of a folder, and their items of work for child processes.

A check without work for child processes has no batches. Otherwise a child does one
item at a time; a child that dies costs only that item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import msgspec
import pyarrow.parquet as pq

from curation.core.json_types import UntypedJson
from curation.system.words import shortened
from curation.verification.findings import Finding
from curation.verification.folder_contents import FolderContents, ParquetTable
from curation.workers.limits import Ending, ProcessResult

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
    #: Returns the items for children, in batches.
    batches: Callable[[FolderContents], Iterable[CheckBatch]] = lambda _contents: ()
    #: Does one item of the folder at a path, in a child.
    work: Callable[[Path, CheckItem], CheckResult] = lambda _folder, _item: (
        CheckResult()
    )
    #: Takes the results of all items, in the parent; returns the check's.
    judge: Callable[[FolderContents, CheckResult], CheckResult] = (
        lambda _contents, result: result
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
        return CheckResult(findings=named, counted=result.counted)


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

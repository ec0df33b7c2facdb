"""Check that everything is written as a build writes it: tables, card, plots, lists.

Written again by the same pyarrow, a table has the same bytes: nothing else can stand in
its metadata, its statistics, or between its pages, and its files, row groups and page
indexes are those that the Hub's viewer needs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from curation.core.benchmark import LEDGER, natural_key
from curation.dataset.parquet import (
    RECORDS,
    SplitFiles,
    TableForm,
    parquet_writer,
    split_files,
)
from curation.packaging.derived_files import differing_files
from curation.packaging.table_columns import table_form
from curation.system.checksums import file_digest, names_in
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    FolderCheck,
    ItemResult,
    answers,
)
from curation.verification.findings import Finding

if TYPE_CHECKING:
    from curation.verification.folder_contents import FolderContents

_NAME = "derived"
#: Path and fault of each file that is written otherwise.
_Faults = list[tuple[str, str]]


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    # Nothing can be computed from unreadable data, which is reported already.
    if not contents.findings:
        yield [CheckItem(where="")]
    tables = contents.tables.values()
    for where in dict.fromkeys(
        table.path if table.folder == LEDGER else f"{table.folder}/{table.split}"
        for table in tables
    ):
        yield [CheckItem(where=where)]


def _work(folder: Path, item: CheckItem) -> _Faults:
    """Write again a ledger's table, the tables of a split, or all derived files."""
    if not item.where:
        wrong = "not computed from this data; csbdata card computes it anew"
        return [(name, wrong) for name in differing_files(folder)]
    inside, _, split = item.where.rpartition("/")
    in_ledger = inside == LEDGER
    form = table_form(item.where)
    paths = [item.where] if in_ledger else split_files(folder, inside, split)
    if form is None:
        return []
    for path in paths:
        with pq.ParquetFile(folder / path) as file:
            found, right = file.schema_arrow, form.columns
        if found != right:
            names = sorted({column.name for column in {*found} ^ {*right}})
            wrong = f"not the columns of a build: {', '.join(names) or 'their order'}"
            return [(path, wrong)]
    with tempfile.TemporaryDirectory() as temporary:
        again = Path(temporary)
        (again / inside).mkdir(parents=True)
        if in_ledger:
            _write_table(folder / item.where, again / item.where, form)
        else:
            with SplitFiles(again, inside, split, form) as files:
                for path in paths:
                    for group in _groups(folder / path, form):
                        for row in group.to_pylist():
                            files.add(SimpleNamespace(**row))
        faults = [
            (path, "not written as a build writes its rows")
            for path in sorted({*paths, *names_in(again)})
            if _digest(folder / path) != _digest(again / path)
        ]
    if form is RECORDS and not _in_natural_order([folder / path for path in paths]):
        faults.append((paths[0], "its rows are not in natural order of the ids"))
    return faults


def _groups(path: Path, form: TableForm) -> Iterator[pa.Table]:
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            yield file.read_row_group(group).cast(form.columns)


def _write_table(path: Path, again: Path, form: TableForm) -> None:
    with parquet_writer(again, form.columns, distinct=form.distinct) as writer:
        for rows in _groups(path, form):
            writer.write_table(rows, row_group_size=max(1, len(rows)))


def _digest(path: Path) -> str:
    """Return the digest of a file; empty if there is none."""
    return file_digest(path) if path.is_file() else ""


def _in_natural_order(paths: Sequence[Path]) -> bool:
    keys = [
        natural_key(name or "")
        for path in paths
        for name in pq.read_table(path, columns=["unique_id"])["unique_id"].to_pylist()
    ]
    return all(first <= second for first, second in pairwise(keys))


def _judge(contents: FolderContents, results: Sequence[ItemResult]) -> CheckResult:
    faults: _Faults = []
    unanswered: list[Finding] = []
    for _, wrong in answers(_NAME, results, _Faults, unanswered):
        faults += wrong
    faults += ((finding.where, finding.detail) for finding in unanswered)
    other = contents.other_maker()
    note = f"; {other} made it, which is not here" if other else ""
    findings = [
        Finding(
            check=_NAME,
            where=where,
            detail=detail + note,
            failure=not other,
            not_run=bool(other),
        )
        for where, detail in faults
    ]
    return CheckResult(findings=findings)


DERIVED = FolderCheck(
    name=_NAME,
    question="are tables, card, licences and plots what a build writes of this data?",
    judge=_judge,
    batches=_batches,
    work=_work,
)

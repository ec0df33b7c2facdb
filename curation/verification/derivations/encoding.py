"""Are tables, byte for byte, what a build writes of their rows?

A build's parquet files depend on their rows alone. Written again by the same pyarrow,
a table must come out with the same bytes: nothing else can stand in its metadata, its
statistics, or between its pages. By another version of pyarrow the metadata is
compared, and the bytes are not.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.core.benchmark import LEDGER, holds_instances
from curation.dataset import ledger
from curation.dataset.parquet import RECORDS, is_full, row_group_sizes
from curation.dataset.parquet_columns import parquet_writer
from curation.instances.dataset.parquet import LEDGER_COLUMNS, LEDGER_DISTINCT, ROWS
from curation.system.checksums import file_digest
from curation.verification.core.check import CheckResult, CheckUnit, FolderCheck
from curation.verification.core.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.dataset.parquet import TableForm
    from curation.verification.core.check import CheckBatch, UnitResult
    from curation.verification.core.folder_contents import FolderContents

_NAME = "encoding"
#: Key under which Arrow keeps a table's types, the metadata once more among them.
_ARROW = b"ARROW:schema"


class Encoding(msgspec.Struct, frozen=True, kw_only=True):
    """How a table is written."""

    #: What its metadata has that a build does not write there.
    foreign: list[str] = []
    #: Whether its bytes are those of its rows; None where another pyarrow wrote it.
    same: bool | None = None


def _distinct(path: str) -> frozenset[str]:
    """Return the columns without a dictionary, of the table at a path."""
    inside = path.rpartition("/")[0]
    if path in {ledger.DOCUMENTS, ledger.CHANGES}:
        return ledger.DISTINCT
    if inside == LEDGER:
        return LEDGER_DISTINCT
    return _form(inside).distinct


def _columns(path: str) -> pa.Schema | None:
    """Return the columns of the table that a build has at a path; None for none."""
    inside = path.rpartition("/")[0]
    known = {
        ledger.DOCUMENTS: ledger.DOCUMENT_COLUMNS,
        ledger.CHANGES: ledger.CHANGE_COLUMNS,
        **LEDGER_COLUMNS,
    }
    if inside == LEDGER:
        return known.get(path)
    return _form(inside).columns


def _form(inside: str) -> TableForm:
    """Return how the tables in a folder other than the ledger's are written."""
    return ROWS if holds_instances(inside) else RECORDS


def _batches(contents: FolderContents) -> Iterator[CheckBatch]:
    for path in contents.tables:
        yield [CheckUnit(where=path)]


def _work(folder: Path, unit: CheckUnit) -> Encoding:
    """Write a table again, and compare."""
    path, columns = folder / unit.where, _columns(unit.where)
    with pq.ParquetFile(path) as file:
        given = file.schema_arrow
        if columns is None or not _alike(given, columns):
            return Encoding()  # The check of columns says so.
        with tempfile.TemporaryDirectory() as name:
            again = Path(name, "again.parquet")
            with parquet_writer(
                again, columns, distinct=_distinct(unit.where)
            ) as writer:
                for group in range(file.metadata.num_row_groups):
                    rows = file.read_row_group(group).cast(columns)
                    writer.write_table(rows, row_group_size=max(1, len(rows)))
            foreign = list(_foreign(file.metadata, given, again))
            if not _is_well_divided(file, unit.where):
                foreign.append("its row groups are not those of a build")
            with pq.ParquetFile(again) as wanted:
                comparable = wanted.metadata.created_by == file.metadata.created_by
            same = file_digest(again) == file_digest(path) if comparable else None
    return Encoding(foreign=foreign, same=same)


def _is_well_divided(file: pq.ParquetFile, path: str) -> bool:
    """Return whether the rows stand in the row groups in which a build puts them."""
    inside = path.rpartition("/")[0]
    if inside == LEDGER:
        return True
    form = _form(inside)
    given = [
        file.metadata.row_group(group).num_rows
        for group in range(file.metadata.num_row_groups)
    ]
    lengths = (
        length or 0
        for group in range(len(given))
        for length in pc.utf8_length(
            file.read_row_group(group, columns=[form.text])[form.text]
        ).to_pylist()
    )
    sizes = row_group_sizes(
        lengths, most_length=form.most_length, most_rows=form.most_rows
    )
    return given == list(sizes)


def _alike(given: pa.Schema, columns: pa.Schema) -> bool:
    return given.names == columns.names and all(
        given.field(name).type.equals(columns.field(name).type)
        for name in columns.names
    )


def _foreign(metadata: pq.FileMetaData, given: pa.Schema, again: Path) -> Iterator[str]:
    """Yield what stands in a table's metadata and not in that of its rows.

    Keys are named, and values never: one may be a credential.
    """
    with pq.ParquetFile(again) as file:
        wanted, columns = file.metadata.metadata or {}, file.schema_arrow
    stated = metadata.metadata or {}
    for key in sorted(stated.keys() | wanted.keys()):
        name = key.decode("utf-8", "replace")
        if key not in wanted:
            yield f"its metadata has {name!r}, which no build writes"
        elif key not in stated:
            yield f"its metadata lacks {name!r}"
        elif key != _ARROW and stated[key] != wanted[key]:
            yield f"its metadata has another {name!r} than a build writes"
    if not given.equals(columns, check_metadata=True):
        yield "its Arrow schema says more than the columns of a build"


def _divided_otherwise(contents: FolderContents) -> Iterator[str]:
    """Yield the tables that end before they are full, or after.

    The last of a split may end before.
    """
    tables = [table for table in contents.tables.values() if table.folder != LEDGER]
    last = {(table.folder, table.split): table.path for table in tables}
    for table in tables:
        groups = table.metadata.num_row_groups
        is_last = table.path == last[table.folder, table.split]
        early = not is_last and not is_full(table.metadata, groups)
        if early or is_full(table.metadata, groups - 1):
            yield table.path


def _judge(contents: FolderContents, results: Sequence[UnitResult]) -> CheckResult:
    detail = "its split is not divided into files as a build divides it"
    findings = [
        Finding(check=_NAME, where=path, detail=detail)
        for path in _divided_otherwise(contents)
    ]
    compared = 0
    for result in results:
        path = result.unit.where
        if not result.answered:
            detail = f"cannot be written again: {result.detail}"
            findings.append(Finding(check=_NAME, where=path, detail=detail))
            continue
        answer = result.answer_as(Encoding)
        compared += answer.same is not None
        findings += [
            Finding(check=_NAME, where=path, detail=detail) for detail in answer.foreign
        ]
        if answer.same is False and not answer.foreign:
            detail = "its bytes are not those that a build writes of its rows"
            findings.append(Finding(check=_NAME, where=path, detail=detail))
    return CheckResult(findings=findings, counted={"tables written again": compared})


ENCODING = FolderCheck(
    name=_NAME,
    question="is every table, byte for byte, what a build writes of its rows?",
    judge=_judge,
    batches=_batches,
    work=_work,
)

"""Check how tables are written: for the Hub's viewer, with the canary, byte for byte.

Written again by the same pyarrow, a table has the same bytes: nothing else can stand in
its metadata, its statistics, or between its pages.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.core.benchmark import (
    CANARY,
    LEDGER,
    METADATA_KEY,
    holds_instances,
)
from curation.dataset.parquet import (
    CHUNKING_KEY,
    TableForm,
    is_full,
    parquet_writer,
    row_group_sizes,
)
from curation.packaging.card import FILE as CARD
from curation.packaging.manifest import FILE as MANIFEST
from curation.packaging.table_columns import table_form
from curation.system.checksums import file_digest
from curation.system.words import counted
from curation.verification.check import (
    CheckBatch,
    CheckItem,
    CheckResult,
    FolderCheck,
    ItemResult,
    answers,
)
from curation.verification.findings import Finding
from curation.verification.folder_contents import (
    FolderContents,
    ParquetTable,
    read_text,
)

#: Bytes of one row, and of a row group of several, before compression. The viewer cuts
#: rows of over 2 MB or so, and reads whole row groups. A row cannot be made smaller
#: without another schema, so that a large one alone is no failure.
MOST_ROW = 2_000_000
MOST_GROUP = 4_000_000
#: Bytes of one file; a build begins another before.
MOST_FILE = 300_000_000


def _large_rows(table: ParquetTable) -> Iterator[str]:
    for number, group in enumerate(table.groups):
        if group.num_rows == 1 and group.total_byte_size > MOST_ROW:
            yield (
                f"row group {number} is one row of {group.total_byte_size:,} bytes; "
                f"the viewer cuts what is over {MOST_ROW:,}"
            )


def _large_rows_beside_others(path: Path, table: ParquetTable) -> Iterator[str]:
    column = "text" if holds_instances(table.folder) else "json_schema"
    for number, group in enumerate(table.groups):
        if group.num_rows > 1 and group.total_byte_size > MOST_ROW:
            with pq.ParquetFile(path) as file:
                texts = file.read_row_group(number, columns=[column])
            largest = (
                pc.max(pc.binary_length(texts[column])).as_py()
                if texts.num_columns
                else 0
            )
            if largest and largest > MOST_ROW:
                yield (
                    f"row group {number} has a row of {largest:,} bytes among "
                    f"{group.num_rows:,}; one of over {MOST_ROW:,} stands alone"
                )


def _viewer_faults(path: Path, table: ParquetTable) -> Iterator[str]:
    yield from _large_rows_beside_others(path, table)
    size = path.stat().st_size
    if size > MOST_FILE:
        yield f"{size:,} bytes; {MOST_FILE:,} is the most"
    for number, group in enumerate(table.groups):
        if group.num_rows > 1 and group.total_byte_size > MOST_GROUP:
            yield (
                f"row group {number} has {counted(group.num_rows, 'row')} of "
                f"{group.total_byte_size:,} bytes together; {MOST_GROUP:,} is the most"
            )
    # A column index lists least and greatest values; long ones are dropped.
    if not all(
        group.column(column).has_offset_index
        for group in table.groups
        for column in range(group.num_columns)
    ):
        yield "a column whose pages are not indexed"
    if table.groups and CHUNKING_KEY.encode() not in (table.metadata.metadata or {}):
        yield "not written with content-defined chunking"


def _judge_viewer(
    contents: FolderContents, _results: Sequence[ItemResult]
) -> CheckResult:
    tables = [table for table in contents.tables.values() if table.folder != LEDGER]
    findings = [
        Finding(check="viewer", where=table.path, detail=detail)
        for table in tables
        for detail in _viewer_faults(contents.files[table.path], table)
    ]
    findings += [
        Finding(check="viewer", where=table.path, detail=detail, failure=False)
        for table in tables
        for detail in _large_rows(table)
    ]
    return CheckResult(
        findings=findings,
        counted={"row groups": sum(len(table.groups) for table in tables)},
    )


VIEWER = FolderCheck(
    name="viewer",
    question="are rows and row groups small, and pages indexed, as the viewer needs?",
    judge=_judge_viewer,
)


def _canary_faults(contents: FolderContents) -> Iterator[tuple[str, str]]:
    """Yield the files without the canary of the benchmark."""
    if contents.manifest is None:
        return
    own = contents.manifest.canary
    if own != CANARY:
        yield MANIFEST, "the canary is not that of the benchmark"
    if CARD in contents.files:
        try:
            if own not in read_text(contents.files[CARD]):
                yield CARD, "without the canary of the manifest"
        except (ValueError, OSError):
            pass
    for table in contents.tables.values():
        metadata = table.metadata.metadata or {}
        if metadata.get(METADATA_KEY.encode()) != own.encode():
            yield table.path, "without the canary of the manifest"


def _judge_canary(
    contents: FolderContents, _results: Sequence[ItemResult]
) -> CheckResult:
    return CheckResult(
        findings=[
            Finding(check="canary", where=where, detail=detail)
            for where, detail in _canary_faults(contents)
        ]
    )


CANARY_CHECK = FolderCheck(
    name="canary",
    question="do card, manifest and every table have the canary?",
    judge=_judge_canary,
)


def _encoding_batches(contents: FolderContents) -> Iterator[CheckBatch]:
    for path in contents.tables:
        yield [CheckItem(where=path)]


class RewrittenTable(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of a table with its rows written again."""

    #: False if its columns are no build's, which another check reports, or another
    #: version of pyarrow wrote it.
    compared: bool = False
    #: Empty if it is written as a build writes it.
    fault: str = ""


def _encoding_work(folder: Path, item: CheckItem) -> RewrittenTable:
    """Write the rows of a table again, and compare the bytes."""
    path, form = folder / item.where, table_form(item.where)
    with pq.ParquetFile(path) as file:
        own = file.schema_arrow
        if form is None or (own.names, own.types) != (
            form.columns.names,
            form.columns.types,
        ):
            return RewrittenTable()
        with tempfile.TemporaryDirectory() as name:
            again = Path(name, "again.parquet")
            with parquet_writer(again, form.columns, distinct=form.distinct) as writer:
                for group in range(file.metadata.num_row_groups):
                    rows = file.read_row_group(group).cast(form.columns)
                    writer.write_table(rows, row_group_size=max(1, len(rows)))
            if pq.read_metadata(again).created_by != file.metadata.created_by:
                return RewrittenTable()
            same = file_digest(again) == file_digest(path)
        fault = (
            "" if same else "its bytes are not those that a build writes of its rows"
        )
        if same and not _has_groups_of_build(file, form):
            fault = "its row groups are not those of a build"
    return RewrittenTable(compared=True, fault=fault)


def _has_groups_of_build(file: pq.ParquetFile, form: TableForm) -> bool:
    """Return whether the rows stand in the row groups in which a build puts them."""
    if not form.text:
        return True
    groups = range(file.metadata.num_row_groups)
    lengths = (
        length or 0
        for group in groups
        for length in pc.utf8_length(
            file.read_row_group(group, columns=[form.text])[form.text]
        ).to_pylist()
    )
    sizes = row_group_sizes(
        lengths, most_length=form.most_length, most_rows=form.most_rows
    )
    return [file.metadata.row_group(group).num_rows for group in groups] == list(sizes)


def _misdivided(contents: FolderContents) -> Iterator[str]:
    """Yield the tables that end before they are full, or after.

    The last of a split may end before.
    """
    tables = [table for table in contents.tables.values() if table.folder != LEDGER]
    last = {(table.folder, table.split): table.path for table in tables}
    for table in tables:
        groups = len(table.groups)
        is_last = table.path == last[table.folder, table.split]
        early = not is_last and not is_full(table.metadata, groups)
        if early or is_full(table.metadata, groups - 1):
            yield table.path


def _judge_encoding(
    contents: FolderContents, results: Sequence[ItemResult]
) -> CheckResult:
    detail = "its split is not divided into files as a build divides it"
    findings = [
        Finding(check="encoding", where=path, detail=detail)
        for path in _misdivided(contents)
    ]
    compared = 0
    for item, table in answers("encoding", results, RewrittenTable, findings):
        compared += table.compared
        if table.fault:
            finding = Finding(check="encoding", where=item.where, detail=table.fault)
            findings.append(finding)
    return CheckResult(findings=findings, counted={"tables written again": compared})


ENCODING = FolderCheck(
    name="encoding",
    question="is every table byte for byte as a build writes its rows?",
    judge=_judge_encoding,
    batches=_encoding_batches,
    work=_encoding_work,
)

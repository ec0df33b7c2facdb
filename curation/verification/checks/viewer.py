"""Can the Hub's viewer show the tables: small rows and row groups, indexed pages?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.core.benchmark import LEDGER, holds_instances
from curation.dataset.parquet_columns import CHUNKING_KEY
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents, ParquetTable

_NAME = "viewer"
#: Bytes of one row, and of a row group of several, before compression. The viewer cuts
#: what it shows of rows of over 2 MB or so, and reads whole row groups. A row cannot be
#: made smaller without another schema, so that a large one alone is no failure.
MOST_ROW = 2_000_000
MOST_GROUP = 4_000_000
#: Bytes of one file; a build begins another before.
MOST_FILE = 300_000_000


def _large_rows(table: ParquetTable) -> Iterator[str]:
    metadata = table.metadata
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if group.num_rows == 1 and group.total_byte_size > MOST_ROW:
            yield (
                f"row group {number} is one row of {group.total_byte_size:,} bytes; "
                f"the viewer cuts what is over {MOST_ROW:,}"
            )


def _not_alone(path: Path, table: ParquetTable) -> Iterator[str]:
    """Yield the groups in which a large row stands beside others."""
    column = "text" if holds_instances(table.folder) else "json_schema"
    for number in range(table.metadata.num_row_groups):
        group = table.metadata.row_group(number)
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


def _faults_of(path: Path, table: ParquetTable) -> Iterator[str]:
    yield from _not_alone(path, table)
    size = path.stat().st_size
    if size > MOST_FILE:
        yield f"{size:,} bytes; {MOST_FILE:,} is the most"
    metadata = table.metadata
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    for number, group in enumerate(groups):
        if group.num_rows > 1 and group.total_byte_size > MOST_GROUP:
            yield (
                f"row group {number} has {group.num_rows:,} rows of "
                f"{group.total_byte_size:,} bytes together; {MOST_GROUP:,} is the most"
            )
    chunks = [
        group.column(column) for group in groups for column in range(group.num_columns)
    ]
    # A column index lists least and greatest values; long ones are dropped.
    if not all(chunk.has_offset_index for chunk in chunks):
        yield "a column whose pages are not indexed"
    if groups and CHUNKING_KEY.encode() not in (metadata.metadata or {}):
        yield "not written with content-defined chunking"


def _judge(contents: FolderContents, _results: Sequence[UnitResult]) -> CheckResult:
    tables = [table for table in contents.tables.values() if table.folder != LEDGER]
    findings = [
        Finding(check=_NAME, where=table.path, detail=detail)
        for table in tables
        for detail in _faults_of(contents.files[table.path], table)
    ]
    findings += [
        Finding(check=_NAME, where=table.path, detail=detail, failure=False)
        for table in tables
        for detail in _large_rows(table)
    ]
    groups = sum(table.metadata.num_row_groups for table in tables)
    return CheckResult(findings=findings, counted={"row groups": groups})


VIEWER = FolderCheck(
    name=_NAME,
    question="are rows and row groups small, and pages indexed, as the viewer needs?",
    judge=_judge,
)

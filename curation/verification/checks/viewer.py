"""Can the Hub's viewer show the tables: small rows and row groups, indexed pages?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.dataset.parquet_columns import CHUNKING_KEY
from curation.verification.core.check import CheckResult, FolderCheck
from curation.verification.core.findings import Finding
from curation.verification.core.folder_contents import LEDGER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.verification.core.check import UnitResult
    from curation.verification.core.folder_contents import FolderContents, ParquetTable

_NAME = "viewer"
#: Bytes of one row, and of a row group of several, before compression. The viewer
#: refuses rows of over 2 MB or so and reads whole row groups.
MOST_ROW = 2_000_000
MOST_GROUP = 4_000_000


def _faults_of(table: ParquetTable) -> Iterator[str]:
    metadata = table.metadata
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    for number, group in enumerate(groups):
        size, limit = group.total_byte_size, MOST_GROUP
        if group.num_rows == 1:
            limit = MOST_ROW
        if size > limit:
            yield (
                f"row group {number} has {group.num_rows:,} rows of {size:,} bytes "
                f"together; {limit:,} is the most"
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
    tables = [table for table in contents.tables.values() if table.config != LEDGER]
    findings = [
        Finding(check=_NAME, where=table.path, detail=detail)
        for table in tables
        for detail in _faults_of(table)
    ]
    groups = sum(table.metadata.num_row_groups for table in tables)
    return CheckResult(findings=findings, counted={"row groups": groups})


VIEWER = FolderCheck(
    name=_NAME,
    question="are rows and row groups small, and pages indexed, as the viewer needs?",
    judge=_judge,
)

"""Rows of a table, read in a child process one row group at a time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.verification.core.check import CheckUnit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from curation.core.json_types import Json
    from curation.verification.core.check import CheckBatch
    from curation.verification.core.folder_contents import FolderContents, ParquetTable


class MatchedText(NamedTuple):
    """One text of a row group that a pattern meets."""

    #: Number of the row in its row group, from 0.
    row: int
    #: The row's `unique_id`; None where it has none.
    unique_id: str | None
    column: str
    text: str


def row_batches(table: ParquetTable) -> Iterator[CheckBatch]:
    """Yield a batch for each row group, with a unit for each row."""
    for group, rows in _groups(table):
        yield [CheckUnit(where=table.path, group=group, row=row) for row in range(rows)]


def group_batches(tables: Iterable[ParquetTable]) -> Iterator[CheckBatch]:
    """Yield a batch for each row group, with one unit."""
    for table in tables:
        for group, _ in _groups(table):
            yield [CheckUnit(where=table.path, group=group)]


def _groups(table: ParquetTable) -> Iterator[tuple[int, int]]:
    metadata = table.metadata
    for group in range(metadata.num_row_groups):
        yield group, metadata.row_group(group).num_rows


@lru_cache(maxsize=1)
def row_columns(
    path: Path, group: int, names: tuple[str, ...]
) -> Mapping[str, list[Json]]:
    """Return columns of one row group; the last is remembered.

    Raises:
        pa.ArrowException: the file is damaged.
    """
    with pq.ParquetFile(path) as file:
        found: dict[str, list[Json]] = file.read_row_group(
            group, columns=list(names)
        ).to_pydict()
    return found


def matching_texts(path: Path, group: int, pattern: str) -> Iterator[MatchedText]:
    """Yield the texts of a row group that a pattern of RE2 meets, by column and row.

    Raises:
        pa.ArrowException: the file is damaged.
    """
    with pq.ParquetFile(path) as file:
        names = [
            column.name
            for column in file.schema_arrow
            if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        ]
        table = file.read_row_group(group, columns=names)
    ids = table["unique_id"] if "unique_id" in names else None
    for name in names:
        met = pc.match_substring_regex(table[name], pattern)
        for row in pc.indices_nonzero(met).to_pylist():
            unique_id = None if ids is None else ids[row].as_py()
            yield MatchedText(row, unique_id, name, table[name][row].as_py())


def first_row(contents: FolderContents, path: str, group: int) -> int:
    """Return the number, in its file, of the first row of a row group."""
    metadata = contents.tables[path].metadata
    return sum(metadata.row_group(before).num_rows for before in range(group))

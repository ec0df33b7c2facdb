"""Rows of a table, read in a child process one row group at a time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from curation.verification.core.folder_contents import FolderContents, ParquetTable


def row_batches(table: ParquetTable) -> Iterator[Sequence[UntypedJson]]:
    """Yield a batch for each row group, with a unit for each row."""
    for group, rows in _groups(table):
        yield [{"where": table.path, "group": group, "row": row} for row in range(rows)]


def group_batches(tables: Iterable[ParquetTable]) -> Iterator[Sequence[UntypedJson]]:
    """Yield a batch for each row group, with one unit."""
    for table in tables:
        for group, _ in _groups(table):
            yield [{"where": table.path, "group": group}]


def _groups(table: ParquetTable) -> Iterator[tuple[int, int]]:
    metadata = table.metadata
    for group in range(metadata.num_row_groups):
        yield group, metadata.row_group(group).num_rows


@lru_cache(maxsize=1)
def columns(path: Path, group: int, names: tuple[str, ...]) -> Mapping[str, list[Any]]:
    """Return columns of one row group as Python values; the last is remembered.

    Raises:
        pa.ArrowException: the file is damaged.
    """
    with pq.ParquetFile(path) as file:
        found: dict[str, list[Any]] = file.read_row_group(
            group, columns=list(names)
        ).to_pydict()
    return found


def texts(
    path: Path, group: int, pattern: str
) -> Iterator[tuple[int, str | None, str, str]]:
    """Yield the texts of a row group that a pattern of RE2 meets somewhere.

    Row, the row's `unique_id` if it has one, column, and text, by column and row.

    Raises:
        pa.ArrowException: the file is damaged.
    """
    with pq.ParquetFile(path) as file:
        names = [
            each.name
            for each in file.schema_arrow
            if pa.types.is_string(each.type) or pa.types.is_large_string(each.type)
        ]
        table = file.read_row_group(group, columns=names)
    ids = table["unique_id"] if "unique_id" in names else None
    for name in names:
        met = pc.match_substring_regex(table[name], pattern)
        for row in pc.indices_nonzero(met).to_pylist():
            unique_id = None if ids is None else ids[row].as_py()
            yield row, unique_id, name, table[name][row].as_py()


def first_row(contents: FolderContents, path: str, group: int) -> int:
    """Return the number, in its file, of the first row of a row group."""
    metadata = contents.tables[path].metadata
    return sum(metadata.row_group(each).num_rows for each in range(group))

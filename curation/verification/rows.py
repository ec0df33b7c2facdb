"""Read rows: whole columns, or one row group at a time in a child process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.verification.check import CheckBatch, CheckItem
from curation.verification.findings import Finding

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.verification.folder_contents import FolderContents, ParquetTable


class MatchedText(NamedTuple):
    """One text of a row group that matches a pattern."""

    #: Number of the row in its row group, from 0.
    row: int
    #: The row's `unique_id`; None without one.
    unique_id: str | None
    column: str
    text: str


def read_columns(
    contents: FolderContents, table: ParquetTable, names: Sequence[str]
) -> pl.DataFrame:
    """Return columns of a table."""
    path = contents.files[table.path]
    return pl.read_parquet(path, columns=list(names), glob=False)


def record_columns(contents: FolderContents, names: Sequence[str]) -> pl.DataFrame:
    """Return columns of all records, with `config` and `split` in front."""
    frames = [
        read_columns(contents, table, names).with_columns(
            config=pl.lit(table.folder), split=pl.lit(table.split)
        )
        for table in contents.records()
    ]
    if not frames:
        return pl.DataFrame(
            schema=dict.fromkeys(["config", "split", *names], pl.String)
        )
    return pl.concat(frames).select("config", "split", *names)


def row_batches(contents: FolderContents, names: Sequence[str]) -> Iterator[CheckBatch]:
    """Yield a batch for each row group of records, with an item for each row.

    Args:
        contents: The folder.
        names: The columns that are read; tables without one are left out.
    """
    for table in contents.records():
        if table.columns.issuperset(names):
            for number, group in enumerate(table.groups):
                yield [
                    CheckItem(where=table.path, group=number, row=row)
                    for row in range(group.num_rows)
                ]


def without_columns(
    check: str, contents: FolderContents, names: Sequence[str]
) -> Iterator[Finding]:
    """Yield the tables that `row_batches` leaves out."""
    for table in contents.records():
        missing = set(names) - table.columns
        if missing:
            detail = f"no column {', '.join(sorted(missing))}"
            yield Finding(check=check, where=table.path, detail=detail)


def group_batches(tables: Iterable[ParquetTable]) -> Iterator[CheckBatch]:
    """Yield a batch for each row group, with one item."""
    for table in tables:
        for group in range(len(table.groups)):
            yield [CheckItem(where=table.path, group=group)]


@lru_cache(maxsize=1)
def row_columns(
    path: Path, group: int, names: tuple[str, ...]
) -> Mapping[str, list[Json]]:
    """Return columns of one row group; the last is remembered.

    Raises:
        pa.ArrowException: the file is damaged.
    """
    with pq.ParquetFile(path) as file:
        columns: dict[str, list[Json]] = file.read_row_group(
            group, columns=list(names)
        ).to_pydict()
    return columns


def matching_texts(path: Path, group: int, pattern: str) -> Iterator[MatchedText]:
    """Yield the texts of a row group that match a pattern of RE2, by column and row.

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
        matches = pc.match_substring_regex(table[name], pattern)
        for row in pc.indices_nonzero(matches).to_pylist():
            unique_id = None if ids is None else ids[row].as_py()
            yield MatchedText(row, unique_id, name, table[name][row].as_py())


def first_row(table: ParquetTable, group: int) -> int:
    """Return the number, in its file, of the first row of a row group."""
    return sum(own.num_rows for own in table.groups[:group])

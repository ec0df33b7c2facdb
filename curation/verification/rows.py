"""Read rows: whole columns, or one row group at a time in a child process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pyarrow.parquet as pq

from curation.packaging.manifest import read_facts
from curation.verification.check import CheckBatch, CheckItem
from curation.verification.findings import Finding

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.verification.folder_contents import FolderContents, ParquetTable

#: The facts of a folder's manifest, which a child reads once.
facts = cache(read_facts)


def columns_of_tables(
    contents: FolderContents, tables: Iterable[ParquetTable], names: Sequence[str]
) -> pl.DataFrame:
    """Return columns of tables, with the folder and the split of each in front."""
    frames = [
        pl.read_parquet(contents.files[table.path], columns=list(names), glob=False)
        .with_columns(config=pl.lit(table.folder), split=pl.lit(table.split))
        .select("config", "split", *names)
        for table in tables
    ]
    none = pl.DataFrame(schema=dict.fromkeys(["config", "split", *names], pl.String))
    return pl.concat(frames or [none])


def row_batches(contents: FolderContents, names: Sequence[str]) -> Iterator[CheckBatch]:
    """Yield a batch for each row group of records, with an item for each row.

    Args:
        contents: The folder.
        names: The columns that are read; tables without one are left out.
    """
    for table in contents.records():
        if table.columns.issuperset(names):
            for group in range(table.metadata.num_row_groups):
                yield [
                    CheckItem(where=table.path, group=group, row=row)
                    for row in range(table.metadata.row_group(group).num_rows)
                ]


def without_columns(contents: FolderContents, names: Sequence[str]) -> list[Finding]:
    """Return the tables that `row_batches` leaves out."""
    return [
        Finding(where=table.path, detail=f"no column {', '.join(sorted(missing))}")
        for table in contents.records()
        if (missing := set(names) - table.columns)
    ]


def group_batches(tables: Iterable[ParquetTable]) -> Iterator[CheckBatch]:
    """Yield a batch for each row group, with one item."""
    for table in tables:
        for group in range(table.metadata.num_row_groups):
            yield [CheckItem(where=table.path, group=group)]


@lru_cache(maxsize=1)
def group_rows(path: Path, group: int, names: tuple[str, ...]) -> list[dict[str, Json]]:
    """Return columns of the rows of one row group; the last is remembered.

    Raises:
        pa.ArrowException: the file is damaged.
    """
    with pq.ParquetFile(path) as file:
        rows: list[dict[str, Json]] = file.read_row_group(
            group, columns=list(names)
        ).to_pylist()
    return rows

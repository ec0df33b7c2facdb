"""Read rows: whole columns, or one row group at a time in a child process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pyarrow.parquet as pq

from curation.packaging.manifest import BuildFacts, read_facts
from curation.verification.check import CheckBatch, CheckItem
from curation.verification.findings import Finding

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.verification.folder_contents import FolderContents, ParquetTable


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
    if not frames:
        frames = [
            pl.DataFrame(schema=dict.fromkeys(["config", "split", *names], pl.String))
        ]
    return pl.concat(frames)


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


def row_of(folder: Path, item: CheckItem, names: tuple[str, ...]) -> dict[str, Json]:
    """Return columns of the row of an item."""
    return {**group_rows(folder / item.where, item.group, names)[item.row]}


@cache
def facts(folder: Path) -> BuildFacts:
    """Return the facts of a folder's manifest, which are read once."""
    return read_facts(folder)

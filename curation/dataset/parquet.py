"""Records to parquet: the files that `datasets` and the Hub's viewer open.

Row groups are small and pages indexed, because the viewer reads a page of rows at
a time and refuses groups of much more than 2 MB. Nothing in a file depends on the
time, the machine or the order of the input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.benchmark import (
    OTHER_TABLE,
    SCHEMA_TABLE,
    SPLITS,
    holds_instances,
    natural_key,
)
from curation.core.records import Record
from curation.dataset.parquet_columns import columns_of, parquet_writer, table_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

#: Characters of schema text after which a row group ends. The Hub's viewer refuses
#: groups of over 2 MB or so; a single larger row is a group of its own.
ROW_GROUP_LENGTH = 1_500_000
#: Rows after which a row group ends.
ROW_GROUP_ROWS = 1_000
#: The columns of every file: `Record`'s fields in order.
COLUMNS = columns_of(Record)
#: Those that rarely repeat a value.
DISTINCT = frozenset(
    {
        "json_schema",
        "unique_id",
        "path",
        "sha256",
        "skeleton_sha256",
        "split_key",
        "cluster",
    }
)


def file_name(folder: str, split: str) -> str:
    """Return the path of a split's file inside a build, with `/`.

    `folder` is a config's, or that of its instances
    (`curation.core.benchmark.instances_folder`).
    """
    ending = OTHER_TABLE if holds_instances(folder) else SCHEMA_TABLE
    return f"{folder}/{split}-00000-of-00001{ending}"


def row_group_sizes(
    lengths: Iterable[int], *, most_length: int, most_rows: int
) -> Iterator[int]:
    """Yield the rows of each row group of a table.

    Args:
        lengths: Characters of each row's text, in order.
        most_length: Characters after which a group ends.
        most_rows: Rows after which a group ends.
    """
    rows = size = 0
    for length in lengths:
        if rows and (size + length > most_length or rows >= most_rows):
            yield rows
            rows = size = 0
        rows += 1
        size += length
    if rows:
        yield rows


def _groups(records: Sequence[Record]) -> Iterator[Sequence[Record]]:
    start = 0
    for rows in row_group_sizes(
        (len(record.json_schema) for record in records),
        most_length=ROW_GROUP_LENGTH,
        most_rows=ROW_GROUP_ROWS,
    ):
        yield records[start : start + rows]
        start += rows


def write_split(records: Iterable[Record], path: Path) -> None:
    """Write one file of records, sorted in natural order of their ids.

    No records give a file of columns without rows.

    Raises:
        OSError: the file cannot be written.
    """
    rows = sorted(records, key=lambda record: natural_key(record.unique_id))
    with parquet_writer(path, COLUMNS, distinct=DISTINCT) as writer:
        for group in _groups(rows):
            writer.write_table(table_of(group, COLUMNS), row_group_size=len(group))


def write_config(
    folder: Path, config: str, splits: Mapping[str, Iterable[Record]]
) -> tuple[str, ...]:
    """Write `<config>/<split>-00000-of-00001.parquet` for each of the splits.

    A split without records gets a file all the same.

    Args:
        folder: The dataset folder.
        config: The config's name.
        splits: Split to its records; they may come in any order.

    Returns:
        The paths written, relative to the folder, with `/`.

    Raises:
        OSError: a file cannot be written.
    """
    (folder / config).mkdir(parents=True, exist_ok=True)
    written = tuple(file_name(config, split) for split in SPLITS)
    for split, name in zip(SPLITS, written, strict=True):
        write_split(splits.get(split, ()), folder / name)
    return written

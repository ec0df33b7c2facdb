"""Records to parquet: the files that `datasets` and the Hub's viewer open.

Row groups are small and pages indexed, because the viewer reads a page of rows at
a time and refuses groups of much more than 2 MB. Nothing in a file depends on the
time, the machine or the order of the input.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from curation.core.benchmark import (
    OTHER_TABLE,
    SCHEMA_TABLE,
    SPLITS,
    holds_instances,
    natural_key,
    split_of,
)
from curation.core.records import Record
from curation.dataset.parquet_columns import columns_of, parquet_writer, table_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from types import TracebackType

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


def is_group_full(rows: int, size: int, most_length: int, most_rows: int) -> bool:
    """Return whether a row group ends before a row that is to be added.

    Args:
        rows: Rows that it has.
        size: Characters that it would have with the row to be added.
        most_length: Characters after which a group ends.
        most_rows: Rows after which a group ends.
    """
    return rows > 0 and (size > most_length or rows >= most_rows)


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
        if is_group_full(rows, size + length, most_length, most_rows):
            yield rows
            rows = size = 0
        rows += 1
        size += length
    if rows:
        yield rows


class SplitFile:
    """One file of records, written as they come; they come in the order of the file.

    At most one row group is held in memory.

    Example:
        >>> with SplitFile(Path("train-00000-of-00001.parquet")) as file:
        ...     file.add(record)
    """

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            OSError: it cannot be written.
        """
        self._writer = parquet_writer(path, COLUMNS, distinct=DISTINCT)
        self._group: list[Record] = []
        self._length = 0

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write what is left, unless something has failed, and close the file."""
        if kind is None:
            self._write_group()
        self._writer.close()

    def add(self, record: Record) -> None:
        """Write a record, after those that were added before.

        Raises:
            OSError: it cannot be written.
        """
        length = len(record.json_schema)
        rows, size = len(self._group), self._length + length
        if is_group_full(rows, size, ROW_GROUP_LENGTH, ROW_GROUP_ROWS):
            self._write_group()
        self._group.append(record)
        self._length += length

    def _write_group(self) -> None:
        if self._group:
            table = table_of(self._group, COLUMNS)
            self._writer.write_table(table, row_group_size=len(self._group))
        self._group, self._length = [], 0


def write_split(records: Iterable[Record], path: Path) -> None:
    """Write one file of records, sorted in natural order of their ids.

    No records give a file of columns without rows.

    Raises:
        OSError: the file cannot be written.
    """
    rows = sorted(records, key=lambda record: natural_key(record.unique_id))
    with SplitFile(path) as file:
        for record in rows:
            file.add(record)


def write_sorted(folder: Path, config: str, records: Iterable[Record]) -> None:
    """Write the files of a config, whose records come in natural order of their ids.

    They are the files of `write_config`, but only a row group of each is held.

    Args:
        folder: The dataset folder.
        config: The config's name.
        records: The records of all splits.

    Raises:
        OSError: a file cannot be written.
    """
    (folder / config).mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        files = {
            split: opened.enter_context(SplitFile(folder / file_name(config, split)))
            for split in SPLITS
        }
        for record in records:
            files[split_of(record.split_key)].add(record)


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

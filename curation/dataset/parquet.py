"""Write rows as parquet, for `datasets` and the Hub's viewer.

Row groups are small and pages indexed: the viewer reads a page of rows at a time and
refuses groups of much more than 2 MB. A file depends on its rows alone.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self, get_args, get_origin, get_type_hints

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from curation.core.benchmark import (
    CANARY,
    METADATA_KEY,
    SPLITS,
    assign_split,
)
from curation.core.records import BenchmarkRecord
from curation.system.errors import BadData
from curation.system.user_files import reading_parquet

#: Where pages are cut, and what `datasets` calls it in a file's metadata.
CHUNKING_KEY = "content_defined_chunking"
_CHUNKING = {"min_chunk_size": 2**18, "max_chunk_size": 2**20, "norm_level": 0}


def _arrow_type(annotation: object) -> pa.DataType:
    plain: dict[object, pa.DataType] = {
        str: pa.string(),
        int: pa.int64(),
        bool: pa.bool_(),
        float: pa.float64(),
    }
    if annotation in plain:
        return plain[annotation]
    arguments = get_args(annotation)
    if get_origin(annotation) is tuple:
        return pa.list_(_arrow_type(arguments[0]))
    if get_origin(annotation) is types.UnionType:
        (required,) = (
            argument for argument in arguments if argument is not types.NoneType
        )
        return _arrow_type(required)
    if isinstance(annotation, type) and issubclass(annotation, str):
        return pa.string()
    raise TypeError(annotation)


def make_columns(row_type: type, *, without: frozenset[str] = frozenset()) -> pa.Schema:
    """Return the columns of a dataclass: text, numbers, truth and tuples.

    Fields named in `without` are left out.

    Raises:
        TypeError: a field has a type that no column here can hold.
    """
    hints = get_type_hints(row_type)
    names = [field.name for field in fields(row_type) if field.name not in without]
    return pa.schema([(name, _arrow_type(hints[name])) for name in names])


def read_required(row_type: type) -> frozenset[str]:
    """Return the columns of a dataclass that have a value in every row."""
    hints = get_type_hints(row_type).items()
    return frozenset(
        name for name, hint in hints if types.NoneType not in get_args(hint)
    )


def make_table(rows: Iterable[object], columns: pa.Schema) -> pa.Table:
    """Return rows as an arrow table, in the order given."""
    values = list(rows)
    return table_of_columns(
        {name: [getattr(row, name) for row in values] for name in columns.names},
        columns,
    )


def table_of_columns(
    values: Mapping[str, Sequence[Any]], columns: pa.Schema
) -> pa.Table:
    """Return columns of values as an arrow table.

    Args:
        values: The values of each column; None is null.
        columns: The columns, with the types of `make_columns`.

    Raises:
        TypeError: a value does not have the type of its column.
        UnicodeEncodeError: a text has half of a surrogate pair.
    """
    # `pa.array` of a list would load pandas, half a second.
    values = {name: values[name] for name in columns.names}
    frame = pl.DataFrame(values, schema=pl.Schema(columns))
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(columns)


def parquet_writer(
    path: Path, columns: pa.Schema, *, distinct: frozenset[str]
) -> pq.ParquetWriter:
    """Open a parquet file whose bytes depend on its rows alone.

    Pages are indexed, and cut by content-defined chunking, so that a later edition
    shares most of its bytes with this one. The metadata holds canary and chunking.

    Args:
        path: The file.
        columns: Its columns.
        distinct: Names of columns that rarely repeat a value: they get no dictionary.

    Raises:
        OSError: the file cannot be written.
    """
    metadata = {METADATA_KEY: CANARY, CHUNKING_KEY: json.dumps(_CHUNKING)}
    return pq.ParquetWriter(
        path,
        columns.with_metadata(metadata),
        compression="zstd",
        use_dictionary=[name for name in columns.names if name not in distinct],
        use_content_defined_chunking=_CHUNKING,
        write_page_index=True,
    )


#: Bytes with which a file is full: it ends with the row group that reaches them. The
#: index of groups and pages after them takes a twentieth more, so that no file has
#: over 300 MB.
FULL_FILE = 250_000_000
#: Characters of schema text after which a row group ends. The Hub's viewer refuses
#: groups of over 2 MB or so; a single larger row is a separate group.
ROW_GROUP_LENGTH = 1_500_000
#: Rows after which a row group ends.
ROW_GROUP_ROWS = 1_000
#: The columns of every file: `BenchmarkRecord`'s fields in order.
COLUMNS = make_columns(BenchmarkRecord)
#: The part of a file's name after its split.
_COUNTED = re.compile(r"^[a-z]+-[0-9]{5}-of-[0-9]{5}\.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableForm:
    """The layout of one kind of table."""

    columns: pa.Schema
    #: Columns that rarely repeat a value.
    distinct: frozenset[str]
    #: Columns that have a value in every row.
    required: frozenset[str]
    #: The column whose characters count for a row group; empty if none does.
    text: str = ""
    #: Characters, and rows, after which a row group ends.
    most_length: int = 0
    most_rows: int = 0


#: Tables of records.
RECORDS = TableForm(
    columns=COLUMNS,
    distinct=frozenset(
        {
            "json_schema",
            "unique_id",
            "path",
            "sha256",
            "skeleton_sha256",
            "split_key",
            "cluster",
        }
    ),
    required=read_required(BenchmarkRecord),
    text="json_schema",
    most_length=ROW_GROUP_LENGTH,
    most_rows=ROW_GROUP_ROWS,
)


def refuse_other_columns(rows: pl.DataFrame, path: Path) -> None:
    """Refuse records with a column of another type, or without a required value.

    Columns may be missing, and there may be more; a number is a number.

    Raises:
        BadData: naming the column (exit 65).
    """
    types_ = pl.Schema(COLUMNS)
    for name in [name for name in types_ if name in rows.columns]:
        actual, right = rows.schema[name], types_[name]
        if actual != right and not (actual.is_numeric() and right.is_numeric()):
            raise BadData(f"the column {name} holds {actual}, not {right}", str(path))
        if name in RECORDS.required and rows[name].null_count():
            raise BadData(f"the column {name} lacks a value", str(path))


def refuse_columns(path: Path, form: TableForm) -> None:
    """Refuse a table that lacks a column or a value, or has a column of another type.

    Further columns are allowed.

    Raises:
        BadData: naming the table and the column (exit 65).
    """
    with reading_parquet(path):
        metadata = pq.read_metadata(path)
        columns = metadata.schema.to_arrow_schema()
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    lacking = {
        column.path_in_schema
        for group in groups
        for column in map(group.column, range(group.num_columns))
        if column.statistics and column.statistics.null_count
    }
    for name, right in zip(form.columns.names, form.columns.types, strict=True):
        types_ = [column.type for column in columns if column.name == name]
        if not types_:
            fault = f"lacks the column {name} of this version of csbdata"
        elif len(types_) > 1:
            fault = f"two columns have one name, {name}"
        elif types_[0] != right:
            fault = f"the column {name} holds {types_[0]}, not {right}"
        elif name in form.required & lacking:
            fault = f"the column {name} lacks a value"
        else:
            continue
        raise BadData(fault, str(path), "build again")


def file_name(folder: str, split: str, number: int = 0, files: int = 1) -> str:
    """Return the path of a file of a split inside a build, with `/`.

    Args:
        folder: The folder of a config, or of its instances
            (`curation.core.benchmark.instances_folder`).
        split: The split.
        number: Which of its files, from 0.
        files: How many it has.
    """
    return f"{folder}/{split}-{number:05d}-of-{files:05d}.parquet"


def split_files(folder: Path, inside: str, split: str) -> list[str]:
    """Return the existing files of a split, in order.

    Args:
        folder: The dataset folder.
        inside: The folder in it, as for `file_name`.
        split: The split.

    Returns:
        Paths inside the dataset folder, with `/`.
    """
    names = (path.name for path in (folder / inside).glob(f"{split}-*.parquet"))
    return [f"{inside}/{name}" for name in sorted(names) if _COUNTED.search(name)]


class SplitFiles:
    """A writer of the files of one split; rows come in their order.

    At most one row group is in memory. A split without rows has no file, since
    `datasets` cannot open one. Files get the names that count them in the end.

    Example:
        >>> with SplitFiles(Path("build"), "Snowplow", "train", RECORDS) as files:
        ...     files.add(record)
    """

    def __init__(self, folder: Path, inside: str, split: str, form: TableForm) -> None:
        """Note where the files go.

        Args:
            folder: The dataset folder.
            inside: The folder in it, as for `file_name`; it exists.
            split: The split.
            form: What its rows are.
        """
        self._folder, self._inside, self._split = folder, inside, split
        self._form = form
        self._group: list[object] = []
        self._length = 0
        self._files = 0
        self._writer: pq.ParquetWriter | None = None

    def _opened(self) -> pq.ParquetWriter:
        """Open the next file."""
        path = self._folder / file_name(self._inside, self._split, self._files)
        self._files += 1
        return parquet_writer(path, self._form.columns, distinct=self._form.distinct)

    def __enter__(self) -> Self:
        """Return the files."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Write the last row group and name the files, unless something has failed."""
        if kind is None:
            self._write_group()
        if self._writer is not None:
            self._writer.close()
        if kind is None and self._files > 1:
            for number in range(self._files):
                old, new = (
                    file_name(self._inside, self._split, number, files)
                    for files in (1, self._files)
                )
                (self._folder / old).rename(self._folder / new)

    def add(self, row: object) -> None:
        """Add a row.

        Raises:
            OSError: it cannot be written.
        """
        form, length = self._form, len(getattr(row, self._form.text))
        is_long = self._length + length > form.most_length
        if is_long or len(self._group) >= form.most_rows:
            self._write_group()
        self._group.append(row)
        self._length += length

    def _write_group(self) -> None:
        if self._group:
            if self._writer is None:
                self._writer = self._opened()
            elif self._writer.file_handle.tell() >= FULL_FILE:
                self._writer.close()
                self._writer = self._opened()
            table = make_table(self._group, self._form.columns)
            self._writer.write_table(table, row_group_size=len(self._group))
        self._group, self._length = [], 0


def write_sorted(folder: Path, config: str, records: Iterable[BenchmarkRecord]) -> None:
    """Write the files of a config, whose records come in natural order of their ids.

    One row group of each file is in memory.

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
            split: opened.enter_context(SplitFiles(folder, config, split, RECORDS))
            for split in SPLITS
        }
        for record in records:
            files[assign_split(record.split_key)].add(record)

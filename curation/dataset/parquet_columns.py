"""Frozen dataclasses as parquet columns: the class is the only description.

`Record` and the ledger's rows are written through here, so that a column can
neither be forgotten nor get another type when all its values are missing.
"""

from __future__ import annotations

import json
import types
from dataclasses import fields
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from curation.core.benchmark import METADATA_KEY, canary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

#: Where pages are cut, and what `datasets` calls it in a file's metadata.
CHUNKING_KEY = "content_defined_chunking"
_CHUNKING = {"min_chunk_size": 2**18, "max_chunk_size": 2**20, "norm_level": 0}
#: How the types of columns are called where their values are gathered.
_SERIES: dict[pa.DataType, type[pl.DataType]] = {
    pa.string(): pl.String,
    pa.int64(): pl.Int64,
    pa.int32(): pl.Int32,
    pa.bool_(): pl.Boolean,
}


def _arrow_type(annotation: object) -> pa.DataType:
    plain: dict[object, pa.DataType] = {
        str: pa.string(),
        int: pa.int64(),
        bool: pa.bool_(),
    }
    if annotation in plain:
        return plain[annotation]
    arguments = get_args(annotation)
    if get_origin(annotation) is tuple:
        return pa.list_(_arrow_type(arguments[0]))
    if get_origin(annotation) is types.UnionType:
        (one,) = (argument for argument in arguments if argument is not types.NoneType)
        return _arrow_type(one)
    if isinstance(annotation, type) and issubclass(annotation, str):
        return pa.string()
    raise TypeError(annotation)


def columns_of(row_type: type, *, without: frozenset[str] = frozenset()) -> pa.Schema:
    """Return the columns of a dataclass: text, integers, truth and tuples.

    Fields named in `without` are left out.

    Raises:
        TypeError: a field has a type that no column here can hold.
    """
    hints = get_type_hints(row_type)
    names = [field.name for field in fields(row_type) if field.name not in without]
    return pa.schema([(name, _arrow_type(hints[name])) for name in names])


def table_of(rows: Iterable[object], columns: pa.Schema) -> pa.Table:
    """Return rows as an arrow table, in the order given."""
    listed = list(rows)
    return table_of_columns(
        {name: [getattr(row, name) for row in listed] for name in columns.names},
        columns,
    )


def table_of_columns(
    values: Mapping[str, Sequence[Any]], columns: pa.Schema
) -> pa.Table:
    """Return columns of values as an arrow table.

    Args:
        values: The values of each column; None is null, but no list is.
        columns: The columns, of the types that `columns_of` gives.

    Raises:
        TypeError: a value does not have the type of its column.
        UnicodeEncodeError: a text has half of a surrogate pair.
    """
    arrays = [_array(values[field.name], field.type) for field in columns]
    return pa.Table.from_arrays(arrays, schema=columns)


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_list(kind):
        offsets = [0, *accumulate(map(len, values))]
        return pa.ListArray.from_arrays(
            _array(offsets, pa.int32()),
            _array(list(chain.from_iterable(values)), kind.value_type),
        )
    # `pa.array` of a list would load pandas, half a second.
    series = pl.Series(values=values, dtype=_SERIES[kind], strict=True)
    return series.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(kind)


def parquet_writer(
    path: Path, columns: pa.Schema, *, distinct: frozenset[str]
) -> pq.ParquetWriter:
    """Open a parquet file whose bytes depend on its rows alone.

    Pages are indexed, and cut where the content says (content-defined chunking), so
    that a later edition shares most of its bytes with this one. The file's metadata
    holds the canary, and how it was cut.

    Args:
        path: The file.
        columns: Its columns.
        distinct: Names of columns that rarely repeat a value: they get no dictionary.

    Raises:
        OSError: the file cannot be written.
    """
    metadata = {METADATA_KEY: canary(), CHUNKING_KEY: json.dumps(_CHUNKING)}
    return pq.ParquetWriter(
        path,
        columns.with_metadata(metadata),
        compression="zstd",
        use_dictionary=[name for name in columns.names if name not in distinct],
        use_content_defined_chunking=_CHUNKING,
        write_page_index=True,
    )

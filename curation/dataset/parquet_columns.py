"""Frozen dataclasses as parquet columns: the class is the only description.

`Record` and the ledger's rows are written through here, so that a column can
neither be forgotten nor get another type when all its values are missing.
"""

from __future__ import annotations

import json
import types
from dataclasses import fields
from typing import TYPE_CHECKING, get_args, get_origin, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from curation.core.canary import METADATA_KEY, canary

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

#: Where pages are cut, and what `datasets` calls it in a file's metadata.
CHUNKING_KEY = "content_defined_chunking"
_CHUNKING = {"min_chunk_size": 2**18, "max_chunk_size": 2**20, "norm_level": 0}


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
    values = {name: [getattr(row, name) for row in listed] for name in columns.names}
    return pa.table(values, schema=columns)


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

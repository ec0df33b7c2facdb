"""The schemas of parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from curation.core.json_types import Json
from curation.system.errors import BadData
from curation.system.user_files import reading_parquet

_SCHEMA, _ID = "json_schema", "unique_id"


def parquet_rows(
    file: Path | bytes, where: str, column: str = _SCHEMA
) -> Iterator[tuple[int, str | None, Json | bytes]]:
    """Yield number, id and value of each row; numbers count from 1.

    Args:
        file: The file, or its content.
        where: What messages call it.
        column: The column of the values; texts of `json_schema` are given as bytes.

    Raises:
        BadData: it is not parquet, or lacks the column.
    """
    source = pa.BufferReader(file) if isinstance(file, bytes) else file
    with reading_parquet(where), pyarrow.parquet.ParquetFile(source) as table:
        names = table.schema_arrow.names
        if column not in names:
            what = f"no column {column!r}"
            raise BadData(what, where, f"it has {', '.join(names)}")
        number = 0
        columns = [column, _ID] if _ID in names else [column]
        for batch in table.iter_batches(columns=columns):
            values = batch.column(column)
            if column == _SCHEMA:
                values = values.cast(pa.large_binary())
            ids = repeat(None)
            if _ID in names:
                ids = batch.column(_ID).cast(pa.large_string()).to_pylist()
            for value, unique_id in zip(values.to_pylist(), ids, strict=False):
                number += 1
                yield number, unique_id, value

"""The schemas of a user's parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from curation.core.json_types import Json
from curation.system.errors import BadData, NoInput
from curation.system.user_files import reading_parquet

_SCHEMA, _ID = "json_schema", "unique_id"


def column_values(tables: list[Path], column: str) -> Iterator[tuple[str | None, Json]]:
    """Yield the id and the value of each row.

    Raises:
        NoInput: a table lacks the column.
    """
    for table in tables:
        with reading_parquet(table), pyarrow.parquet.ParquetFile(table) as file:
            names = file.schema_arrow.names
            if column not in names:
                raise NoInput(
                    f"no column {column!r}", table.name, f"it has {', '.join(names)}"
                )
            columns = [column, _ID] if _ID in names else [column]
            for batch in file.iter_batches(columns=columns):
                values = batch.column(column).to_pylist()
                ids = _ids(batch) if _ID in names else repeat(None, len(values))
                yield from zip(ids, values, strict=True)


def _ids(batch: pa.RecordBatch) -> list[str | None]:
    ids: list[str | None] = batch.column(_ID).cast(pa.large_string()).to_pylist()
    return ids


def parquet_rows(content: bytes, path: str) -> Iterator[tuple[int, str | None, bytes]]:
    """Yield the same of a parquet file; a null schema is an empty text.

    Raises:
        BadData: it is not parquet, or lacks one of the two columns as text.
    """
    with reading_parquet(path):
        file = pyarrow.parquet.ParquetFile(pa.BufferReader(content))
        lacking = {_SCHEMA, _ID}.difference(file.schema_arrow.names)
        if lacking:
            raise BadData(f"lacks the column {min(lacking)}", path)
        number = 0
        for batch in file.iter_batches(columns=[_SCHEMA, _ID]):
            texts = batch.column(_SCHEMA).cast(pa.large_binary()).to_pylist()
            for text, unique_id in zip(texts, _ids(batch), strict=True):
                number += 1
                yield number, unique_id, text or b""

"""Read the rows of a table one row group at a time, in a child process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from curation.verification.check import CheckBatch, CheckItem

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.verification.folder_contents import ParquetTable


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

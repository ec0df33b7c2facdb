"""Digest the content of a dataset: what engines are asked, and nothing else.

Two builds with the same ids, schema texts, instances and labels have the same digest,
whatever other columns they hold.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import msgspec

from curation.dataset.editions import config_names, instance_tables
from curation.system.user_files import reading_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_OF_RECORDS: Final = ("unique_id", "json_schema", "dialect")
_OF_INSTANCES: Final = ("unique_id", "text", "valid", "kind", "keyword")


def content_digest(folder: Path) -> str:
    """Return the sha256 of a build's ids, schema texts, instances and labels.

    Raises:
        BadData: a table cannot be read.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - loads Arrow

    total = hashlib.sha256()
    for config, columns, paths in _tables(folder):
        total.update(f"{config} {' '.join(columns)}\n".encode())
        for path in paths:
            with reading_parquet(path), pq.ParquetFile(path) as file:
                kept = [name for name in columns if name in file.schema_arrow.names]
                for batch in file.iter_batches(columns=kept):
                    values = (batch.column(name).to_pylist() for name in kept)
                    for row in zip(*values, strict=True):
                        total.update(msgspec.json.encode(row))
    return total.hexdigest()


def content_rows(folder: Path) -> int:
    """Return how many records and instances a build has, from the files' footers.

    Raises:
        BadData: a table cannot be read.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - loads Arrow

    rows = 0
    for _, _, paths in _tables(folder):
        for path in paths:
            with reading_parquet(path):
                rows += pq.read_metadata(path).num_rows
    return rows


def _tables(folder: Path) -> Iterator[tuple[str, tuple[str, ...], list[Path]]]:
    """Yield the tables of records, and of instances, of each config."""
    for config in config_names(folder):
        yield config, _OF_RECORDS, sorted((folder / config).glob("*.parquet"))
        yield config, _OF_INSTANCES, sorted(instance_tables(folder, config))

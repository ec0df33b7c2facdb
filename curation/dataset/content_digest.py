"""Digest the content of a dataset: what engines are asked, and nothing else.

Two builds with the same ids, schema texts, instances and labels have the same digest,
whatever other columns they hold.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from curation.dataset.editions import config_names, instance_tables
from curation.system.user_files import reading_parquet

if TYPE_CHECKING:
    from pathlib import Path

_OF_RECORDS: Final = ("unique_id", "json_schema", "dialect")
_OF_INSTANCES: Final = ("unique_id", "text", "valid", "kind", "keyword")


def content_digest(folder: Path) -> str:
    """Return the sha256 of a build's ids, schema texts, instances and labels.

    Raises:
        BadData: a table cannot be read.
    """
    total = hashlib.sha256()
    for config in config_names(folder):
        tables = sorted((folder / config).glob("*.parquet"))
        for paths, columns in (
            (tables, _OF_RECORDS),
            (sorted(instance_tables(folder, config)), _OF_INSTANCES),
        ):
            total.update(f"{config} {' '.join(columns)}\n".encode())
            for path in paths:
                _add(total, path, columns)
    return total.hexdigest()


def _add(total: hashlib._Hash, path: Path, columns: tuple[str, ...]) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415 - loads Arrow

    with reading_parquet(path), pq.ParquetFile(path) as file:
        kept = [name for name in columns if name in file.schema_arrow.names]
        for batch in file.iter_batches(columns=kept):
            for row in zip(
                *(batch.column(name).to_pylist() for name in kept), strict=True
            ):
                for value in row:
                    text = repr(value).encode("utf-8", "surrogatepass")
                    total.update(b"%d:%b" % (len(text), text))

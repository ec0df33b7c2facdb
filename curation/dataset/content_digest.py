"""Digest the content of a dataset: what engines are asked, and nothing else.

Two builds with the same ids, schema texts, instances and labels have the same digests,
whatever other columns they hold. An edition of results keeps a digest of each record,
which shows which records of a later build are unchanged since.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import polars as pl

from curation.dataset.editions import config_names, instance_tables
from curation.system.user_files import reading_parquet

#: The table of an edition with the digests of the records measured.
DIGESTS = "digests.parquet"
#: The share of an edition's records that a dataset must have unchanged, for the results
#: to be shown as its own.
SHARE = 0.9
_RECORD = ["config", "id"]
_OF_RECORDS = ("unique_id", "json_schema", "dialect")
_OF_INSTANCES = ("unique_id", "text", "valid", "kind", "keyword")


def record_digests(folder: Path) -> pl.DataFrame:
    """Return a digest of each record's schema text, instances and labels.

    Returns:
        Columns `config`, `id` and `digest`: 16 hexadecimal digits of a sha256.

    Raises:
        BadData: a table cannot be read.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - loads Arrow

    digests: dict[tuple[str, str], hashlib._Hash] = {}
    for config, columns, paths in _tables(folder):
        for path in paths:
            with reading_parquet(path), pq.ParquetFile(path) as file:
                present = [name for name in columns if name in file.schema_arrow.names]
                for batch in file.iter_batches(columns=present):
                    values = (batch.column(name).to_pylist() for name in present)
                    for row in zip(*values, strict=True):
                        digest = digests.setdefault((config, row[0]), hashlib.sha256())
                        digest.update(msgspec.json.encode(row))
    rows = [(*key, digest.hexdigest()[:16]) for key, digest in digests.items()]
    typed = dict.fromkeys([*_RECORD, "digest"], pl.String)
    return pl.DataFrame(rows, schema=typed, orient="row")


def content_digest(digests: pl.DataFrame) -> str:
    """Return one sha256 of the digests of all records."""
    return hashlib.sha256(msgspec.json.encode(digests.rows())).hexdigest()


def unchanged_records(folder: Path, edition: Path) -> tuple[set[str], int]:
    """Return which records of a dataset an edition of results measured as they are.

    Args:
        folder: The dataset.
        edition: The edition's folder.

    Returns:
        The records, as `CONFIG/ID`, and how many the edition measured; none of 0 if it
        keeps no digests.

    Raises:
        BadData: a table cannot be read.
    """
    path = edition / DIGESTS
    if not path.exists():
        return set(), 0
    with reading_parquet(path):
        measured = pl.read_parquet(path)
    unchanged = measured.join(record_digests(folder), on=measured.columns, how="semi")
    return {f"{config}/{name}" for config, name, _ in unchanged.rows()}, measured.height


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
    """Yield the tables of records and instances by config."""
    for config in config_names(folder):
        yield config, _OF_RECORDS, sorted((folder / config).glob("*.parquet"))
        yield config, _OF_INSTANCES, sorted(instance_tables(folder, config))

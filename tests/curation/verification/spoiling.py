"""Spoiling a built folder in one place, and asking what a check says of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from curation.dataset.parquet import COLUMNS as RECORDS
from curation.dataset.parquet import parquet_writer
from curation.verification import verify_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pyarrow as pa

    from curation.core.json_types import UntypedJson
    from curation.verification import Verification
    from curation.verification.check import FolderCheck

TABLE = "Github_easy/train-00000-of-00001.parquet"


def rewrite(
    path: Path,
    change: Callable[[pl.DataFrame], pl.DataFrame],
    columns: pa.Schema = RECORDS,
) -> None:
    """Write a table again, of records by default, changed, as a build writes it."""
    table = change(pl.read_parquet(path)).to_arrow().cast(columns)
    with parquet_writer(path, columns, distinct=frozenset()) as writer:
        writer.write_table(table)


def set_cell(path: Path, column: str, value: str, row: int = 0) -> str:
    """Set one cell of a table; return the id of its row."""
    ids = pl.read_parquet(path)["unique_id"]

    def change(rows: pl.DataFrame) -> pl.DataFrame:
        chosen = pl.int_range(pl.len()) == row
        cell = pl.when(chosen).then(pl.lit(value)).otherwise(pl.col(column))
        return rows.with_columns(cell.alias(column))

    rewrite(path, change)
    return str(ids[row])


def edit_manifest(folder: Path, change: Callable[[UntypedJson], None]) -> None:
    """Change the manifest in place."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_bytes())
    change(manifest)
    path.write_text(json.dumps(manifest, indent=2))


def lines(found: Verification) -> list[str]:
    """Return the failures as lines."""
    return [str(each) for each in found.failures]


def said_by(check: FolderCheck, folder: Path) -> list[str]:
    """Return the failures that one check finds, as lines."""
    return lines(verify_folder(folder, checks=[check]))

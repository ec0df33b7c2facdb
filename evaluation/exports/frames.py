"""A run as two tables for other tools: one line a case, one line a walk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from curation.system.atomic_files import atomic_file

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.results.reader import RecordedRun


def write_parquet(run: RecordedRun, folder: Path) -> list[Path]:
    """Write `rows.parquet` and `walks.parquet`; returns the files.

    Raises:
        CannotCreate: the folder cannot be written.
    """
    written = []
    for name, frame in _frames(run):
        path = folder / f"{name}.parquet"
        with atomic_file(path) as temporary:
            frame.write_parquet(temporary)
        written.append(path)
    return written


def write_csv(run: RecordedRun, folder: Path) -> list[Path]:
    """Write `rows.csv` and `walks.csv`; lists are JSON, what is missing is empty.

    Raises:
        CannotCreate: the folder cannot be written.
    """
    written = []
    for name, frame in _frames(run):
        path = folder / f"{name}.csv"
        with atomic_file(path) as temporary:
            frame.with_columns(_as_json(frame)).write_csv(temporary)
        written.append(path)
    return written


def _frames(run: RecordedRun) -> list[tuple[str, pl.DataFrame]]:
    return [("rows", run.frame()), ("walks", run.walks())]


def _as_json(frame: pl.DataFrame) -> list[pl.Expr]:
    """Return the columns of lists as JSON text."""
    found = []
    for name, kind in frame.schema.items():
        if kind == pl.List(pl.String):
            struct = pl.struct(pl.col(name).alias("list")).struct.json_encode()
            found.append(struct.str.slice(len('{"list":')).str.head(-1).alias(name))
        elif isinstance(kind, pl.List):
            numbers = pl.col(name).cast(pl.List(pl.String)).list.join(",")
            found.append(pl.concat_str(pl.lit("["), numbers, pl.lit("]")).alias(name))
    return found

"""Tables of a run for other tools: one line a case, one line a walk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import polars as pl

from curation.system.atomic_files import atomic_file
from evaluation.core.cases import InstanceResult, Row, WalkVerdict
from evaluation.results.outcomes import engine_is_right, is_judged_apart, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.core.task import RunRows

# Cases of which walks are held in Python's own objects at a time.
_BATCH = 256

#: Columns of `case_frame`, one line a case.
CASE_COLUMNS: dict[str, Any] = {
    "engine": pl.String,
    "task": pl.String,
    "config": pl.String,
    "id": pl.String,
    "result": pl.String,
    "standing": pl.String,
    "phase": pl.String,
    "detail": pl.String,
    "warnings": pl.List(pl.String),
    "compile_ns": pl.Int64,
    "first_mask_ns": pl.Int64,
    "apply_ns": pl.Int64,
    "rss_bytes": pl.Int64,
    "quiet": pl.Boolean,
    # All below without walks that are apart: those of valid and of invalid texts,
    # and how many of them the engine was right about.
    "valid": pl.Int64,
    "valid_accepted": pl.Int64,
    "invalid": pl.Int64,
    "invalid_blocked": pl.Int64,
    "lied": pl.Int64,
    "contradicted": pl.Int64,
    "engine_error": pl.Int64,
    "not_run": pl.Int64,
    # Tokens that were walked, and the times of their masks and commits.
    "tokens": pl.Int64,
    "mask_ns": pl.Int64,
    "commit_ns": pl.Int64,
    "max_mask_ns": pl.Int64,
    "label": pl.String,
    "fingerprint": pl.String,
}
#: Columns of `walk_frame`, one line a walk; `walk` counts from 0 within its case.
WALK_COLUMNS: dict[str, Any] = {
    "engine": pl.String,
    "task": pl.String,
    "config": pl.String,
    "id": pl.String,
    "walk": pl.Int64,
    "valid": pl.Boolean,
    "verdict": pl.String,
    "right": pl.Boolean,
    "apart": pl.Boolean,
    "tokens": pl.Int64,
    "at": pl.Int64,
    "mask_ns": pl.List(pl.Int64),
    "commit_ns": pl.List(pl.Int64),
    "forced": pl.Int64,
    "detail": pl.String,
    "label": pl.String,
}


def case_frame(rows: Iterable[Row]) -> pl.DataFrame:
    """Return one line for each case (`CASE_COLUMNS`), without single times."""
    return pl.DataFrame(list(map(_case, rows)), schema=CASE_COLUMNS, orient="row")


def walk_frame(rows: Iterable[Row]) -> pl.DataFrame:
    """Return one line for each walk (`WALK_COLUMNS`), with all its times."""
    parts = [pl.DataFrame(schema=WALK_COLUMNS)]
    batch: list[tuple[Any, ...]] = []
    for count, row in enumerate(rows, start=1):
        batch += [_walk(row, index, walk) for index, walk in enumerate(row.walks)]
        if count % _BATCH == 0:
            parts.append(pl.DataFrame(batch, schema=WALK_COLUMNS, orient="row"))
            batch = []
    parts.append(pl.DataFrame(batch, schema=WALK_COLUMNS, orient="row"))
    return pl.concat(parts)


def _text(value: Mapping[str, Json]) -> str:
    return orjson.dumps(value).decode()


def _case(row: Row) -> tuple[Any, ...]:
    walks = [walk for walk in row.walks if not is_judged_apart(walk)]
    masks = [time for walked in walks for time in walked.mask_ns]
    commits = [sum(walked.commit_ns) for walked in walks if walked.commit_ns]
    return (
        row.engine,
        row.task,
        row.config,
        row.id,
        row.result.value,
        outcome_of(row).value,
        row.phase,
        row.detail,
        list(row.warnings),
        row.compile_ns,
        row.first_mask_ns,
        row.apply_ns,
        row.rss_bytes,
        row.quiet,
        *_judged(walks),
        len(masks),
        sum(masks) if masks else None,
        sum(commits) if commits else None,
        max(masks, default=None),
        _text(row.label),
        row.fingerprint,
    )


def _judged(walks: Iterable[InstanceResult]) -> tuple[int, ...]:
    judged = [(walk.valid, engine_is_right(walk), walk.verdict) for walk in walks]
    return (
        sum(valid for valid, _, _ in judged),
        sum(valid and good is True for valid, good, _ in judged),
        sum(not valid for valid, _, _ in judged),
        sum(not valid and good is True for valid, good, _ in judged),
        *(sum(verdict is counted for _, _, verdict in judged) for counted in _COUNTED),
    )


#: Verdicts that have a column of their own.
_COUNTED = (
    WalkVerdict.LIED,
    WalkVerdict.CONTRADICTED,
    WalkVerdict.ENGINE_ERROR,
    WalkVerdict.NOT_RUN,
)


def _walk(row: Row, index: int, walked: InstanceResult) -> tuple[Any, ...]:
    return (
        row.engine,
        row.task,
        row.config,
        row.id,
        index,
        walked.valid,
        walked.verdict.value,
        engine_is_right(walked),
        is_judged_apart(walked),
        walked.tokens,
        walked.at,
        list(walked.mask_ns),
        list(walked.commit_ns),
        walked.forced,
        walked.detail,
        _text(walked.label),
    )


def write_parquet(run: RunRows, folder: Path) -> list[Path]:
    """Write `rows.parquet` and `walks.parquet`; returns the files.

    Raises:
        CannotCreate: the folder cannot be written.
    """
    return _write(run, folder, "parquet", pl.DataFrame.write_parquet)


def write_csv(run: RunRows, folder: Path) -> list[Path]:
    """Write `rows.csv` and `walks.csv`; lists are JSON, what is missing is empty.

    Raises:
        CannotCreate: the folder cannot be written.
    """
    return _write(
        run,
        folder,
        "csv",
        lambda frame, path: frame.with_columns(_as_json(frame)).write_csv(path),
    )


def _write(
    run: RunRows,
    folder: Path,
    suffix: str,
    write: Callable[[pl.DataFrame, Path], None],
) -> list[Path]:
    frames = {"rows": run.frame(), "walks": run.walks()}
    paths = {name: folder / f"{name}.{suffix}" for name in frames}
    for name, frame in frames.items():
        with atomic_file(paths[name]) as temporary:
            write(frame, temporary)
    return list(paths.values())


def _as_json(frame: pl.DataFrame) -> list[pl.Expr]:
    columns = []
    for name, kind in frame.schema.items():
        if kind == pl.List(pl.String):
            struct = pl.struct(pl.col(name).alias("list")).struct.json_encode()
            columns.append(struct.str.slice(len('{"list":')).str.head(-1).alias(name))
        elif isinstance(kind, pl.List):
            numbers = pl.col(name).cast(pl.List(pl.String)).list.join(",")
            columns.append(pl.concat_str(pl.lit("["), numbers, pl.lit("]")).alias(name))
    return columns

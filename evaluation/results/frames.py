"""Tables of a run for other tools: one line a case, one line a walk."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

import orjson
import polars as pl

from curation.system.atomic_files import atomic_file
from evaluation.core.cases import InstanceResult, Row, WalkVerdict
from evaluation.results.outcomes import engine_is_right, is_judged_apart, outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from evaluation.core.task import RunRows

# Cases of which walks are held in Python's own objects at a time.
_BATCH = 256

#: Columns of `case_frame`, one line a case.
CASE_COLUMNS: dict[str, Any] = {
    "engine": pl.String,
    "task": pl.String,
    "config": pl.String,
    "id": pl.String,
    "weight": pl.Float64,
    "result": pl.String,
    "standing": pl.String,
    "phase": pl.String,
    "detail": pl.String,
    "warnings": pl.List(pl.String),
    "compile_ns": pl.Int64,
    "first_mask_ns": pl.Int64,
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
    return pl.DataFrame(list(map(_case, rows)), schema=CASE_COLUMNS)


def walk_frame(rows: Iterable[Row]) -> pl.DataFrame:
    """Return one line for each walk (`WALK_COLUMNS`), with all its times."""
    parts = [pl.DataFrame(schema=WALK_COLUMNS)]
    batch: list[dict[str, Any]] = []
    for count, row in enumerate(rows, start=1):
        batch += [_walk(row, index, walk) for index, walk in enumerate(row.walks)]
        if count % _BATCH == 0:
            parts.append(pl.DataFrame(batch, schema=WALK_COLUMNS))
            batch = []
    parts.append(pl.DataFrame(batch, schema=WALK_COLUMNS))
    return pl.concat(parts)


def _case(row: Row) -> dict[str, Any]:
    walks = [walk for walk in row.walks if not is_judged_apart(walk)]
    masks = [time for walked in walks for time in walked.mask_ns]
    commits = [sum(walked.commit_ns) for walked in walks if walked.commit_ns]
    return {
        **_members(row, CASE_COLUMNS),
        "standing": outcome_of(row).value,
        **_judged(walks),
        "tokens": len(masks),
        "mask_ns": sum(masks) if masks else None,
        "commit_ns": sum(commits) if commits else None,
        "max_mask_ns": max(masks, default=None),
    }


def _members(holder: Row | InstanceResult, columns: Iterable[str]) -> dict[str, Any]:
    """Return what of a row or a walk stands in a column of its name."""
    return {
        name: _plain(getattr(holder, name)) for name in columns if hasattr(holder, name)
    }


def _plain(value: object) -> object:
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, dict):
        return orjson.dumps(value).decode()
    return list(value) if isinstance(value, tuple) else value


def _judged(walks: Iterable[InstanceResult]) -> dict[str, int]:
    judged = [(walk.valid, engine_is_right(walk), walk.verdict) for walk in walks]
    return {
        "valid": sum(valid for valid, _, _ in judged),
        "valid_accepted": sum(valid and good is True for valid, good, _ in judged),
        "invalid": sum(not valid for valid, _, _ in judged),
        "invalid_blocked": sum(not valid and good is True for valid, good, _ in judged),
        **{
            counted.value: sum(verdict is counted for _, _, verdict in judged)
            for counted in _COUNTED
        },
    }


#: Verdicts that have a column of their own.
_COUNTED = (
    WalkVerdict.LIED,
    WalkVerdict.CONTRADICTED,
    WalkVerdict.ENGINE_ERROR,
    WalkVerdict.NOT_RUN,
)


def _walk(row: Row, index: int, walked: InstanceResult) -> dict[str, Any]:
    return {
        **_members(row, ("engine", "task", "config", "id")),
        **_members(walked, WALK_COLUMNS),
        "walk": index,
        "right": engine_is_right(walked),
        "apart": is_judged_apart(walked),
    }


def write_parquet(run: RunRows, folder: Path) -> list[Path]:
    """Write `rows.parquet` and `walks.parquet`; returns the files.

    Raises:
        CannotCreate: the folder cannot be written.
    """
    frames = {"rows": run.frame(), "walks": run.walks()}
    paths = [folder / f"{name}.parquet" for name in frames]
    for path, frame in zip(paths, frames.values(), strict=True):
        with atomic_file(path) as temporary:
            frame.write_parquet(temporary)
    return paths

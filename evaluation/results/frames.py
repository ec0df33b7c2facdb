"""The table of texts: an engine's result on each text of a case, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
import polars as pl

from curation.system.atomic_files import atomic_file
from evaluation.results.outcomes import engine_is_right, is_judged_apart, number_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from evaluation.core.cases import StoredTexts
    from evaluation.core.task import RunRows

# Cases of which texts are held in Python's own objects at a time.
_BATCH: Final = 256

#: The columns of the table, one line a text; `walk` counts from 0 within its case.
TEXT_COLUMNS: Final[dict[str, Any]] = {
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
    "masks": pl.Int64,
    "at": pl.Int64,
    "forced": pl.Int64,
    # The keyword that alone refuses an invalid text.
    "keyword": pl.String,
    # `evaluation.core.cases.Why` of a wrong text; and its schema's characters.
    "stands": pl.String,
    "governor": pl.String,
    "setting": pl.String,
    "context": pl.String,
    "size": pl.Int64,
}
#: Exported columns, including some that no table of a report shows.
WALK_COLUMNS: Final[dict[str, Any]] = {
    **TEXT_COLUMNS,
    "detail": pl.String,
    "label": pl.String,
    "mask_ns": pl.List(pl.Int64),
    "commit_ns": pl.List(pl.Int64),
}


def walk_frame(cases: Iterable[StoredTexts], *, times: bool = True) -> pl.DataFrame:
    """Return one line for each text of cases: `WALK_COLUMNS`, or `TEXT_COLUMNS`."""
    columns = WALK_COLUMNS if times else TEXT_COLUMNS
    parts = [pl.DataFrame(schema=columns)]
    batch: list[dict[str, Any]] = []
    for count, case in enumerate(cases, start=1):
        batch += _lines(case, times=times)
        if count % _BATCH == 0:
            parts.append(pl.DataFrame(batch, schema=columns))
            batch = []
    return pl.concat([*parts, pl.DataFrame(batch, schema=columns)])


def _lines(case: StoredTexts, *, times: bool) -> Iterator[dict[str, Any]]:
    for index, walk in enumerate(case.walks):
        line = {
            "engine": case.engine,
            "task": case.task,
            "config": case.config,
            "id": case.id,
            "walk": index,
            "valid": walk.valid,
            "verdict": walk.verdict.value,
            "right": engine_is_right(walk),
            "apart": is_judged_apart(walk),
            "tokens": walk.tokens,
            "masks": _count(walk.mask_ns),
            "at": walk.at,
            "forced": walk.forced,
            "keyword": str(walk.label.get("keyword") or ""),
            "stands": walk.why.stands if walk.why else None,
            "governor": walk.why.keyword if walk.why else None,
            "setting": walk.why.setting if walk.why else None,
            "context": walk.why.context if walk.why else None,
            "size": number_in(case, "size", 0),
        }
        if times:
            line |= {
                "detail": walk.detail,
                "label": msgspec.json.encode(walk.label).decode(),
                "mask_ns": msgspec.json.decode(walk.mask_ns, type=list[int]),
                "commit_ns": msgspec.json.decode(walk.commit_ns, type=list[int]),
            }
        yield line


def _count(array: msgspec.Raw) -> int:
    """Return the number of integers in a JSON array of them."""
    text = bytes(array)
    return text.count(b",") + (text != b"[]")


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

"""The table of texts: an engine's result on each text of a case, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from evaluation.results.outcomes import engine_is_right, is_judged_apart, number_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import msgspec

    from evaluation.core.cases import StoredTexts

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


def walk_frame(cases: Iterable[StoredTexts]) -> pl.DataFrame:
    """Return one line for each text of cases: `TEXT_COLUMNS`."""
    parts = [pl.DataFrame(schema=TEXT_COLUMNS)]
    batch: list[dict[str, Any]] = []
    for count, case in enumerate(cases, start=1):
        batch += _lines(case)
        if count % _BATCH == 0:
            parts.append(pl.DataFrame(batch, schema=TEXT_COLUMNS))
            batch = []
    return pl.concat([*parts, pl.DataFrame(batch, schema=TEXT_COLUMNS)])


def _lines(case: StoredTexts) -> Iterator[dict[str, Any]]:
    for index, walk in enumerate(case.walks):
        yield {
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


def _count(array: msgspec.Raw) -> int:
    """Return the number of integers in a JSON array of them."""
    text = bytes(array)
    return text.count(b",") + (text != b"[]")

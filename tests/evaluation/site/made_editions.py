"""Editions and datasets made up for the site's tests: small, and hostile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec
import polars as pl

from curation.dataset.content_digest import DIGESTS, record_digests
from evaluation.results.edition import (
    COLUMNS,
    INDEX,
    ROWS,
    TASKS,
    Line,
    TaskFigures,
    read_index,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_PUBLISHED: Final = Path(__file__).parents[3] / "results" / "2026.11"
#: Markup, quotes, a terminal's sequence, a mark that turns text around, a long run.
EVIL: Final = "<script>alert(1)</script>\"'</pre>{{ 7*7 }}\x1b[2J\u202e" + "A" * 200


def line(
    engine: str, id_: str, outcome: str = "passed", **columns: str | int | None
) -> Line:
    """Return a line of task masks, or of another with `task`."""
    taken = outcome not in {"compile_error", "crash"}
    return {
        **dict.fromkeys(COLUMNS),
        "engine": engine,
        "task": "masks",
        "config": "Github_easy",
        "id": id_,
        "outcome": outcome,
        "compiled": taken,
        "passed": outcome == "passed",
        "phase": "" if taken else "compile",
        "valid": 2,
        "valid_accepted": 2,
        "invalid": 3,
        "invalid_blocked": 3,
        "wrong": "",
        "why": "",
        "compile_ns": 1_000_000,
        "first_mask_ns": 50_000 if taken else None,
        "between_ns": 9_000 if taken else None,
        "tokens": 9 if taken else 0,
        "quiet": True,
        "weight": 1.0,
        "message": "" if taken else "abc",
        "case": f"{engine}{id_}",
        **columns,
    }


def write_dataset(folder: Path) -> Path:
    """Write a dataset of one config: two hostile records, one with a megabyte."""
    schemas = {
        "o0": {"title": EVIL, "default": "A" * 1_000_000},
        EVIL: {EVIL: EVIL, "__proto__": {}},
    }
    rows = {
        "unique_id": list(schemas),
        "json_schema": [json.dumps(schema) for schema in schemas.values()],
        "features": [["enum"], []],
        "fits": [["sglang"], []],
        "fits_but_for": [[], ["gemini: `enum`"]],
        "lints": [[EVIL], []],
        "path": [EVIL, EVIL],
    }
    texts = {
        "unique_id": ["o0", "o0"],
        "text": [json.dumps(EVIL), '"' + "B" * 1_000_000 + '"'],
        "valid": [True, False],
        "kind": ["minimal", EVIL],
        "keyword": ["", EVIL],
        "schema_pointer": ["", f"/{EVIL}"],
    }
    for place, columns in {
        "Github_easy/test-00000-of-00001.parquet": rows,
        "instances/Github_easy/test-00000-of-00001.parquet": texts,
    }.items():
        (folder / place).parent.mkdir(parents=True)
        pl.DataFrame(columns).write_parquet(folder / place)
    return folder


def write_edition(
    folder: Path, lines: Sequence[Line], measured: Path | None = None
) -> Path:
    """Write an edition of these lines, with the conditions of the published one.

    Args:
        folder: The edition.
        lines: Its rows.
        measured: The dataset that it measured.
    """
    index = read_index(_PUBLISHED)
    engines = []
    for engine in sorted({line["engine"] for line in lines}):
        own = [line for line in lines if line["engine"] == engine]
        tasks: dict[str, TaskFigures | Literal["not run"]] = {}
        for task in TASKS:
            rows = [line for line in own if line["task"] == task]
            tasks[task] = TaskFigures.of_rows(rows) if rows else "not run"
        names = dict.fromkeys(("engine", "name", "spec"), engine)
        entry = msgspec.structs.replace(index.engines[0], **names, tasks=tasks)
        engines.append(entry)
    index = msgspec.structs.replace(index, edition="tiny", engines=engines)
    (folder / INDEX).parent.mkdir(parents=True, exist_ok=True)
    (folder / INDEX).write_bytes(msgspec.json.encode(index))
    schema = {name: kind for name, (kind, _) in COLUMNS.items()}
    pl.DataFrame(list(lines), schema=schema).write_parquet(folder / ROWS)
    if measured:
        record_digests(measured).write_parquet(folder / DIGESTS)
    return folder

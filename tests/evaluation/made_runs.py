"""Runs made up for tests: no engine, no clock, the same bytes for the same seed."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

from evaluation.core.cases import InstanceResult, Result, Row, WalkVerdict
from evaluation.core.run_header import RunHeader
from evaluation.results.attempts import ATTEMPTS, make_line
from evaluation.results.reader import HEADER
from evaluation.tasks import tasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from curation.core.json_types import UntypedJson

#: What `write_run` puts into `run.json`.
HEAD: Mapping[str, UntypedJson] = {
    "csbdata": "0.1.0",
    "engines": [{"engine": "alpha 1.0"}, {"engine": "beta 2.0"}],
    "tasks": ["masks"],
    "seed": 0,
}


def accepted(
    mask_ns: int = 50_000, *, valid: bool = True, tokens: int = 4
) -> InstanceResult:
    """Return a walk that came to its end."""
    return InstanceResult(
        verdict=WalkVerdict.ACCEPTED,
        valid=valid,
        tokens=tokens,
        mask_ns=(mask_ns,) * tokens,
        commit_ns=(1_000,) * tokens,
    )


def blocked(
    at: int = 2, mask_ns: int = 50_000, *, valid: bool = False, tokens: int = 4
) -> InstanceResult:
    """Return a walk that was stopped."""
    return InstanceResult(
        verdict=WalkVerdict.BLOCKED,
        valid=valid,
        tokens=tokens,
        at=at,
        mask_ns=(mask_ns,) * (at + 1),
        commit_ns=(1_000,) * at,
    )


def row(**given: UntypedJson) -> Row:
    """Return a row that passes, with the fields given."""
    default: dict[str, Any] = {
        "engine": "alpha 1.0",
        "task": "masks",
        "id": "o1",
        "config": "Github_easy",
        "result": Result.OK,
        "compile_ns": 2_000_000,
        "first_mask_ns": 70_000,
        "rss_bytes": 90 << 20,
        "quiet": True,
    }
    if given.get("result", Result.OK) is Result.OK and "walks" not in given:
        default["walks"] = (accepted(), blocked())
    return Row(**(default | given))


def line(row: Row) -> bytes:
    """Return a row as its line in a run's file."""
    task = tasks().get(row.task)
    return make_line(row, RunHeader(), task.passes if task else None) + b"\n"


def write_run(
    folder: Path,
    rows: Iterable[Row],
    header: Mapping[str, UntypedJson] = HEAD,
    *,
    tail: bytes = b"",
) -> Path:
    """Write a run's folder; `tail` is what comes after the rows as it is.

    It is one that came to its end, unless the header says otherwise of `finished`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = list(rows)
    (folder / HEADER).write_bytes(orjson.dumps({"finished": finished(rows), **header}))
    (folder / ATTEMPTS).write_bytes(b"".join(map(line, rows)) + tail)
    return folder


def finished(rows: Iterable[Row]) -> Mapping[str, UntypedJson]:
    """Return what the header says at the end of a run with these rows."""
    counts = Counter((row.engine, row.task) for row in rows)
    return {
        "parts": [
            {"engine": engine, "task": task, "rows": count}
            for (engine, task), count in counts.items()
        ]
    }


def many(
    engine: str, count: int, seed: int = 0, *, speed: float = 1.0, broken: float = 0.1
) -> list[Row]:
    """Return rows of one engine over `count` schemas; a share of them is broken.

    Schemas with the same number are alike for every engine: hard ones take longer.
    """
    made = []
    for number in range(count):
        hard = random.Random(number).lognormvariate(0, 1)
        draw = random.Random(f"{engine} {seed} {number}")
        base: dict[str, Any] = {"engine": engine, "id": f"o{number}"}
        if draw.random() < broken:
            made.append(row(**base, **_trouble(draw)))
            continue
        mask_ns = int(speed * hard * 40_000 * draw.uniform(0.9, 1.1))
        enforced = draw.random() > broken
        walks = (
            accepted(mask_ns),
            blocked(mask_ns=mask_ns) if enforced else accepted(mask_ns, valid=False),
        )
        compile_ns = int(speed * hard * 1e6 * draw.uniform(0.9, 1.1))
        made.append(row(**base, walks=walks, compile_ns=compile_ns))
    return made


def _trouble(draw: random.Random) -> dict[str, Any]:
    lost: dict[str, Any] = {"compile_ns": None, "first_mask_ns": None, "walks": ()}
    return draw.choice(
        [
            lost
            | {
                "result": Result.COMPILE_ERROR,
                "phase": "compile",
                "detail": "Unimplemented keys: not",
                "compile_ns": 90_000,
            },
            lost
            | {
                "result": Result.TIMEOUT,
                "phase": "compile",
                "detail": "no answer within 40 s",
            },
            lost | {"result": Result.CRASH, "phase": "compile", "detail": "SIGSEGV"},
        ]
    )

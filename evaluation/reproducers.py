"""A small file, and the command that shows one failure again."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from evaluation.units import Result, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from curation.documents import Json
    from evaluation.driver import Plan
    from evaluation.lineup import Entrant
    from evaluation.run_folder import RunFolder
    from evaluation.units import Row, Unit

_SEVERE = frozenset(Result) - {Result.OK, Result.COMPILE_ERROR}


def worth_one(row: Row) -> bool:
    """Tell whether a row is an engine's defect, rather than its answer."""
    return row.result in _SEVERE or any(
        each.verdict is Verdict.LIED for each in row.walks
    )


def write_reproducer(
    row: Row, unit: Unit, entrant: Entrant, plan: Plan, out: RunFolder
) -> Path:
    """Write a file in MaskBench's form, with the command that runs it.

    Raises:
        CannotCreate: it cannot be written.
    """
    name = f"{entrant.file.name}-{row.fingerprint[:16]}"
    path = out.reproducer(name)
    content = {
        "description": f"{row.engine}: {row.result} {row.detail}".strip(),
        "schema": json.loads(unit.schema),
        "tests": [_test(each.text, valid=each.valid) for each in unit.walks],
        "csbdata": {
            "command": shlex.join(command(entrant, plan, str(path))),
            "task": row.task,
            "config": row.config,
            "id": row.id,
            "result": row.result,
            "phase": row.phase,
            "detail": row.detail,
            "printed": row.warnings,
        },
    }
    return out.write_reproducer(path, content)


def command(entrant: Entrant, plan: Plan, data: str) -> list[str]:
    """Return the command that puts one file to one engine as this run does."""
    bounds = plan.bounds
    words = ["csbdata", "eval", "--engine", entrant.file.spec]
    words += ["--preset", entrant.preset]
    for name, text in entrant.assigned.items():
        words += ["--option", f"{name}={text}"]
    words += ["--tokenizer", plan.tokenizer.name, "--task", "masks", "--data", data]
    words += ["--compile-seconds", f"{bounds.compile_seconds:g}"]
    words += ["--run-seconds", f"{bounds.run_seconds:g}"]
    words += ["--memory", str(bounds.memory_mb)]
    return words


def _test(text: str, *, valid: bool) -> dict[str, Json]:
    try:
        return {"valid": valid, "text": text, "data": json.loads(text)}
    except ValueError:
        return {"valid": valid, "text": text}

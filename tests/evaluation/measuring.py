"""A run in a few lines, for the tests that need one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.download.acquire import FetchSettings
from evaluation.core.cases import Instance, Sample
from evaluation.core.task import Settings
from evaluation.execution.engine_worker import Bounds
from evaluation.execution.header import header
from evaluation.execution.plan import Plan
from evaluation.execution.run_folder import open_run_folder
from evaluation.execution.runner import run
from evaluation.results.reader import open_run
from evaluation.setup.selected_engines import select_engines
from evaluation.tasks.registry import task_named
from evaluation.tokenizers import get_tokenizer
from tests.evaluation.tokenizers import made

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.execution.plan import RunTotals
    from evaluation.results.reader import Run
    from evaluation.tokenizers import TokenizerFiles

MINIATURES = Path(__file__).with_name("miniatures")
#: Enough for what ends by itself, short enough for what does not.
BRISK = Bounds(compile_seconds=1.0, run_seconds=1.0, memory_mb=192)


def miniature(name: str) -> str:
    """Return what to write after `--engine` for a miniature."""
    return str(MINIATURES / f"{name}.py")


def tokenizer(folder: Path, *, padding: int = 0) -> TokenizerFiles:
    """Return a tiny tokenizer, kept below a folder."""
    settings = FetchSettings(mirror=None, cache=folder / "cache", offline=True)
    path = made.byte_level(folder / "tokenizer", padding=padding)
    return get_tokenizer(str(path), settings)


def subject(title: str, *texts: str, valid: bool = True) -> Sample:
    """Return a subject whose schema has that title; miniatures act on it."""
    return Sample(
        id=title,
        config="Made",
        split="",
        schema=f'{{"title": "{title}"}}',
        dialect="2020-12",
        instances=tuple(
            Instance(text=each, valid=valid, kind="made") for each in texts
        ),
    )


def plan_of(folder: Path, subjects: Sequence[Sample], **fields: Any) -> Plan:  # noqa: ANN401 (fields of the plan)
    """Return a plan of task `masks` over a tiny tokenizer."""
    settings = fields.pop("settings", Settings())
    return Plan(
        tasks=[task_named(each) for each in fields.pop("tasks", ("masks",))],
        subjects=lambda: subjects,
        tokenizer=tokenizer(folder, padding=fields.pop("padding", 0)),
        settings=settings,
        **{"bounds": BRISK, **fields},
    )


def measured(
    folder: Path,
    engines: Sequence[str],
    plan: Plan,
    options: Sequence[str] = (),
) -> tuple[RunTotals, Run]:
    """Run a plan and open what it has written."""
    entrants = select_engines(engines, "faithful", options)
    head = header(entrants, plan, {"name": "made", "sha256": "0" * 64}, None)
    with open_run_folder(folder / "run", head) as out:
        tally = run(entrants, plan, out)
    return tally, open_run(folder / "run")

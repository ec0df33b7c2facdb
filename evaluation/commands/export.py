"""`csbdata export lm-eval`: a suite in the layout of lm-evaluation-harness."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.commands.export import export
from curation.commands.options import path_argument
from curation.system.terminal import log, say_command
from evaluation.commands.options import LimitOption  # noqa: TC001 - typer reads it


@export.command("lm-eval")
def lm_eval(
    name: Annotated[str, typer.Argument(metavar="SUITE[@paper]", help="A suite.")],
    folder: Annotated[
        Path,
        path_argument("DIR", "The folder to write."),
    ],
    data: Annotated[
        str | None, typer.Option(metavar="DATA", help="The records, as of suite run.")
    ] = None,
    limit: LimitOption = None,
) -> None:
    """Write a suite as a task of lm-evaluation-harness: YAML, records and a judge.

    Example: csbdata export lm-eval sob tasks --data own

    The environment of the harness needs csbdata. For Inspect no file is needed:
    inspect eval csbdata/SUITE.
    """
    from evaluation.adapters.lm_eval_tasks import write_task
    from evaluation.adapters.suite_records import open_suite

    compat = "paper" if name.endswith("@paper") else ""
    opened = open_suite(name.removesuffix("@paper"), data, limit, compat)
    task = write_task(opened, folder)
    log(f"{len(opened.records):,} records in {folder}")
    say_command("Next", f"lm_eval --model MODEL --tasks {task} --include_path {folder}")


__all__ = ["export"]

"""`csbdata eval`: put schemas and instances to engines, one row a case."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.commands.options import with_option_groups
from curation.system.errors import BadUsage, Unavailable
from curation.system.progress import progress_for
from curation.system.terminal import log, say_command
from curation.system.words import command, counted
from evaluation.commands.options import (
    RunFolderOption,
    RunOptions,
    SetOption,
    read_assignments,
    run_request,
    split_settings,
    with_settings,
)
from evaluation.commands.show_run import print_run, say_unfinished
from evaluation.reporting.printing import ReportFormat, ReportFormatOption

if TYPE_CHECKING:
    from evaluation.results.reader import RecordedRun
    from evaluation.runner.request import RunRequest, RunResult


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """Tasks."""

    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK",
            help="Repeatable [default: masks; where the libraries that run models are "
            "installed, coverage and efficiency too; on a server these two alone].",
        ),
    ] = None
    tokenizer: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            hidden=True,
            help="smollm2, llama3.1, a Hub id, a path, or bytes: the "
            "bytes alone, for trials.",
        ),
    ] = "smollm2"
    compat: Annotated[
        str,
        typer.Option(
            metavar="[paper]",
            help="As 2501.10868 did: its model, prompt, limits, test split, presets, "
            "forced tokens, 2020-12; explicit options and settings win.",
        ),
    ] = ""


@with_settings
@with_option_groups
def evaluate(  # noqa: PLR0913 (groups of options)
    *,
    context: typer.Context,
    tasks: TaskOptions,
    options: RunOptions,
    value: SetOption = None,
    run_dir: RunFolderOption = None,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Measure which schemas engines compile and enforce, and their times.

    masks, probe and test-suite need no model; in coverage
    and efficiency a model writes, on a GPU if present. An engine runs in a separate
    process with deadlines and a memory limit; every outcome becomes a row of the
    run's folder. Rerun the command to resume. Tables go to stdout.

    \b
    Examples:
      csbdata eval --engine llguidance --engine none --limit 50
      csbdata eval --engine ./my_engine.py --data my.schema.json
      csbdata eval --engine llguidance --task test-suite --set drafts=2020-12
      csbdata eval --engine llguidance --compat paper --device cuda
      csbdata eval --engine strict --model vllm:qwen

    Exits with 69 if an engine could not be run; the others are measured.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from evaluation.runner.run import run

    request = _request(context, tasks, options, value, run_dir)
    result = run(request, progress_for(format_))
    _print(result, format_)
    lacking = result.totals.unavailable
    if lacking:
        raise Unavailable(
            f"not every engine of this run could be run: {', '.join(lacking)}",
            hint="see the message above",
        )


def _request(
    context: typer.Context,
    tasks: TaskOptions,
    options: RunOptions,
    value: list[str] | None,
    run_dir: Path | None,
) -> RunRequest:
    """Return the request of a command line; `--compat` leaves explicit options."""
    if tasks.compat not in ("", "paper"):
        raise BadUsage(f"--compat {tasks.compat!r}: there is only paper")
    settings, values = split_settings(value)
    drafts = values.get("drafts")
    if drafts is not None and not isinstance(drafts, list):
        values["drafts"] = [*str(drafts).split(",")]
    request = run_request(
        options,
        settings=settings,
        values=values,
        run_dir=run_dir,
        tasks=tasks.task or _default_tasks((options.model or ["smollm2"])[0]),
        tokenizer=tasks.tokenizer,
    )
    if not tasks.compat:
        return request
    explicit = {
        name
        for name in context.params
        if (source := context.get_parameter_source(name)) is not None
        and source.name != "DEFAULT"
    }
    return request.as_paper(explicit | set(read_assignments(value)))


def _default_tasks(model: str) -> list[str]:
    """Return the tasks of a command line without any, by the installed libraries."""
    from evaluation.models.store import INSTALL, missing_libraries
    from evaluation.servers.provider import is_served
    from evaluation.tasks import tasks

    measuring = [task for task in tasks().values() if task.needs_data]
    without = [task.name for task in measuring if not task.needs_model]
    writing = [task.name for task in measuring if task.needs_model]
    if is_served(model):
        return writing
    if not missing_libraries():
        return [*without, *writing]
    say_command(f"left out: {' and '.join(writing)}; a model writes there", INSTALL)
    return without


def _faults(run: RecordedRun) -> list[str]:
    """Return the faults of engines given by their files: people write these."""
    files = [
        engine.engine
        for engine in run.header.engines
        if (engine.spec or "").endswith(".py")
        if (engine.engine, "masks") in run.row_counts
    ]
    if not files:
        return []
    from curation.download.cache import FetchSettings
    from evaluation.analysis.engine_faults import fault_lines

    fetch = FetchSettings.from_environment()
    return [line for label in files for line in fault_lines(run, label, fetch, log)]


def _print(result: RunResult, format_: ReportFormat) -> None:
    """Print the tables on stdout, and on stderr a summary and the next commands."""
    from evaluation.results.description import not_run

    folder = result.folder
    totals = result.totals
    run = result.open()
    for line in not_run(run.header):
        log(line, style="yellow")
    print_run(
        run,
        command("results", "show", folder),
        format_,
        lines=_faults(run) if format_ is ReportFormat.AUTO else (),
    )
    done = f"{counted(totals.ran + totals.reused, 'row')}: {totals.ran:,} run now"
    if totals.reused:
        done += f", {totals.reused:,} found in the folder"
    if totals.disturbed:
        done += (
            f"; {totals.disturbed:,} shared their core with other processes, "
            "their times are marked"
        )
    log(f"{done}. {folder}")
    if totals.undecided:
        log(
            f"{counted(totals.undecided, 'case')} undecided, since the machine was "
            "busy, and in no figure; the same command asks again",
            style="yellow",
        )
    say_unfinished(totals, "text")
    if totals.ran or totals.reused:
        say_command("What failed", command("results", "show", folder, "--failures"))

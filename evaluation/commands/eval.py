"""`csbdata eval`: put schemas and instances to engines, one row a case."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import typer  # noqa: TC002 - typer reads it off the signature

from curation.commands.options import with_option_groups
from curation.system.errors import Unavailable
from curation.system.progress import Quiet, Shown
from curation.system.terminal import say, say_command
from evaluation.commands.eval_options import (
    SubjectOptions,
    TaskOptions,
    WorkOptions,
    given_options,
    run_request,
)
from evaluation.commands.options import RunFolderOption  # noqa: TC001 - typer reads it
from evaluation.commands.writer_options import WriterOptions  # noqa: TC001 - typer reads it
from evaluation.reporting.printing import ReportFormat, ReportFormatOption

if TYPE_CHECKING:
    from evaluation.asking.request import RunResult


@with_option_groups
def evaluate(  # noqa: PLR0913 (groups of options)
    *,
    context: typer.Context,
    subject: SubjectOptions,
    tasks: TaskOptions,
    work: WorkOptions,
    writer: WriterOptions,
    run_dir: RunFolderOption = None,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Measure what engines compile, what they enforce, and what a mask and a text cost.

    declared, masks, probe, scaling and test-suite need no model; coverage and
    efficiency have one write, on a GPU where there is one. An engine runs in a process
    of its own with deadlines and a memory limit; whatever it does becomes a row of the
    run's folder. Killed at any moment, the same command goes on from there. Tables go
    to stdout.

    \b
    Examples:
      csbdata eval --engine llguidance --engine none --limit 50
      csbdata eval --engine llguidance --task masks --limit 600
      csbdata eval --engine xgrammar --engine xgrammar==0.1.8 --task declared
      csbdata eval --engine ./my_engine.py --data my.schema.json
      csbdata eval --engine llguidance --task test-suite --draft 2020-12
      csbdata eval --engine outlines_core --task masks --shard 1/4
      csbdata eval --engine llguidance --compat paper --device cuda
      csbdata eval --engine vllm --model http://localhost:8000/v1#Qwen/Qwen3-0.6B

    What is measured is said before it starts: the data, and which of it is sample; the
    engines, and how those are installed that cannot be run here. Exits with 69 if an
    engine could not be run; the others are measured all the same.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from evaluation.asking.run import run

    request = run_request(
        subject,
        tasks,
        work,
        writer,
        run_dir,
        given=given_options(context),
    )
    result = run(request, Quiet() if format_ is ReportFormat.JSON else Shown())
    _print(result, format_)
    lacking = result.totals.unavailable
    if lacking:
        raise Unavailable(
            f"not every engine of this run could be run: {', '.join(lacking)}",
            then="its line above says why, and what to do",
        )


def _print(result: RunResult, format_: ReportFormat) -> None:
    """Print the tables on stdout, and on stderr what was done and what comes next."""
    from evaluation.analysis.run_report import reports
    from evaluation.reporting.printing import print_tables
    from evaluation.results.description import not_run

    folder, totals = result.folder, result.totals
    run = result.open()
    for line in not_run(run.header):
        say(line, style="yellow")
    found = reports(run)
    print_tables(
        [report.tables[0] for report in found.values() if report.tables],
        format_,
        {"run": str(folder), "header": run.raw_header},
        every=[table for report in found.values() for table in report.tables],
    )
    done = f"{totals.ran + totals.reused:,} rows: {totals.ran:,} run now"
    if totals.reused:
        done += f", {totals.reused:,} found in the folder"
    if totals.disturbed:
        done += f"; the machine was not quiet during {totals.disturbed:,}"
    say(f"{done}. {folder}")
    if totals.unanswered:
        say(
            f"{totals.unanswered:,} texts have no answer, because the server was in "
            "trouble; the same command asks for them again",
            style="yellow",
        )
    if totals.reproducers:
        say(f"{len(totals.reproducers):,} can be seen again: {folder}/reproducers")
    quoted = shlex.quote(str(folder))
    say_command("Every table", f"csbdata results show {quoted} --all")
    say_command("What failed", f"csbdata results show {quoted} --failures")

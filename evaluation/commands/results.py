"""`csbdata results`: read, compare, join and hand on the runs of `csbdata eval`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curation.commands.options import (
    CommandGroup,
    path_argument,
    path_option,
    with_option_groups,
)
from curation.system.terminal import log, print_json, with_more
from curation.system.terminal import show as print_line
from curation.system.words import counted
from evaluation.commands.show_run import (
    SHOWN,
    FailureOptions,
    RunArgument,
    RunsArgument,
    TableOptions,
    open_and_report_problems,
    print_report,
    print_run,
    show_failures,
)
from evaluation.reporting.printing import ReportFormat, ReportFormatOption, print_tables

if TYPE_CHECKING:
    from evaluation.results.reader import RecordedRun

app = typer.Typer(
    cls=CommandGroup,
    help="Read, compare and hand on runs of `csbdata eval`.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


#: Deadline of one try of `shrink` in seconds.
_TRY_SECONDS: Final = 10.0


class ExportFormat(StrEnum):
    """What a run is handed on as."""

    OUTCOMES = "outcomes"
    """A file of expected outcomes, for `results compare`."""
    MASKBENCH = "maskbench"
    """A folder of MaskBench's result files for each engine."""


@app.command()
@with_option_groups
def show(
    *,
    run: RunArgument,
    task: Annotated[
        list[str] | None,
        typer.Option("--task", metavar="TASK", help="Only this task; repeatable."),
    ] = None,
    tables: TableOptions,
    options: FailureOptions,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Print a run: one screen, the named tables, or the worst failures.

    Example: csbdata results show runs/4f1c22a09b3e --task masks --table outcomes

    Example: csbdata results show runs/4f1c22a09b3e --failures --engine llguidance

    People get one screen: the outcome of each schema where there are 20 at most, rates,
    engines in pairs on what both were asked, and the names of the other tables; JSON
    and CSV hold every table. On a narrow screen engines become columns, or a table is
    printed in parts. `-` is a figure that there is not, never 0. docs/results.md
    defines every column.
    """
    opened_run = open_and_report_problems(run)
    if options.requested:
        show_failures(opened_run, task or [], options, format_)
    else:
        from evaluation.results.description import describe
        from evaluation.results.reader import list_gaps

        print_run(
            opened_run,
            with_more(here=("results", "show", run)),
            format_,
            tasks=task or (),
            options=tables,
            lines=[*list_gaps(opened_run), *describe(opened_run.header), ""],
        )


class FailOn(StrEnum):
    """What of a comparison is a failure."""

    WORSE = "worse"
    """A case of the baseline is worse, or was not run."""
    SLOWER = "slower"
    """A time is surely longer."""


@app.command()
@with_option_groups
def compare(
    *,
    run: RunArgument,
    baseline: Annotated[
        Path | None,
        path_argument("RUN|FILE", "Another run, or a file of expected outcomes."),
    ] = None,
    fail_on: Annotated[
        list[FailOn] | None,
        typer.Option(
            metavar="worse|slower",
            help="Exit 1 if a case of the baseline is worse or was not run; or if "
            "compiling or masks surely take more than 1.2 times as long, in timed "
            "tasks. Repeatable.",
        ),
    ] = None,
    tables: TableOptions,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Compare engines and runs on the schemas that both were asked.

    Example: csbdata results compare runs/4f1c22a09b3e

    Example: csbdata results compare runs/new runs/old --fail-on worse

    Example: csbdata results compare runs/new expected.jsonl --fail-on worse

    The engines of one run are compared with each other. With a baseline (b is the
    run, a the baseline) each engine is compared with its namesake there,
    regardless of version. `csbdata results export RUN --format outcomes` writes a file
    of expected outcomes. Exits with 0, with 1 if a --fail-on applies, with 65 if a line
    of the file is not an outcome, with 66 if the run or file is missing.
    """
    from evaluation.analysis.compare_runs import compare_runs

    opened: RecordedRun | Path | None = baseline
    if baseline is not None and not baseline.is_file():
        opened = open_and_report_problems(baseline)
    answer = compare_runs(
        open_and_report_problems(run),
        opened,
        fail_on=fail_on or [],
        limit=SHOWN if format_ is ReportFormat.AUTO else None,
    )
    for objection in answer.objections:
        log(objection, style="yellow")
    head = {"objections": list(answer.objections), "failures": list(answer.failures)}
    command = with_more(
        here=("results", "compare", run, *([baseline] if baseline else ()))
    )
    print_report(command, answer.tables, tables, format_, head, every=answer.tables)
    if answer.failures:
        log(f"failed: {'; '.join(answer.failures)}", style="red")
        raise typer.Exit(1)


@app.command()
def export(
    run: RunArgument,
    form: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="outcomes: a file of expected outcomes for `csbdata results "
            "compare`; maskbench: its result files.",
        ),
    ],
    out: Annotated[
        Path,
        path_option("PATH", "A folder; of outcomes the file."),
    ],
) -> None:
    """Hand a run on to other tools and people.

    Example: csbdata results export runs/4f1c22a09b3e --format maskbench --out files
    """
    opened_run = open_and_report_problems(run)
    if form is ExportFormat.OUTCOMES:
        from evaluation.analysis.compare_runs import write_outcomes

        paths = write_outcomes(opened_run, out)
    else:
        from evaluation.tasks.maskbench_files import write_maskbench

        paths = write_maskbench(opened_run, out)
    for path in paths:
        print_line(str(path))


@app.command()
def publish(
    runs: RunsArgument,
    out: Annotated[
        Path,
        path_option("DIR", "The edition's folder; its name is the edition's."),
    ],
) -> None:
    """Publish runs as an edition: rows, a JSON API and a card.

    Example: csbdata results publish build/results/* --out results/2026.11

    Each run may measure a part of the records, from one dataset under the same limits.
    Missing parts are `not run`, and undecided cases are in no figure. An edition in the
    folder is replaced.
    """
    from evaluation.analysis.publish_edition import publish_edition
    from evaluation.results.edition import ROWS, headline_tables, read_rows
    from evaluation.results.headline import headline

    index = publish_edition([open_and_report_problems(run) for run in runs], out)
    tables = headline_tables(index, headline(read_rows(out).filter(task="masks")))
    print_tables(tables, ReportFormat.AUTO, {})
    log(f"{counted(index.rows[ROWS], 'row')} in {out}")


@app.command()
def verify(
    folder: Annotated[Path, path_argument("FOLDER", "An edition.")],
    data: Annotated[
        str | None, typer.Option(metavar="DATA", help="Its dataset, as for eval.")
    ] = None,
    sample: Annotated[
        int, typer.Option(min=1, help="Minimum number of rows to measure again.")
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Decides which.")] = 0,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Measure an edition's rows again, and list the differences.

    Example: csbdata results verify results/2026.11 --data build/JSONSchemaBench

    At least 20 rows of every outcome are drawn, crashes and time-outs too. Exits with 1
    if less than 98 % are equal in outcome and place, or a row could not be asked.
    """
    from tempfile import TemporaryDirectory

    from curation.system.progress import Shown
    from evaluation.runner.verify_edition import verify_edition

    with TemporaryDirectory(prefix="csbdata-verify-") as work:
        verdict = verify_edition(
            folder, data, Path(work), count=sample, seed=seed, progress=Shown()
        )
    print_tables(verdict.tables(), format_, {"not asked": [*verdict.not_asked]})
    for line in verdict.not_asked:
        log(f"not asked: {line}", style="yellow")
    if not verdict.holds or verdict.not_asked:
        raise typer.Exit(1)


@app.command("paper-table")
def paper_table(
    number: Annotated[int, typer.Argument(metavar="N", help="2 to 7, 12 or 13.")],
    runs: RunsArgument,
    *,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Print a table of arXiv 2501.10868 in its own form, filled from runs.

    Example: csbdata results paper-table 4 runs/4f1c22a09b3e

    The printed figures are below. Tables 2, 3, 4, 12 and 13 are of eval's tasks
    coverage and efficiency, 5 and 6 of its task test-suite, 7 of suite quality. The
    note has the conditions of the paper and of the runs.
    """
    from evaluation.analysis.paper_tables import paper_table as build

    table = build(number, [open_and_report_problems(run) for run in runs])
    print_tables([table], format_, {"runs": [str(run) for run in runs]})


@app.command()
def shrink(
    run: RunArgument,
    case: Annotated[
        str, typer.Argument(metavar="CONFIG/ID", help="As --failures names it.")
    ],
    task: Annotated[
        str, typer.Option(metavar="TASK", help="The case's task.")
    ] = "masks",
    engine: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its name or label.")
    ] = None,
) -> None:
    """Find the smallest part of a schema that still fails in the same way.

    Example: csbdata results shrink runs/4f1c22a09b3e Github_easy/o6178

    Prints a file in MaskBench's form, which `csbdata eval --data FILE` reads.
    """
    from curation.download.cache import FetchSettings
    from evaluation.analysis.recorded_cases import (
        ask_in_new_process,
        engine_of_failure,
        make_case,
        open_engine,
    )
    from evaluation.analysis.shrink_failure import shrink_failure
    from evaluation.core.cases import Bounds
    from evaluation.tokenizers import get_tokenizer

    opened_run = open_and_report_problems(run)
    fetch = FetchSettings.from_environment()
    participant = engine_of_failure(opened_run, engine, case, task, fetch.cache)
    failed_case = make_case(opened_run, task, case, fetch)
    tokenizer = get_tokenizer(str(opened_run.header.tokenizer.name), fetch)
    bounds = Bounds(compile_seconds=_TRY_SECONDS, run_seconds=_TRY_SECONDS)
    with open_engine(participant, tokenizer, bounds) as ask:
        afresh = ask_in_new_process(participant, tokenizer, bounds)
        smallest = shrink_failure(failed_case, ask, afresh)
    shrunk = smallest.case
    walks = failed_case.walks
    log(f"{counted(len(failed_case.schema), 'character')}, {len(shrunk.schema):,} left")
    log(f"{counted(len(walks), 'text')}, {len(shrunk.walks):,} needed")
    print_json(smallest.as_json(f"{participant.label}: {smallest.row.result}"))

"""`csbdata results`: read, compare, join and hand on the runs of `csbdata eval`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curation.commands.options import CommandGroup, local_path, with_option_groups
from curation.system.terminal import print_json, say, with_more
from curation.system.terminal import show as print_line
from curation.system.words import counted
from evaluation.commands.opened_run import (
    RunArgument,
    RunsArgument,
    open_and_report_problems,
)
from evaluation.commands.ratchet import ratchet
from evaluation.commands.show_run import (
    SHOWN,
    FailureOptions,
    TableOptions,
    print_report,
    show_failures,
    show_tables,
)
from evaluation.reporting.printing import ReportFormat, ReportFormatOption, print_tables

if TYPE_CHECKING:
    from evaluation.results.reader import RecordedRun

app = typer.Typer(
    cls=CommandGroup,
    help="Read, compare, join and hand on runs of `csbdata eval`.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


#: Deadline of one try of `shrink` in seconds, and the most tries.
_TRY_SECONDS: Final = 10.0
_MOST_TRIES: Final = 300


class ExportFormat(StrEnum):
    """What a run is handed on as."""

    HTML = "html"
    """One self-contained page, with plots."""
    PLOTS = "plots"
    """Every plot as SVG and PNG."""
    CSV = "csv"
    """`rows.csv` and `walks.csv`."""
    PARQUET = "parquet"
    """`rows.parquet` and `walks.parquet`."""
    MASKBENCH = "maskbench"
    """A folder of MaskBench's result files for each engine."""
    ISSUES = "issues"
    """A page for each engine: its faults, each with a smallest reproducer."""
    PROFILES = "profiles"
    """A profile for `csbdata fit` of each engine of task probe."""


_TaskOption = Annotated[
    list[str] | None,
    typer.Option("--task", metavar="TASK", help="Only this task; repeatable."),
]


@app.command()
@with_option_groups
def show(
    *,
    run: RunArgument,
    task: _TaskOption = None,
    tables: TableOptions,
    options: FailureOptions,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Print a run: one screen, the tables that are named, or the worst failures.

    Example: csbdata results show runs/4f1c22a09b3e --task masks --table outcomes

    Example: csbdata results show runs/4f1c22a09b3e --failures --engine llguidance

    People get one screen: the outcome of each schema where there are 20 at most, rates,
    engines in pairs on what both were asked, and the names of the other tables; JSON
    and CSV hold every table. On a narrow screen a cell loses its denominator first,
    then its 95 % interval. `-` is a figure that there is not, never 0. docs/results.md
    defines every column.
    """
    opened_run = open_and_report_problems(run)
    if options.requested:
        show_failures(opened_run, task or [], options, format_)
    else:
        show_tables(opened_run, task or [], tables, format_)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineGate:
    """Baseline and gate."""

    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN", help="Hold the runs against this one.", parser=local_path
        ),
    ] = None
    fail_under: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=100,
            metavar="PERCENT",
            help="Exit 1 unless so many per cent of the baseline's cases are no worse.",
        ),
    ] = None
    fail_slower: Annotated[
        float | None,
        typer.Option(
            min=1,
            metavar="TIMES",
            help="Exit 1 if compiling or masks surely take more than so many times as "
            "long as in the baseline; of timed tasks alone.",
        ),
    ] = None

    @property
    def gated(self) -> bool:
        """Whether the comparison can fail."""
        return self.fail_under is not None or self.fail_slower is not None

    @property
    def percent(self) -> float:
        """How many per cent must be no worse: none where only times are asked."""
        if self.fail_under is not None:
            return self.fail_under
        return 100.0 if self.fail_slower is None else 0.0


@app.command()
@with_option_groups
def compare(
    *,
    runs: RunsArgument,
    gate: BaselineGate,
    tables: TableOptions,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Compare engines and runs on the schemas that both were asked.

    Example: csbdata results compare runs/4f1c22a09b3e

    Example: csbdata results compare runs/new --baseline runs/old --fail-under 100

    Example: csbdata results compare runs/new --baseline runs/old --fail-slower 1.2

    Of one run all its engines are compared with each other, of several runs all
    engines of all. With --baseline each engine is compared with the one of its name
    there, regardless of version.
    """
    from evaluation.analysis.compare_runs import ComparisonRequest, compare_runs

    if gate.gated and gate.baseline is None:
        raise typer.BadParameter(
            "wants --baseline RUN", param_hint="--fail-under, --fail-slower"
        )
    request = ComparisonRequest(
        runs=[open_and_report_problems(folder) for folder in runs],
        baseline=None
        if gate.baseline is None
        else open_and_report_problems(gate.baseline),
        percent=gate.percent,
        slower=gate.fail_slower,
        limit=SHOWN if format_ is ReportFormat.AUTO else None,
    )
    answer = compare_runs(request)
    for objection in answer.objections:
        say(objection, style="yellow")
    head = {"objections": list(answer.objections), "gate": answer.holds}
    here = with_more(here=("results", "compare", *runs))
    print_report(here, answer.tables, tables, format_, head, every=answer.tables)
    if gate.gated and not answer.holds:
        say(f"the gate fails: {answer.reason}", style="red")
        raise typer.Exit(1)


@app.command()
def merge(
    runs: RunsArgument,
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="The new run's folder.", parser=local_path),
    ],
) -> None:
    """Join the shards of a run, or runs of other engines or ids, into one run.

    Example: csbdata results merge runs/shard-1 runs/shard-2 --out runs/whole

    Refused by name are a run that was not finished, a shard that is missing, and runs
    of other data, models, limits, settings, versions or machines: their times and
    counts would mean nothing together.
    """
    from evaluation.analysis.run_report import conditions_of
    from evaluation.results.merging import merge as join

    joined = join(runs, out)
    say(f"{counted(len(joined), 'row')} in {out}")
    print_tables([conditions_of(joined)], ReportFormat.AUTO, {"run": str(out)})


@app.command()
def export(
    run: RunArgument,
    form: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="html: a page without scripts; plots: SVG and PNG; csv, parquet: a "
            "line a case and a line a walk; maskbench: its result files; issues: a "
            "page for each engine with each class of wrong walks and its smallest "
            "reproducer; profiles: what `csbdata fit --for FILE.toml` takes, of each "
            "engine of task probe.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="PATH", help="A folder; of html the file.", parser=local_path
        ),
    ],
) -> None:
    """Hand a run on to other tools and people.

    Example: csbdata results export runs/4f1c22a09b3e --format html --out report.html
    """
    opened_run = open_and_report_problems(run)
    for path in _export(opened_run, form, out):
        print_line(str(path))


def _export(run: RecordedRun, form: ExportFormat, out: Path) -> list[Path]:
    if form is ExportFormat.HTML:
        from evaluation.site.run_page import write_page

        return [write_page(run, out)]
    from curation.system.atomic_files import atomic_write_bytes
    from curation.system.atomic_folders import EXPORTED, refuse_foreign
    from evaluation.analysis.plots import write_notice

    refuse_foreign(out, EXPORTED)
    atomic_write_bytes(out / EXPORTED, b"")
    return [*_export_files(run, form, out), *write_notice(run, out)]


def _export_files(run: RecordedRun, form: ExportFormat, out: Path) -> list[Path]:
    if form is ExportFormat.PLOTS:
        from evaluation.analysis.plots import draw_all, notice_of
        from evaluation.analysis.run_report import reports

        found = reports(run)
        plots = [plot for report in found.values() for plot in report.plots]
        return draw_all(plots, out, "; ".join(notice_of(run)))
    if form is ExportFormat.ISSUES:
        from curation.download.acquire import FetchSettings
        from evaluation.analysis.engine_issues import write_issues

        return write_issues(run, out, FetchSettings.from_environment(), say)
    if form is ExportFormat.MASKBENCH:
        from evaluation.tasks.masks.maskbench_files import write_maskbench as write
    elif form is ExportFormat.PROFILES:
        from evaluation.tasks.probe.profiles import write_profiles as write
    elif form is ExportFormat.CSV:
        from evaluation.results.frames import write_csv as write
    else:
        from evaluation.results.frames import write_parquet as write
    return write(run, out)


@app.command()
def publish(
    runs: RunsArgument,
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="The edition's folder; its name is the edition's.",
            parser=local_path,
        ),
    ],
) -> None:
    """Publish runs as an edition: rows, a JSON API and a card.

    Example: csbdata results publish build/results/* --out results/2026.11

    Runs may ask each a part of the records, of one dataset under the same limits;
    what no run has is `not run`, and what is undecided is in no figure. An edition in
    the folder keeps what it has, and runs made in the same way join it.
    """
    from evaluation.analysis.publish_edition import publish_edition
    from evaluation.results.edition import ROWS, engines_table

    index = publish_edition([open_and_report_problems(run) for run in runs], out)
    print_tables([engines_table(index)], ReportFormat.AUTO, {})
    say(f"{counted(index.rows[ROWS], 'row')} in {out}")


@app.command()
def verify(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="An edition.", parser=local_path)
    ],
    data: Annotated[
        str | None, typer.Option(metavar="DATA", help="Its dataset, as for eval.")
    ] = None,
    sample: Annotated[
        int, typer.Option(min=1, help="Rows that are asked again at least.")
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Decides which.")] = 0,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Ask engines again what an edition publishes, and list what differs.

    Example: csbdata results verify results/2026.11 --data build/JSONSchemaBench

    At least 20 rows of every outcome are drawn, crashes and time-outs too. Exits with 1
    if less than 98 % are equal in outcome and place, or a row could not be asked.
    """
    from tempfile import TemporaryDirectory

    from curation.system.progress import Shown
    from evaluation.asking.verify_edition import verify_edition

    with TemporaryDirectory(prefix="csbdata-verify-") as work:
        verdict = verify_edition(
            folder, data, Path(work), count=sample, seed=seed, progress=Shown()
        )
    print_tables(verdict.tables(), format_, {"not asked": [*verdict.not_asked]})
    for line in verdict.not_asked:
        say(f"not asked: {line}", style="yellow")
    if not verdict.holds or verdict.not_asked:
        raise typer.Exit(1)


@app.command("paper-table")
@with_option_groups
def paper_table(
    *,
    number: Annotated[int, typer.Argument(metavar="N", help="2 to 7, 12 or 13.")],
    runs: RunsArgument,
    tables: TableOptions,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Print a table of arXiv 2501.10868 in its own form, filled from runs.

    Example: csbdata results paper-table 4 runs/4f1c22a09b3e

    What the paper prints stands below. Tables 2, 3, 4, 12 and 13 are of eval's tasks
    coverage and efficiency, 5 and 6 of its task test-suite, 7 of suite quality. Each
    row says what was not as in the paper: versions, model, loop, device, budget.
    """
    from evaluation.analysis.paper_tables import by_dataset
    from evaluation.analysis.paper_tables import paper_table as build

    table = build(number, [open_and_report_problems(run) for run in runs])
    here = with_more(here=("results", "paper-table", number, *runs))
    head = {"runs": [str(run) for run in runs]}
    print_report(here, by_dataset(table), tables, format_, head, every=[table])


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
    from curation.download.acquire import FetchSettings
    from evaluation.analysis.shrink_failure import (
        ask_in_new_process,
        case_of,
        engine_of_failure,
        open_engine,
        shrink_failure,
    )
    from evaluation.tokenizers import get_tokenizer
    from evaluation.walking.engine_worker import Bounds

    opened_run = open_and_report_problems(run)
    fetch = FetchSettings.from_environment()
    participant = engine_of_failure(opened_run, engine, case, task, fetch.cache)
    failed_case = case_of(opened_run, task, case, fetch)
    tokenizer = get_tokenizer(str(opened_run.header.tokenizer.name), fetch)
    bounds = Bounds(compile_seconds=_TRY_SECONDS, run_seconds=_TRY_SECONDS)
    with open_engine(participant, tokenizer, bounds) as ask:
        afresh = ask_in_new_process(participant, tokenizer, bounds)
        smallest = shrink_failure(failed_case, ask, _MOST_TRIES, afresh)
    say(f"{counted(smallest.before, 'character')}, {smallest.after:,} left")
    say(f"{counted(len(failed_case.walks), 'text')}, {len(smallest.walks):,} needed")
    print_json(smallest.as_json(f"{participant.label}: {smallest.row.result}"))


app.command()(ratchet)

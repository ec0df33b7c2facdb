"""`csbdata suite NAME ...`: run, score, test and report the suites."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads it off the signature
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from curation.commands.options import with_option_groups
from curation.system.errors import BadConfiguration, Unavailable
from curation.system.progress import Quiet, Shown
from curation.system.terminal import say
from evaluation.commands.options import (
    RunFolderOption,
    local_path,
)
from evaluation.commands.suite_options import (
    AskingOptions,
    ReadingOptions,
    RecordOptions,
    ScoringOptions,
    chosen_suite,
    name_of_suite,
    run_request,
)
from evaluation.commands.suite_reports import report_command
from evaluation.reporting.printing import ReportFormat, ReportFormatOption, print_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from curation.system.progress import Progress
    from evaluation.asking.request import RunResult

#: The commands of every suite.
_actions = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, add_completion=False
)


class SuiteGroup(TyperGroup):
    """The group of all suites; each is found when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer's own
        """Return the names of the suites."""
        del ctx
        from evaluation.suites.registry import suites

        return list(suites())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - typer's own
        """Return the commands of one suite.

        Raises:
            BadConfiguration: there is no such suite.
        """
        del ctx
        from evaluation.suites.registry import suite_named

        suite = suite_named(cmd_name)
        group = typer.main.get_command(_actions)
        group.name, group.help = cmd_name, suite.summary
        group.short_help = suite.summary
        return group


app = typer.Typer(
    cls=SuiteGroup,
    help="Ask models the records of a suite, and score what they answer.",
    epilog="A suite in another folder is named by its path: csbdata suite ./mine run.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _group() -> None:
    """Ask models the records of a suite, and score what they answer."""


def _progress(format_: ReportFormat) -> Progress:
    return Quiet() if format_ is ReportFormat.JSON else Shown()


@dataclass(frozen=True, slots=True, kw_only=True)
class PassGateOptions:
    """When the command fails for the sake of the figures."""

    fail_under: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=100,
            metavar="PERCENT",
            help="Exit 1 unless so many per cent pass, of every model.",
        ),
    ] = None


@_actions.command("run")
@with_option_groups
def run_command(  # noqa: PLR0913 (groups of options)
    *,
    ctx: typer.Context,
    records: RecordOptions,
    reading: ReadingOptions,
    asking: AskingOptions,
    scoring: ScoringOptions,
    gate: PassGateOptions,
    run_dir: RunFolderOption = None,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Have models answer the records, score the answers, and print the tables.

    Killed at any moment, the same command goes on from there: what was answered is
    in the run's folder. Every model answers free, and under each --engine.

    \b
    Examples:
      csbdata suite passrate run --limit 20 --model smollm2
      csbdata suite passrate run --limit 20 --engine none --engine llguidance
      csbdata suite passrate run --model http://localhost:8000/v1#Qwen/Qwen3-0.6B
      csbdata suite passrate run --repairs 2 --set mode=schema --set hints=0

    Exits with 69 if no model could be asked.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from evaluation.asking.run import run

    request = run_request(
        name_of_suite(ctx), records, reading, scoring, asking, run_dir
    )
    result = run(request, _progress(format_))
    totals = result.totals
    _print(result, format_)
    for label, why in totals.unavailable.items():
        say(f"{label} was not run: {why}", style="yellow")
    if totals.unavailable and not (totals.ran or totals.reused):
        raise Unavailable("no model of this run can be asked here")
    say(
        f"{totals.ran:,} answers written now, {totals.reused:,} found there. "
        f"{result.folder}"
    )
    if totals.unanswered:
        say(
            f"{totals.unanswered:,} have no answer, because the server was in trouble: "
            "the same command asks for them again",
            style="yellow",
        )
    say(f"Next: csbdata results compare {result.folder}")
    _gate(result, gate)


@_actions.command("score")
@with_option_groups
def score_command(  # noqa: PLR0913 (groups of options)
    *,
    ctx: typer.Context,
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A file of responses, or a run's folder.",
            parser=local_path,
        ),
    ],
    records: RecordOptions,
    reading: ReadingOptions,
    scoring: ScoringOptions,
    gate: PassGateOptions,
    run_dir: RunFolderOption = None,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Score responses that are there; needs no model and no network.

    The records are those of `records.jsonl` beside the file, or those of --data.

    \b
    Examples:
      csbdata suite passrate score responses.jsonl --data build/JSONSchemaBench
      csbdata suite passrate score runs/4f1c22a09b3e --set mode=schema
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from evaluation.asking.run import score_file

    request = run_request(name_of_suite(ctx), records, reading, scoring, None, run_dir)
    result = score_file(request, path, _progress(format_))
    _print(result, format_)
    say(f"Scored into {result.folder}")
    _gate(result, gate)


class PromptFormat(StrEnum):
    """How prompts are written."""

    JSONL = "jsonl"
    """A line a record: its key, the messages, the budget, the schema."""
    OPENAI_BATCH = "openai-batch"
    """Requests of OpenAI's batch interface, the record's key as `custom_id`."""


@_actions.command("prompts")
@with_option_groups
def prompts_command(  # noqa: PLR0913 (groups of options)
    *,
    ctx: typer.Context,
    records: RecordOptions,
    reading: ReadingOptions,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="[default: stdout]")
    ] = None,
    form: Annotated[
        PromptFormat, typer.Option("--as", help="jsonl, or openai-batch.")
    ] = PromptFormat.JSONL,
    model: Annotated[
        str, typer.Option(help="The model that openai-batch requests name.")
    ] = "gpt-4o-mini",
) -> None:
    """Write the prompts, for who asks models in another way.

    \b
    Examples:
      csbdata suite passrate prompts --limit 20 --out prompts.jsonl
      csbdata suite passrate prompts --limit 20 --as openai-batch --out batch.jsonl

    Beside --out stands `records.jsonl`, which `score` looks for.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.system.atomic_files import atomic_write_bytes
    from evaluation.asking.records import (
        RECORDS,
        batch_line,
        encode_records,
        prompt_line,
        records_of,
    )

    chosen = chosen_suite(name_of_suite(ctx), reading)
    found = records_of(chosen, records.request())
    lines = [
        batch_line(chosen, record, model)
        if form is PromptFormat.OPENAI_BATCH
        else prompt_line(chosen, record)
        for record in found.records
    ]
    if out is None:
        for line in lines:
            typer.echo(line)
        return
    atomic_write_bytes(out, b"".join(line + b"\n" for line in lines))
    atomic_write_bytes(out.parent / RECORDS, encode_records(found.records))
    say(f"{len(lines):,} prompts in {out}, their records in {out.parent / RECORDS}")


@_actions.command("generate")
@with_option_groups
def generate_command(  # noqa: PLR0913 (options of one command)
    *,
    ctx: typer.Context,
    reading: ReadingOptions,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file of records.")],
    count: Annotated[
        int, typer.Option("--count", "--rows", min=1, help="How many records.")
    ] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, others.")] = 0,
    split: Annotated[
        str | None,
        typer.Option(help="The same as --set split=..., where there is one."),
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option("--as", metavar="LAYOUT", help="[default: a record a line]"),
    ] = None,
    rewriter: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="A model, as run --model, that rewords the requests; a text that "
            "lost a requirement is not taken.",
        ),
    ] = None,
) -> None:
    """Write records of the suite's own generator; `run --data FILE` reads them.

    Example: csbdata suite NAME generate --count 200 --seed 1 --out records.jsonl
    """
    from curation.download.acquire import FetchSettings
    from curation.system.atomic_files import atomic_write_bytes
    from evaluation.asking.records import layout_of

    if split is not None:
        reading = replace(reading, value=[*(reading.value or ()), f"split={split}"])
    chosen = chosen_suite(name_of_suite(ctx), reading)
    encode = layout_of(chosen, layout)
    generate = chosen.suite.generate
    if generate is None:
        raise BadConfiguration(
            f"suite {chosen.suite.name} generates no records",
            then="run takes them from --data",
        )
    records = list(generate(count, seed, chosen.settings))
    if rewriter is not None:
        from evaluation.asking.request import ModelOptions
        from evaluation.asking.rewording import reworded_records

        fetch = FetchSettings.from_environment()
        model = ModelOptions(model=rewriter)
        records = reworded_records(chosen, records, model, fetch, say)
    atomic_write_bytes(out, encode(records))
    say(f"{len(records):,} records in {out}")
    say(f"Next: csbdata suite {name_of_suite(ctx)} run --data {out}")


@_actions.command("selftest")
@with_option_groups
def selftest_command(
    *,
    ctx: typer.Context,
    records: RecordOptions,
    reading: ReadingOptions,
    scoring: ScoringOptions,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Score answers whose verdicts are known: right ones, and mutated ones.

    Example: csbdata suite passrate selftest --limit 20

    Exits with 1 if a verdict is not the one intended.
    """
    from evaluation.asking.records import records_of
    from evaluation.asking.self_test import (
        kinds_table,
        self_test,
        surprises_table,
    )

    chosen = chosen_suite(name_of_suite(ctx), reading)
    found = records_of(chosen, records.request())
    tested = self_test(
        chosen,
        found.records,
        jobs=scoring.jobs or os.cpu_count() or 1,
        progress=_progress(format_),
    )
    tables = [kinds_table(tested)]
    surprises = surprises_table(tested)
    if surprises.rows:
        tables.append(surprises)
    print_tables(tables, format_, {"suite": chosen.header()})
    wrong = sum(not answer.as_expected for answer in tested)
    if wrong or not tested:
        say(f"{wrong:,} of {len(tested):,} verdicts are not as intended", style="red")
        raise typer.Exit(1)


_actions.command("report")(report_command)


def _print(result: RunResult, format_: ReportFormat) -> None:
    """Print the tables on stdout, and on stderr what could not be matched."""
    from evaluation.analysis.run_report import reports

    run = result.open()
    tables: Sequence[Any] = [
        table for report in reports(run).values() for table in report.tables
    ]
    head = {"run": str(result.folder), "header": run.raw_header}
    print_tables(tables, format_, {**head, "problems": list(result.problems)})
    for problem in result.problems[:10]:
        say(problem, style="yellow")
    if len(result.problems) > 10:  # noqa: PLR2004 (the ones above)
        say(f"... and {len(result.problems) - 10:,} more", style="yellow")


def _gate(result: RunResult, gate: PassGateOptions) -> None:
    """Fail where a model passes less than is asked for."""
    if gate.fail_under is None:
        return
    from evaluation.results.suite_rows import scored_run

    run = result.open()
    (name,) = run.tasks or ("",)
    under = []
    for label, listed in scored_run(run, name, run.raw_header).by_label.items():
        counted = [scored for scored in listed if scored.verdict.counted]
        passed = sum(scored.verdict.passed for scored in counted)
        if 100 * passed < gate.fail_under * len(counted) or not counted:
            under.append(f"{label} passes {passed:,} of {len(counted):,}")
    if under or not run.tasks:
        say(f"the gate fails: {'; '.join(under) or 'nothing was scored'}", style="red")
        raise typer.Exit(1)

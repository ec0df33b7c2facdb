"""`csbdata suite VERB NAME`: run, score and test the suites."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.commands.options import (
    CommandGroup,
    path_argument,
    path_option,
    with_option_groups,
)
from curation.system.errors import BadConfiguration, Unavailable
from curation.system.progress import progress_for
from curation.system.terminal import log, say_command
from curation.system.words import command, counted
from evaluation.commands.options import (
    LimitOption,
    RunFolderOption,
    RunOptions,
    SetOption,
    choose_named_suite,
    run_request,
    split_settings,
    with_settings,
)
from evaluation.commands.show_run import (
    hold_gate,
    print_scored,
    say_unfinished,
)
from evaluation.reporting.printing import ReportFormat, ReportFormatOption

if TYPE_CHECKING:
    from evaluation.runner.request import RunRequest, SuiteChoice


app = typer.Typer(
    cls=CommandGroup,
    help="Ask models the records of a suite, and score the answers.",
    epilog="NAME@paper is the published reading of a suite, where that differs. A "
    "suite in another folder is named by its path: csbdata suite run ./mine.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _suite_names() -> list[str]:
    from evaluation.suites.registry import suites

    return list(suites())


_DataOption = Annotated[
    str | None, typer.Option(metavar="DATA", help="The records, as of run.")
]
_FailUnderOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=100,
        metavar="PERCENT",
        rich_help_panel="Exit code",
        help="Exit 1 unless this percentage passes, of every model.",
    ),
]
_NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME[@paper]",
        help="A suite, or the folder of one.",
        autocompletion=_suite_names,
    ),
]


def _request(
    name: str,
    assignments: list[str] | None,
    options: RunOptions | None = None,
    run_dir: Path | None = None,
) -> tuple[SuiteChoice, RunRequest]:
    """Return a suite with its settings, and the request of a run of it.

    Raises:
        BadConfiguration: unknown suite, or a contradictory option.
    """
    from evaluation.suites.registry import suite_named

    suite = suite_named(name.removesuffix("@paper"))
    settings, values = split_settings(assignments, suite.settings.__struct_fields__)
    choice = choose_named_suite(name, values)
    request = run_request(
        options or RunOptions(),
        settings=settings,
        values={},
        run_dir=run_dir,
        suite=choice,
    )
    return choice, request


@app.command("run")
@with_settings
@with_option_groups
def run_command(  # noqa: PLR0913 (groups of options)
    *,
    name: _NameArgument,
    options: RunOptions,
    fail_under: _FailUnderOption = None,
    value: SetOption = None,
    run_dir: RunFolderOption = None,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Have models answer the records, score the answers, and print the tables.

    Killed at any moment, the same command continues: answers are in the run's folder.
    Every model answers free (--engine none), and under each other --engine.

    \b
    Examples:
      csbdata suite run passrate --limit 20 --engine none --engine llguidance
      csbdata suite run passrate --model http://localhost:8000/v1#qwen
      csbdata suite run passrate --set repairs=2 --set mode=schema --set hints=0

    Exits with 69 if no model could be asked.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from evaluation.runner.run import run

    _, request = _request(name, value, options, run_dir)
    result = run(request, progress_for(format_))
    totals = result.totals
    print_scored(result, format_)
    for label, why in totals.unavailable.items():
        log(f"{label} was not run: {why}", style="yellow")
    say_unfinished(totals, "answer")
    if totals.unavailable and not (totals.ran or totals.reused):
        raise Unavailable("no model of this run can be asked here")
    log(
        f"{counted(totals.ran, 'answer')} written now, {totals.reused:,} found there. "
        f"{result.folder}"
    )
    say_command("Next", command("results", "compare", result.folder))
    hold_gate(result, fail_under)


@app.command("score")
def score_command(  # noqa: PLR0913 (options of one command)
    *,
    name: _NameArgument,
    path: Annotated[
        Path,
        path_argument("FILE", "A file of responses, or a run's folder."),
    ],
    fail_under: _FailUnderOption = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA", help="The records [default: records.jsonl next to FILE]."
        ),
    ] = None,
    value: SetOption = None,
    run_dir: RunFolderOption = None,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Score responses of a file or of a run; needs no model and no network.

    \b
    Examples:
      csbdata suite score passrate responses.jsonl --data build/JSONSchemaBench
      csbdata suite score passrate runs/4f1c22a09b3e --set mode=schema
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from evaluation.runner.run import score_file

    _, request = _request(name, value, RunOptions(data=data), run_dir)
    result = score_file(request, path, progress_for(format_))
    print_scored(result, format_)
    log(f"Scored into {result.folder}")
    hold_gate(result, fail_under)


@app.command("prompts")
def prompts_command(
    *,
    name: _NameArgument,
    data: _DataOption = None,
    limit: LimitOption = None,
    value: SetOption = None,
    out: Annotated[
        Path | None,
        path_option("FILE", "[default: stdout]"),
    ] = None,
) -> None:
    """Write the prompts, to ask models elsewhere.

    Example: csbdata suite prompts passrate --limit 20 --out prompts.jsonl

    A line has the record's key, the messages, the budget of tokens and the schema. The
    records are written next to --out (`records.jsonl`), where `score` reads them.
    """
    from curation.system.atomic_files import atomic_write_bytes
    from evaluation.core.records import encode_records
    from evaluation.masks.run_folder import RECORDS
    from evaluation.runner.records import (
        make_records,
        prompt_lines,
        refuse_overwriting,
    )

    if out is not None:
        refuse_overwriting(out, data)
    choice, request = _request(name, value, RunOptions(data=data, limit=limit))
    records = make_records(choice, request.records()).records
    lines = prompt_lines(choice, request, records)
    if out is None:
        for line in lines:
            typer.echo(line)
        return
    atomic_write_bytes(out, b"".join(line + b"\n" for line in lines))
    atomic_write_bytes(out.parent / RECORDS, encode_records(records))
    log(f"{counted(len(lines), 'prompt')} in {out}, their records next to it")


@app.command("generate")
def generate_command(  # noqa: PLR0913 (options of one command)
    *,
    name: _NameArgument,
    out: Annotated[
        Path,
        path_option("FILE", "The file of records."),
    ],
    rows: Annotated[int, typer.Option(min=1, help="How many records.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all draws.")] = 0,
    value: SetOption = None,
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

    Example: csbdata suite generate ifstruct --rows 200 --seed 1 --out records.jsonl
    """
    from curation.system.atomic_files import atomic_file
    from evaluation.core.records import encode_records

    choice, request = _request(name, value)
    generate = choice.suite.generate
    if generate is None:
        message = f"suite {choice.suite.name} generates no records"
        raise BadConfiguration(message, hint="run takes them from --data")
    with atomic_file(out) as temporary:
        temporary.touch()  # Told before a model is paid, if that cannot be.
        records = list(generate(rows, seed, choice.settings))
        if rewriter is not None:
            from evaluation.runner.request import ModelOptions
            from evaluation.runner.rewording import reworded_records

            model = ModelOptions(model=rewriter)
            records = reworded_records(choice, records, model, request.fetch, log)
        temporary.write_bytes(encode_records(records))
    log(f"{counted(len(records), 'record')} in {out}")
    say_command("Next", command("suite", "run", name, "--data", out))

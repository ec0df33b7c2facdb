"""`csbdata eval`: put schemas and instances to engines, one row a unit."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.faults import BadConfiguration, Unavailable
from curation.terminal import say
from evaluation.printing import ReportFormat, ReportFormatOption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from curation.documents import Json
    from curation.progress import Progress
    from evaluation.driver import Plan, Tally
    from evaluation.lane import Bounds
    from evaluation.tasks.base import Settings
    from evaluation.units import Subject

DEFAULT_TASKS = ("masks", "declared")
RUNS = Path("runs")


def evaluate(  # noqa: PLR0913 (one parameter an option)
    *,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPEC",
            help="NAME, NAME==VERSION or the path of an engine's file; repeatable "
            "[default: llguidance].",
        ),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(metavar="TASK", help="Repeatable [default: masks and declared]."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="A build, a folder of JSON Schemas, one file, a MaskBench folder, or "
            "owner/name[@revision] on the Hub [default: the local build, else "
            "epfl-dlab/JSONSchemaBench, else the sample].",
        ),
    ] = None,
    tokenizer: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="smollm2, qwen, mistral, llama3.1, a Hub id or a path.",
        ),
    ] = "smollm2",
    preset: Annotated[
        str,
        typer.Option(
            help="faithful is closest to the specification, vendor the engine's "
            "defaults, paper those of 2501.10868."
        ),
    ] = "faithful",
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="An engine's option over the preset; ENGINE.NAME=VALUE for one "
            "engine; repeatable.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Only so many schemas, each config by its share."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--id", metavar="CONFIG/ID", help="Only these schemas; repeatable."
        ),
    ] = None,
    orders: Annotated[
        int,
        typer.Option(
            min=0, help="Property orders beside the given one, of each valid instance."
        ),
    ] = 0,
    draft: Annotated[
        list[str] | None,
        typer.Option(metavar="DRAFT", help="Of task test-suite; repeatable."),
    ] = None,
    value: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of a task; repeatable."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Workers [default: 1 where times are taken, else all cores]."
        ),
    ] = None,
    shard: Annotated[
        str,
        typer.Option(metavar="I/N", help="One of N parts; `csbdata results merge`."),
    ] = "1/1",
    compile_seconds: Annotated[
        float, typer.Option(min=0.1, help="Deadline of one compile.")
    ] = 40.0,
    run_seconds: Annotated[
        float, typer.Option(min=0.1, help="Deadline of one schema's walks.")
    ] = 40.0,
    memory: Annotated[
        int,
        typer.Option(
            min=64, metavar="MIB", help="What a worker may take once it is ready."
        ),
    ] = 4096,
    run_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The run's folder [default: runs/...]."),
    ] = None,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Measure what engines compile, what they enforce, and what each mask costs.

    No model is needed. An engine runs in a process of its own with deadlines and a
    memory limit; whatever it does becomes a row of the run's folder. Killed at any
    moment, the same command goes on from there. Tables go to stdout.

    \b
    Examples:
      csbdata eval --engine llguidance --task masks --limit 600
      csbdata eval --engine xgrammar --engine xgrammar==0.1.8 --task declared
      csbdata eval --engine ./my_engine.py --data my.schema.json
      csbdata eval --engine llguidance --task test-suite --draft 2020-12
      csbdata eval --engine outlines_core --task masks --shard 1/4

    Exits with 69 if no engine could be run.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.progress import Quiet, Shown
    from evaluation.lane import Bounds
    from evaluation.tasks.base import Settings

    asked = _Asked(
        engines=engine or ["llguidance"],
        tasks=task or list(DEFAULT_TASKS),
        data=data,
        tokenizer=tokenizer,
        preset=preset,
        options=option or [],
        settings=Settings(seed=seed, orders=orders, values=_values(draft, value)),
        bounds=Bounds(
            compile_seconds=compile_seconds,
            run_seconds=run_seconds,
            memory_mb=memory,
        ),
        limit=limit,
        only=only or [],
        jobs=jobs,
        shard=_shard(shard),
        run_dir=run_dir,
    )
    quiet = format_ is ReportFormat.JSON
    folder, tally = _run(asked, Quiet() if quiet else Shown())
    _tell(folder, tally, format_)
    if tally.unavailable and not (tally.ran or tally.found):
        raise Unavailable("no engine of this run can be used here")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The command line, read."""

    engines: Sequence[str]
    tasks: Sequence[str]
    data: str | None
    tokenizer: str
    preset: str
    options: Sequence[str]
    settings: Settings
    bounds: Bounds
    limit: int | None
    only: Sequence[str]
    jobs: int | None
    shard: tuple[int, int]
    run_dir: Path | None


def _run(asked: _Asked, progress: Progress) -> tuple[Path, Tally]:
    from evaluation.driver import run
    from evaluation.header import header
    from evaluation.lineup import lineup
    from evaluation.run_folder import open_run_folder

    entrants = lineup(asked.engines, asked.preset, asked.options)
    plan, data, count = _plan(asked, progress)
    head = header(entrants, plan, data, asked.limit)
    folder = asked.run_dir or RUNS / _name(head)
    usable = sum(not each.unavailable for each in entrants)
    total = None if count is None else count * usable
    with (
        open_run_folder(folder, head) as out,
        progress.bar("Measuring", total) as advance,
    ):
        return folder, run(entrants, plan, out, advance)


def _name(head: dict[str, Json]) -> str:
    name = str(head["plan"])[:12]
    shard = str(head["shard"])
    return name if shard == "1/1" else f"{name}-{shard.replace('/', '-of-')}"


def _plan(
    asked: _Asked, progress: Progress
) -> tuple[Plan, dict[str, Json], int | None]:
    """Return the plan, what the header says of the data, and the number of units."""
    from evaluation.data import open_data
    from evaluation.driver import Plan
    from evaluation.sampling import drawn
    from evaluation.tasks.registry import task_named
    from evaluation.tokenizers import get

    tasks = [task_named(each) for each in dict.fromkeys(asked.tasks)]
    about: dict[str, Json] = {}
    subjects: Callable[[], Iterable[Subject]] = tuple
    count: int | None = 0
    if any(each.needs_data for each in tasks):
        found = open_data(asked.data, say=progress.say)
        subjects, count, about = found.subjects, found.count, found.header()
        if asked.limit is not None:
            listed = drawn(found.subjects(), asked.limit, asked.settings.seed)
            subjects, count = (lambda: listed), len(listed)
    timed = any(each.timed for each in tasks)
    plan = Plan(
        tasks=tasks,
        subjects=subjects,
        tokenizer=get(asked.tokenizer, say=progress.say),
        settings=asked.settings,
        bounds=asked.bounds,
        jobs=asked.jobs or (1 if timed else os.cpu_count() or 1),
        shard=asked.shard,
        only=frozenset(asked.only),
    )
    return plan, about, _count(plan, count)


def _count(plan: Plan, subjects: int | None) -> int | None:
    """Return the number of units of one engine; None where only the end tells."""
    if subjects is None or plan.only:
        return None
    shard, shards = plan.shard
    total = 0
    for task in plan.tasks:
        units = subjects
        if not task.needs_data:
            units = sum(1 for _ in task.units((), plan.settings))
        total += (units - shard) // shards + 1
    return total


def _tell(folder: Path, tally: Tally, format_: ReportFormat) -> None:
    """Print the tables on stdout, and on stderr what was done and what comes next."""
    from evaluation.printing import print_tables
    from evaluation.results import open_run
    from evaluation.showing import reports

    run = open_run(folder)
    tables = [table for each in reports(run).values() for table in each.tables]
    print_tables(tables, format_, {"run": str(folder), "header": run.header})
    for label, why in tally.unavailable.items():
        line = _install(run.header, label)
        say(f"{label} was not run: {why}{f'; {line}' if line else ''}", style="yellow")
    done = f"{tally.ran + tally.found:,} units: {tally.ran:,} run now"
    if tally.found:
        done += f", {tally.found:,} found in the folder"
    if tally.disturbed:
        done += f"; the machine was not quiet during {tally.disturbed:,}"
    say(f"{done}. {folder}")
    if tally.reproducers:
        say(f"{len(tally.reproducers):,} can be seen again: {folder}/reproducers")
    say(f"Next: csbdata results show {folder} --failures")


def _install(header: Mapping[str, Json], label: str) -> str:
    for each in header.get("engines", []):
        if each["engine"] == label:
            return str(each["install"])
    return ""


def _values(drafts: list[str] | None, assignments: list[str] | None) -> dict[str, Json]:
    """Return the settings of single tasks; a value is read as JSON where it is some.

    Raises:
        BadConfiguration: an assignment without `=`.
    """
    values: dict[str, Json] = {"drafts": drafts} if drafts else {}
    for each in assignments or ():
        name, equals, text = each.partition("=")
        if not equals:
            raise BadConfiguration(f"--set takes NAME=VALUE, not {each!r}")
        try:
            values[name] = json.loads(text)
        except ValueError:
            values[name] = text
    return values


def _shard(text: str) -> tuple[int, int]:
    """Return which part of how many.

    Raises:
        BadConfiguration: it is not I/N with I from 1 to N.
    """
    first, _, of = text.partition("/")
    if first.isdecimal() and of.isdecimal() and 1 <= int(first) <= int(of):
        return int(first), int(of)
    raise BadConfiguration(f"--shard takes I/N, such as 1/4, not {text!r}")

"""The options of `csbdata eval`, and the request that they make."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from curation.commands.options import shard_of
from curation.system.errors import BadUsage
from evaluation.commands.writer_options import model_options

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.asking.request import RunRequest
    from evaluation.commands.writer_options import WriterOptions
    from evaluation.core.task_settings import TaskSettings
    from evaluation.walking.engine_worker import Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectOptions:
    """What is measured, and on which schemas."""

    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPEC",
            help="NAME, NAME==VERSION or the path of an engine's file, each also with "
            "@PRESET; repeatable "
            "[default: llguidance].",
        ),
    ] = None
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK",
            help="Repeatable [default: declared and masks; where the libraries that "
            "run models are installed, coverage and efficiency too; behind a server "
            "these two alone].",
        ),
    ] = None
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="A build, a folder of JSON Schemas, one file (.json, .jsonl, "
            ".parquet), a MaskBench folder, or owner/name[@revision] on the Hub "
            "[default: the local build, else epfl-dlab/JSONSchemaBench, else the "
            "sample].",
        ),
    ] = None
    config: Annotated[
        list[str] | None,
        typer.Option(metavar="CONFIG", help="Only these configs; repeatable."),
    ] = None
    split: Annotated[
        list[str] | None,
        typer.Option(metavar="SPLIT", help="Only these splits; repeatable."),
    ] = None
    tokenizer: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="smollm2, qwen, mistral, llama3.1, a Hub id or a path.",
        ),
    ] = "smollm2"
    preset: Annotated[
        str,
        typer.Option(
            help="faithful is closest to the specification, vendor the engine's "
            "defaults, paper those of 2501.10868."
        ),
    ] = "faithful"
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="An engine's option over the preset; ENGINE.NAME=VALUE for one "
            "engine; repeatable.",
        ),
    ] = None
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Only so many schemas, each config by its share."),
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--id", metavar="CONFIG/ID", help="Only these schemas; repeatable."
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """What single tasks are told."""

    orders: Annotated[
        int,
        typer.Option(
            min=0, help="Property orders beside the given one, of each valid instance."
        ),
    ] = 0
    draft: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DRAFT", help="Of tasks probe and test-suite; repeatable."
        ),
    ] = None
    value: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of a task; repeatable."
        ),
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")] = 0
    given_only: Annotated[
        bool,
        typer.Option(
            "--given-only",
            help="Walk only instances that the data holds, and make none.",
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOptions:
    """How the work is spread, and what one schema may cost."""

    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Workers [default: 1 where times are taken, else all cores]."
        ),
    ] = None
    repeats: Annotated[
        int,
        typer.Option(
            min=1,
            help="Measure each case so often where times are taken; tells how far "
            "times of one engine lie apart.",
        ),
    ] = 1
    shard: Annotated[
        str,
        typer.Option(metavar="I/N", help="One of N parts; `csbdata results merge`."),
    ] = "1/1"
    compile_seconds: Annotated[
        float,
        typer.Option(
            min=0.1,
            help="Deadline of one compile, in processor time; four times as long by "
            "the wall clock.",
        ),
    ] = 40.0
    run_seconds: Annotated[
        float,
        typer.Option(min=0.1, help="The same of one schema's walks."),
    ] = 40.0
    load_seconds: Annotated[
        float,
        typer.Option(min=0.1, help="The same of loading an engine, by the wall clock."),
    ] = 180.0
    memory: Annotated[
        int,
        typer.Option(
            min=64, metavar="MIB", help="What a worker may take once it is ready."
        ),
    ] = 4096


def run_request(  # noqa: PLR0913 - groups of options
    subject: SubjectOptions,
    tasks: TaskOptions,
    work: WorkOptions,
    writer: WriterOptions,
    run_dir: Path | None,
    *,
    given: frozenset[str] = frozenset(),
) -> RunRequest:
    """Return what `evaluation.run` is asked for.

    Args:
        subject: What is measured.
        tasks: What tasks are told.
        work: What one schema may cost.
        writer: Which model writes.
        run_dir: The run's folder.
        given: Names of the options that the command line holds: `--compat` does not
            touch them.

    Raises:
        BadUsage: an option makes no sense.
    """
    from evaluation.asking.request import RunRequest

    request = RunRequest(
        engines=subject.engine or ["llguidance"],
        tasks=subject.task or _default_tasks(writer.model),
        data=subject.data,
        tokenizer=subject.tokenizer,
        preset=subject.preset,
        options=subject.option or [],
        settings=_settings(tasks),
        bounds=_bounds(work),
        configs=subject.config or [],
        splits=subject.split or [],
        limit=subject.limit,
        only=subject.only or [],
        jobs=work.jobs,
        repeats=work.repeats,
        given_only=tasks.given_only,
        shard=shard_of(work.shard),
        run_dir=run_dir,
        models=[model_options(writer, tasks.seed, work)],
    )
    return request.as_paper(given) if _is_paper(writer.compat) else request


def _settings(tasks: TaskOptions) -> TaskSettings:
    from evaluation.core.task_settings import TaskSettings

    return TaskSettings(
        seed=tasks.seed,
        orders=tasks.orders,
        values=task_values(tasks.draft, tasks.value),
    )


def _bounds(work: WorkOptions) -> Bounds:
    from evaluation.walking.engine_worker import Bounds

    return Bounds(
        compile_seconds=work.compile_seconds,
        run_seconds=work.run_seconds,
        load_seconds=work.load_seconds,
        memory_mb=work.memory,
    )


def given_options(context: typer.Context) -> frozenset[str]:
    """Return the names of the options that were said, and have not their default."""
    return frozenset(
        name
        for name in context.params
        if (source := context.get_parameter_source(name)) is not None
        and source.name != "DEFAULT"
    )


def _default_tasks(model: str) -> list[str]:
    """Return the tasks of a command line without any, by what is installed."""
    from curation.system.terminal import say_command
    from evaluation.models.shapes import is_shape
    from evaluation.models.store import INSTALL, missing_libraries
    from evaluation.tasks.registry import tasks

    measuring = [
        task for task in tasks().values() if task.needs_data and task.by_default
    ]
    without = [task.name for task in measuring if not task.needs_model]
    writing = [
        task.name
        for task in measuring
        if task.needs_model and not (task.judges_texts and is_shape(model))
    ]
    if "://" in model:
        return writing
    if not missing_libraries():
        return [*without, *writing]
    say_command(f"left out: {' and '.join(writing)}; a model writes there", INSTALL)
    return without


def _is_paper(compat: str) -> bool:
    if compat not in ("", "paper"):
        raise BadUsage(f"--compat {compat!r}: there is only paper")
    return bool(compat)


def task_values(
    drafts: list[str] | None, assignments: list[str] | None
) -> dict[str, Json]:
    """Return the settings of single tasks; a value is read as JSON where it is some.

    Raises:
        BadUsage: an assignment without `=`.
    """
    values: dict[str, Json] = {"drafts": list(drafts)} if drafts else {}
    for assignment in assignments or ():
        name, equals, text = assignment.partition("=")
        if not equals:
            raise BadUsage(f"--set takes NAME=VALUE, not {assignment!r}")
        try:
            values[name] = json.loads(text)
        except ValueError:
            values[name] = text
    return values

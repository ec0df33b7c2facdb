"""`csbdata eval`: put schemas and instances to engines, one row a unit."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 - typer reads it off the signature
from typing import TYPE_CHECKING, Annotated

import typer

from curation.system.errors import BadConfiguration
from evaluation.reporting.printing import ReportFormat, ReportFormatOption

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

#: Heading of the options that only matter where a model writes.
_MODELS = "Models"


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
    config: Annotated[
        list[str] | None,
        typer.Option(metavar="CONFIG", help="Only these configs; repeatable."),
    ] = None,
    split: Annotated[
        list[str] | None,
        typer.Option(metavar="SPLIT", help="Only these splits; repeatable."),
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
    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="Who writes in coverage and efficiency: smollm2, a folder, "
            "owner/name[@revision] on the Hub, or the URL of a server.",
            rich_help_panel=_MODELS,
        ),
    ] = "smollm2",
    device: Annotated[
        str,
        typer.Option(
            help="auto is a GPU where there is one; cpu, cuda, cuda:1.",
            rich_help_panel=_MODELS,
        ),
    ] = "auto",
    dtype: Annotated[
        str, typer.Option(help="bf16, fp16 or fp32.", rich_help_panel=_MODELS)
    ] = "bf16",
    threads: Annotated[
        int,
        typer.Option(
            min=1, help="Threads of the model on a CPU.", rich_help_panel=_MODELS
        ),
    ] = 1,
    prompt: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE",
            help="sections as the paper's Figure 3, chat for turns, or a file.",
            rich_help_panel=_MODELS,
        ),
    ] = "sections",
    shots: Annotated[
        int,
        typer.Option(min=0, help="Worked examples.", rich_help_panel=_MODELS),
    ] = 2,
    samples: Annotated[
        int,
        typer.Option(min=1, help="Texts for each schema.", rich_help_panel=_MODELS),
    ] = 1,
    temperature: Annotated[
        float,
        typer.Option(min=0.0, help="0 is greedy.", rich_help_panel=_MODELS),
    ] = 0.0,
    batch: Annotated[
        int,
        typer.Option(min=1, help="Texts written together.", rich_help_panel=_MODELS),
    ] = 1,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Tokens of a text [default: by the schema's own witnesses].",
            rich_help_panel=_MODELS,
        ),
    ] = None,
    forced: Annotated[
        bool,
        typer.Option(
            "--forced/--no-forced",
            help="Take tokens that are the only way on without asking the model.",
            rich_help_panel=_MODELS,
        ),
    ] = False,
    overlap: Annotated[
        str,
        typer.Option(
            help="What happens beside the model's passes: both, compile, mask, none.",
            rich_help_panel=_MODELS,
        ),
    ] = "both",
    price: Annotated[
        str,
        typer.Option(
            metavar="IN/OUT",
            help="What a server's tokens cost, for a million each.",
            rich_help_panel=_MODELS,
        ),
    ] = "",
    compat: Annotated[
        str,
        typer.Option(
            metavar="[paper]",
            help="As 2501.10868 did: its model, prompt, limits, test split, 2020-12.",
            rich_help_panel=_MODELS,
        ),
    ] = "",
    run_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The run's folder [default: runs/...]."),
    ] = None,
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

    Exits with 69 if no engine could be run.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from evaluation.commands.evaluating import default_tasks, execute
    from evaluation.core.task_settings import TaskSettings
    from evaluation.execution.engine_worker import Bounds
    from evaluation.generation.model_options import ModelOptions as AskedOfModels
    from evaluation.generation.model_options import (
        loop_options,
        parse_prices,
        split_revision,
    )
    from evaluation.measurement.request import RunRequest

    name, revision = split_revision(model)
    request = RunRequest(
        engines=engine or ["llguidance"],
        tasks=task or default_tasks(over_http="://" in model),
        data=data,
        tokenizer=tokenizer,
        preset=preset,
        options=option or [],
        settings=TaskSettings(seed=seed, orders=orders, values=_values(draft, value)),
        bounds=Bounds(
            compile_seconds=compile_seconds,
            run_seconds=run_seconds,
            memory_mb=memory,
        ),
        configs=config or [],
        splits=split or [],
        limit=limit,
        only=only or [],
        jobs=jobs,
        shard=_shard(shard),
        run_dir=run_dir,
        models=AskedOfModels(
            model=name,
            revision=revision,
            device=device,
            dtype=dtype,
            threads=threads,
            prompt=prompt,
            shots=shots,
            samples=samples,
            temperature=temperature,
            batch=batch,
            budget=budget,
            seed=seed,
            options=loop_options(
                overlap,
                forced=forced,
                compile_seconds=compile_seconds,
                run_seconds=run_seconds,
            ),
            memory_mb=memory,
            prices=parse_prices(price),
        ),
    )
    execute(request.as_paper() if _is_paper(compat) else request, format_)


def _is_paper(compat: str) -> bool:
    if compat not in ("", "paper"):
        raise BadConfiguration(f"--compat {compat!r}: there is only paper")
    return bool(compat)


def _values(
    drafts: list[str] | None, assignments: list[str] | None
) -> dict[str, UntypedJson]:
    """Return the settings of single tasks; a value is read as JSON where it is some.

    Raises:
        BadConfiguration: an assignment without `=`.
    """
    values: dict[str, UntypedJson] = {"drafts": drafts} if drafts else {}
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

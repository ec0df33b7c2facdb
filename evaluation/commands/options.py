"""The options that `csbdata eval` and `csbdata suite` share, and their run request."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from inspect import cleandoc
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec
import orjson
import typer
from msgspec import Meta

from curation.commands.options import path_option
from curation.system.errors import BadConfiguration, BadUsage
from curation.system.words import counted
from evaluation.core.records import Adapt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from _typeshed import DataclassInstance

    from curation.core.json_types import Json
    from evaluation.core.records import TokenPrices
    from evaluation.runner.request import ModelOptions, RunRequest, SuiteChoice


#: The folder of a run: its rows, and everything from which it is continued.
RunFolderOption = Annotated[
    Path | None,
    path_option("DIR", "The run's folder [default: runs/...]."),
]
#: Settings of tasks, suites, models and limits.
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting of the task, the suite or --help-all; repeatable.",
    ),
]


LimitOption = Annotated[
    int | None, typer.Option(min=1, help="Maximum number, each config by its share.")
]


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """Data."""

    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="A build, a folder or file of schemas, records of a suite, "
            "owner/name[@revision] on the Hub, or `own` [default: the suite's, "
            "a build, the Hub's, a sample].",
        ),
    ] = None
    config: Annotated[
        list[str] | None,
        typer.Option(metavar="CONFIG", help="Only these configs; repeatable."),
    ] = None
    split: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPLIT", hidden=True, help="Only these splits; repeatable."
        ),
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--id", metavar="[CONFIG/]ID", help="Only these records; repeatable."
        ),
    ] = None
    limit: LimitOption = None


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Engines."""

    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPEC",
            help="NAME, NAME==VERSION or an engine's file, each also with @PRESET "
            "(faithful, vendor, paper); none constrains nothing; for a server the way "
            "to send a schema: none, json, tool, strict, also with @EFFORT; repeatable "
            "[default: llguidance; for a suite none].",
        ),
    ] = None
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            hidden=True,
            help="An engine's option over its preset; ENGINE.NAME=VALUE for one "
            "engine; repeatable.",
        ),
    ] = None
    adapt: Annotated[
        Adapt,
        typer.Option(
            hidden=True,
            help="A schema that the provider refuses: none sends it as it is, safe "
            "rewrites it if all answers stay valid, nearest drops the rest too.",
        ),
    ] = Adapt.SAFE


@dataclass(frozen=True, kw_only=True)
class SpendingOptions:
    """Money."""

    max_cost: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="AMOUNT",
            hidden=True,
            help="Stop sending requests once the run's answers have cost this much.",
        ),
    ] = None
    max_requests: Annotated[
        int | None,
        typer.Option(
            min=1, hidden=True, help="Maximum number of requests to send now."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ModelGroup(SpendingOptions):
    """Models."""

    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="The writer: smollm2, a folder, owner/name[@revision] on the Hub, "
            "PROVIDER:NAME (anthropic, ...) or the URL of a server; for a suite "
            "repeatable [default: smollm2].",
        ),
    ] = None
    device: Annotated[
        str, typer.Option(help="auto is a GPU where there is one; cpu, cuda, cuda:1.")
    ] = "auto"


@dataclass(frozen=True, kw_only=True)
class WorkOptions:
    """Work."""

    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            hidden=True,
            help="Workers [default: 1 where times are taken, otherwise all cores].",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class RunOptions(WorkOptions, ModelGroup, EngineOptions, DataOptions):
    """What a run measures, with which engines and models."""


#: Values of settings: a number above 0, and seconds that a clock can wait for.
Count: TypeAlias = Annotated[int, Meta(ge=1)]
Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=1e5)]


class RunSettings(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """Settings of `--set` that belong to no single task or suite."""

    seed: Annotated[int, Meta(ge=0, description="seed of all draws")] = 0
    dtype: Annotated[
        str, Meta(description="bf16, fp16 or fp32; auto: bf16 on a GPU, otherwise fp32")
    ] = "auto"
    threads: Annotated[int, Meta(ge=1, description="threads of the model on a CPU")] = 1
    attention: Annotated[
        str, Meta(description="eager, sdpa, flash_attention_2, ...; empty: automatic")
    ] = ""
    samples: Annotated[int, Meta(ge=1, description="texts for each record")] = 1
    temperature: Annotated[float, Meta(ge=0, le=100, description="0 is greedy")] = 0.0
    batch: Annotated[int, Meta(ge=1, description="texts under way at a time")] = 1
    budget: Annotated[
        Count | None, Meta(description="tokens of a text; null: by record")
    ] = None
    forced: Annotated[
        bool, Meta(description="take tokens that are the only way on unasked")
    ] = False
    price: Annotated[
        str,
        Meta(
            description="of a server's tokens, PROMPT/OUTPUT a million each; of "
            "several models separated by commas; empty: the list of csbdata"
        ),
    ] = ""
    patience: Annotated[
        float,
        Meta(ge=0, le=1e5, description="minutes until a failing server is given up"),
    ] = 10.0
    repairs: Annotated[
        int, Meta(ge=0, description="times that a failed answer is handed back")
    ] = 0
    repeats: Annotated[
        int, Meta(ge=1, description="measurements of each case where times are taken")
    ] = 1
    orders: Annotated[
        int, Meta(ge=0, description="property orders besides the given one, of masks")
    ] = 0
    sha256: Annotated[
        str, Meta(description="how the digest of the data begins; refuse any other")
    ] = ""
    given_only: Annotated[
        bool, Meta(description="walk only instances that the data holds")
    ] = False
    vacuous: Annotated[
        bool,
        Meta(description="count vacuous records too: only their root's type can fail"),
    ] = False
    first: Annotated[
        bool, Meta(description="with --limit of a suite: the first records, no draw")
    ] = False
    compile_seconds: Annotated[
        Seconds,
        Meta(description="processor time of a compile; 4 times by the wall clock"),
    ] = 40.0
    run_seconds: Annotated[
        Seconds | None,
        Meta(
            description="the same for walks; a model's text by the clock, without "
            "waits for a core; null: 40, for a suite 120"
        ),
    ] = None
    load_seconds: Annotated[
        Seconds, Meta(description="wall clock of loading an engine")
    ] = 180.0
    memory: Annotated[
        int, Meta(ge=64, description="MiB of a worker once it is ready")
    ] = 4096


#: Columns of the settings in a command's help.
_COLUMNS = 76


def with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose `--help-all` lists the settings of `--set`."""
    members = msgspec.json.schema(RunSettings)["$defs"]["RunSettings"]["properties"]
    text = "\n".join(
        fill(
            f"{name}={msgspec.json.encode(about['default']).decode()}: "
            f"{about['description']}",
            width=_COLUMNS,
            initial_indent="  ",
            subsequent_indent="      ",
        )
        for name, about in members.items()
    )
    command.__doc__ = (
        f"{cleandoc(command.__doc__ or '')}\n\f\n\b\n"
        "Settings of --set (NAME=DEFAULT), besides the tasks' and suites':\n"
        f"{text}"
    )
    return command


def read_assignments(assignments: Sequence[str] | None) -> dict[str, Json]:
    """Return settings by name; a value is read as JSON if it is JSON.

    Raises:
        BadUsage: an assignment without `=`, or a value that no run's header can hold:
            a number beyond 64 bits, or a text that is not UTF-8.
    """
    values: dict[str, Json] = {}
    for assignment in assignments or ():
        name, equals, text = assignment.partition("=")
        if not equals:
            raise BadUsage(f"--set takes NAME=VALUE, not {assignment!r}")
        try:
            # A digest may be of digits alone.
            values[name] = text if name == "sha256" else json.loads(text)
        except (ValueError, RecursionError):
            values[name] = text
        try:
            orjson.dumps(values[name])
        except TypeError as error:
            raise BadUsage(f"--set {name}: {error}") from error
    return values


def split_settings(
    assignments: Sequence[str] | None, claimed: Sequence[str] = ()
) -> tuple[RunSettings, dict[str, Json]]:
    """Return the shared settings, and the others by name.

    Args:
        assignments: `NAME=VALUE` each.
        claimed: Names that a suite has a setting of; they are not shared ones.

    Raises:
        BadUsage: an assignment without `=`, or a value of another type.
    """
    shared: dict[str, Json] = {}
    values: dict[str, Json] = {}
    for name, value in read_assignments(assignments).items():
        is_shared = name in RunSettings.__struct_fields__ and name not in claimed
        (shared if is_shared else values)[name] = value
    try:
        return msgspec.convert(shared, RunSettings, strict=False), values
    except msgspec.ValidationError as error:
        raise BadUsage(f"--set: {error}") from error


def choose_named_suite(name: str, values: Mapping[str, Json]) -> SuiteChoice:
    """Return the suite of a command line: `NAME`, a folder, or either with `@paper`.

    Raises:
        BadConfiguration: unknown suite or setting.
    """
    from evaluation.runner.request import choose_suite
    from evaluation.suites.registry import is_path

    spec, at, compat = name.rpartition("@")
    if at and not is_path(compat):
        return choose_suite(spec, values, compat)
    return choose_suite(name, values)


def _named(kind: type[DataclassInstance], settings: RunSettings) -> dict[str, Any]:
    """Return the settings that are fields of a class too."""
    values = msgspec.structs.asdict(settings)
    return {
        field.name: values[field.name] for field in fields(kind) if field.name in values
    }


def model_options(run: RunOptions, settings: RunSettings) -> list[ModelOptions]:
    """Return each model with how it writes.

    Raises:
        BadConfiguration: an option makes no sense, or prices are missing.
    """
    from evaluation.runner.request import ModelOptions

    names = run.model or ["smollm2"]
    prices: list[TokenPrices | None] = [None]
    if settings.price:
        from evaluation.servers.models import parse_prices

        prices = [
            parse_prices(text) if text else None for text in settings.price.split(",")
        ]
    if len(prices) == 1:
        prices *= len(names)
    if len(prices) != len(names):
        raise BadConfiguration(
            f"{counted(len(prices), 'price')} for {counted(len(names), 'model')}",
            hint="give one price for all, or one for each --model",
        )
    options = []
    for text, price in zip(names, prices, strict=True):
        name, revision = split_revision(text)
        options.append(
            ModelOptions(
                model=name,
                revision=revision,
                device=run.device,
                prices=price,
                **_named(ModelOptions, settings),
            )
        )
    return options


def run_request(
    options: RunOptions,
    *,
    settings: RunSettings,
    values: Mapping[str, Json],
    run_dir: Path | None,
    suite: SuiteChoice | None = None,
    **fields_of_request: Any,  # noqa: ANN401 - other fields of the request
) -> RunRequest:
    """Return the request of `csbdata.run`.

    Raises:
        BadConfiguration: an option makes no sense.
    """
    from evaluation.core.cases import Bounds
    from evaluation.core.run_header import TaskSettings
    from evaluation.runner.request import RunRequest

    run_seconds = settings.run_seconds or (40.0 if suite is None else 120.0)
    settings = msgspec.structs.replace(settings, run_seconds=run_seconds)
    return RunRequest(
        suite=suite,
        engines=options.engine or (),
        options=options.option or (),
        adapt=options.adapt,
        data=options.data,
        configs=options.config or (),
        splits=options.split or (),
        only=options.only or (),
        limit=options.limit,
        settings=TaskSettings(
            seed=settings.seed, orders=settings.orders, values=values
        ),
        bounds=Bounds(memory_mb=settings.memory, **_named(Bounds, settings)),
        jobs=options.jobs,
        run_dir=run_dir,
        models=model_options(options, settings),
        max_cost=options.max_cost,
        max_requests=options.max_requests,
        **_named(RunRequest, settings),
        **fields_of_request,
    )


def split_revision(model: str) -> tuple[str, str | None]:
    """Return a model's name, and the revision that follows an `@`.

    Example:
        >>> split_revision("owner/name@main")
        ('owner/name', 'main')

    Raises:
        BadUsage: it names an unknown provider.
    """
    if Path(model).exists():
        return model, None
    provider, colon, _ = model.partition(":")
    if colon:
        from evaluation.servers.provider import is_served, providers

        if is_served(model):
            return model, None
        hint = f"type URL#MODEL, or one of {', '.join(filter(None, providers()))}"
        raise BadUsage(f"unknown provider {provider!r}", model, hint)
    name, _, revision = model.partition("@")
    return name, revision or None

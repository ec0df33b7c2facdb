"""`csbdata load`: requests at a rate to a model server, latencies and goodput."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import typer
from msgspec import Meta

from curation.commands.options import with_option_groups
from curation.system.errors import BadUsage
from curation.system.progress import Quiet, Shown
from curation.system.terminal import say
from curation.system.words import counted
from evaluation.commands.options import (
    Count,
    RunFolderOption,
    Seconds,
    SetOption,
    SpendingOptions,
    read_assignments,
)
from evaluation.commands.settings_help import with_settings
from evaluation.commands.show_run import say_stopped
from evaluation.reporting.printing import ReportFormat, ReportFormatOption, print_tables

if TYPE_CHECKING:
    from evaluation.load.arrivals import LoadSettings


#: Requests a second, at least: one in 17 minutes.
_SLOWEST: Final = 0.001


class SetOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of `--set`."""

    limit: Annotated[Count | None, Meta(description="most schemas; null: all")] = None
    budget: Annotated[
        Count | None, Meta(description="most tokens of a text; null: by witnesses")
    ] = None
    seconds: Annotated[Seconds, Meta(description="deadline of a text")] = 40.0
    concurrency: Annotated[
        int,
        Meta(
            ge=1,
            le=4096,
            description="most requests under way; waiting here counts as waiting",
        ),
    ] = 256
    burstiness: Annotated[
        float,
        Meta(
            ge=0.01,
            le=1000,
            description="shape of the gamma distribution of gaps: 1 is Poisson, below "
            "1 comes in bursts",
        ),
    ] = 1.0
    warm_up: Annotated[
        int, Meta(ge=0, description="requests of each stream that are not measured")
    ] = 8
    schemas: Annotated[
        str,
        Meta(
            description="one for all; marked: the same, new for each by a $comment; "
            "each its own; separated by commas"
        ),
    ] = "one,each"
    seed: Annotated[int, Meta(ge=0, description="seed of all draws")] = 0
    price: Annotated[str, Meta(description="of the server's tokens, as of eval")] = ""


@with_settings(SetOptions)
@with_option_groups
def load(  # noqa: PLR0913 (options of one command)
    *,
    target: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|RUN",
            help="A served model, PROVIDER:NAME or URL#NAME; or the folder of a run, "
            "whose tables are printed again.",
        ),
    ],
    rate: Annotated[
        float | None,
        typer.Option(
            metavar="PER_SECOND",
            help="Requests a second, at drawn times that wait for no answer; inf is "
            "all at once.",
        ),
    ] = None,
    goodput: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIMITS",
            help="When an answer is in time: ttft, tpot or e2e, such as "
            "'ttft:200ms tpot:50ms'.",
        ),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WAY",
            help="none, json, tool or strict: how the schema is asked for; repeatable "
            "[default: none].",
        ),
    ] = None,
    data: Annotated[
        str | None, typer.Option(metavar="DATA", help="As of csbdata eval.")
    ] = None,
    money: SpendingOptions,
    value: SetOption = None,
    run_dir: RunFolderOption = None,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Send requests to a server at a rate; measure latencies, goodput and validity.

    \b
    Examples:
      csbdata load http://localhost:8000/v1#qwen --rate 4
      csbdata load vllm:qwen --rate inf --engine strict --engine none
      csbdata load http://localhost:8000/v1 --rate 4 --goodput ttft:200ms
      csbdata load runs/4f1c22a09b3e

    Arrivals are drawn in advance; every time counts from the scheduled arrival. Killed
    at any moment, the same command continues. Exits with 69 if the server is gone.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from evaluation.load.run import LoadRequest, open_load, run_load
    from evaluation.servers.prices import parse_prices
    from evaluation.servers.provider import is_served

    if is_served(target):
        progress = Quiet() if format_ is ReportFormat.JSON else Shown()
        options = _options(value)
        request = LoadRequest(
            address=target,
            settings=_settings(rate, goodput or [], options),
            engines=engine or ("none",),
            data=data,
            limit=options.limit,
            budget=options.budget,
            seconds=options.seconds,
            run_dir=run_dir,
            max_cost=money.max_cost,
            max_requests=money.max_requests,
            prices=parse_prices(options.price),
        )
        run = run_load(request, progress)
    else:
        run = open_load(Path(target))
    print_tables(run.tables(), format_, {"run": str(run.folder), "header": run.header})
    say(f"{counted(len(run.rows), 'request')}. {run.folder}")
    say_stopped(run.stopped)


def _options(assignments: list[str] | None) -> SetOptions:
    try:
        return msgspec.convert(read_assignments(assignments), SetOptions, strict=False)
    except msgspec.ValidationError as error:
        raise BadUsage(f"--set: {error}") from error


def _settings(
    rate: float | None, goodput: list[str], options: SetOptions
) -> LoadSettings:
    """Return the arrival of requests.

    Raises:
        BadUsage: an option makes no sense.
    """
    from evaluation.load.arrivals import LoadSettings, SchemaChoice, parse_limits

    if rate is None:
        raise BadUsage("load needs a rate", then="such as --rate 4")
    if not rate >= _SLOWEST:
        raise BadUsage(f"--rate is above 0: {_SLOWEST} or more, inf for all at once")
    try:
        names = dict.fromkeys(options.schemas.split(","))
        choices = tuple(SchemaChoice(name) for name in names)
    except ValueError:
        raise BadUsage(f"schemas is one of {', '.join(SchemaChoice)}") from None
    return LoadSettings(
        rate=rate,
        concurrency=options.concurrency,
        burstiness=options.burstiness,
        warm_up=options.warm_up,
        choices=choices,
        limits=parse_limits(goodput),
        seed=options.seed,
    )

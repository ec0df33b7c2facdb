"""`csbdata load`: requests at a rate to a model server, latencies and goodput."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curation.commands.options import with_option_groups
from curation.system.errors import BadUsage
from curation.system.progress import Quiet, Shown
from curation.system.terminal import say
from evaluation.commands.options import (
    RunFolderOption,  # noqa: TC001 - typer reads it off the signature
)
from evaluation.reporting.printing import ReportFormat, ReportFormatOption, print_tables

if TYPE_CHECKING:
    from evaluation.load.arrivals import LoadSettings
    from evaluation.load.run import LoadRequest

_PANEL: Final = "Arrivals"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """The records for which the server is asked, and in which dialects."""

    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIALECT",
            help="none, json_schema, vllm, ...: how the schema is sent; repeatable "
            "[default: none].",
        ),
    ] = None
    data: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="As of csbdata eval."),
    ] = None
    limit: Annotated[int | None, typer.Option(min=1, help="Most schemas.")] = None
    budget: Annotated[
        int | None,
        typer.Option(
            min=1, help="Most tokens of a text [default: by the schema's witnesses]."
        ),
    ] = None
    seconds: Annotated[float, typer.Option(min=0.1, help="Deadline of a text.")] = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalOptions:
    """When requests arrive, and when an answer is in time."""

    rate: Annotated[
        float | None,
        typer.Option(
            metavar="PER_SECOND",
            help="Requests a second, at times that are drawn and wait for no answer. "
            "inf is all at once.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    concurrency: Annotated[
        int,
        typer.Option(
            min=1,
            max=4096,
            help="Most requests under way; waiting here counts as waiting.",
            rich_help_panel=_PANEL,
        ),
    ] = 256
    burstiness: Annotated[
        float,
        typer.Option(
            help="Shape of the gamma distribution of gaps: 1 is Poisson, below 1 "
            "comes in bursts.",
            rich_help_panel=_PANEL,
        ),
    ] = 1.0
    warm_up: Annotated[
        int,
        typer.Option(
            min=0,
            help="Requests of each stream before those that are measured.",
            rich_help_panel=_PANEL,
        ),
    ] = 8
    schemas: Annotated[
        list[str] | None,
        typer.Option(
            metavar="one|marked|each",
            help="One schema for all; the same, but new for each by a $comment; each "
            "its own; repeatable [default: one and each].",
            rich_help_panel=_PANEL,
        ),
    ] = None
    goodput: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIMITS",
            help="When an answer is in time: ttft, tpot or e2e, such as "
            "'ttft:200ms tpot:50ms'.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    seed: Annotated[
        int,
        typer.Option(min=0, help="Seed of what is drawn.", rich_help_panel=_PANEL),
    ] = 0


@with_option_groups
def load(
    *,
    target: Annotated[
        str,
        typer.Argument(
            metavar="URL#MODEL|RUN",
            help="A model server, or the folder of an earlier run, whose tables are "
            "printed again.",
        ),
    ],
    records: RecordOptions,
    arrivals: ArrivalOptions,
    run_dir: RunFolderOption = None,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Send requests to a server at a rate; measure latencies, goodput and validity.

    \b
    Examples:
      csbdata load http://localhost:8000/v1#Qwen/Qwen3-0.6B --rate 4 --limit 500
      csbdata load http://localhost:8000/v1#Qwen/Qwen3-0.6B --rate inf \
        --engine vllm --engine none --goodput 'ttft:200ms tpot:50ms'
      csbdata load runs/4f1c22a09b3e

    Arrivals are drawn in advance; every time counts from the scheduled arrival. Killed
    at any moment, the same command continues. Exits with 69 if the server is gone.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from evaluation.load.run import open_load, run_load

    if "://" in target:
        progress = Quiet() if format_ is ReportFormat.JSON else Shown()
        run = run_load(_request(target, records, arrivals, run_dir), progress)
    else:
        run = open_load(Path(target))
    print_tables(run.tables(), format_, {"run": str(run.folder), "header": run.header})
    say(f"{len(run.rows):,} requests. {run.folder}")


def _request(
    address: str,
    records: RecordOptions,
    arrivals: ArrivalOptions,
    run_dir: Path | None,
) -> LoadRequest:
    from evaluation.load.run import LoadRequest

    return LoadRequest(
        address=address,
        settings=_settings(arrivals),
        engines=records.engine or ("none",),
        data=records.data,
        limit=records.limit,
        budget=records.budget,
        seconds=records.seconds,
        run_dir=run_dir,
    )


def _settings(options: ArrivalOptions) -> LoadSettings:
    """Return the arrival of requests.

    Raises:
        BadUsage: an option makes no sense.
    """
    from evaluation.load.arrivals import LoadSettings, SchemaChoice, parse_limits

    if options.rate is None:
        raise BadUsage("load needs a rate", then="such as --rate 4")
    if not options.rate > 0 or not options.burstiness > 0:
        raise BadUsage("--rate and --burstiness are above 0")
    try:
        names = dict.fromkeys(options.schemas or ("one", "each"))
        choices = tuple(SchemaChoice(name) for name in names)
    except ValueError:
        raise BadUsage(f"--schemas is one of {', '.join(SchemaChoice)}") from None
    return LoadSettings(
        rate=options.rate,
        concurrency=options.concurrency,
        burstiness=options.burstiness,
        warm_up=options.warm_up,
        choices=choices,
        limits=parse_limits(options.goodput or []),
        seed=options.seed,
    )

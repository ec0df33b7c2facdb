"""The options of `csbdata eval` that say how requests arrive at a server."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from curation.system.errors import BadUsage

if TYPE_CHECKING:
    from evaluation.open_loop.settings import OpenLoopSettings

_PANEL: Final = "Open loop"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLoopOptions:
    """How requests arrive at a server."""

    rate: Annotated[
        float | None,
        typer.Option(
            metavar="PER_SECOND",
            help="Requests arrive at this rate, at times that are drawn and wait for "
            "no answer: task open-loop. inf is all at once.",
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
            help="Requests before those that are measured, of each stream.",
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


def open_loop_settings(options: OpenLoopOptions, seed: int) -> OpenLoopSettings | None:
    """Return how requests arrive; None where no rate is given.

    Raises:
        BadUsage: an option makes no sense.
    """
    from evaluation.open_loop.settings import (
        OpenLoopSettings,
        SchemaChoice,
        parse_limits,
    )

    limits = parse_limits(options.goodput or [])
    if options.rate is None:
        if limits or options.schemas:
            raise BadUsage("--goodput and --schemas go with --rate")
        return None
    if not options.rate > 0 or not options.burstiness > 0:
        raise BadUsage("--rate and --burstiness are above 0")
    try:
        named = dict.fromkeys(options.schemas or ())
        choices = tuple(SchemaChoice(name) for name in named)
    except ValueError:
        known = ", ".join(SchemaChoice)
        raise BadUsage(f"--schemas is one of {known}") from None
    settings = OpenLoopSettings(
        rate=options.rate,
        concurrency=options.concurrency,
        burstiness=options.burstiness,
        warm_up=options.warm_up,
        limits=limits,
        seed=seed,
    )
    return replace(settings, choices=choices) if choices else settings

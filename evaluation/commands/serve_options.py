"""The options that have a program serve the model: of `eval`, and of suites."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from evaluation.measurement.wanted_server import WantedServer

_PANEL: Final = "Serving"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """Which program serves the model, started for the run and ended with it."""

    serve: Annotated[
        str,
        typer.Option(
            metavar="vllm|sglang",
            help="Start this server in its own environment, have it serve --model, "
            "measure, and end it.",
            rich_help_panel=_PANEL,
        ),
    ] = ""
    serve_args: Annotated[
        str,
        typer.Option(
            metavar="ARGUMENTS",
            help="More arguments of the server, quoted as one.",
            rich_help_panel=_PANEL,
        ),
    ] = ""
    serve_seconds: Annotated[
        float,
        typer.Option(
            min=1.0,
            help="For how long it may take until it answers.",
            rich_help_panel=_PANEL,
        ),
    ] = 1800.0


def wanted_server(options: ServeOptions) -> WantedServer | None:
    """Return which program is to serve the model; None for none."""
    from evaluation.measurement.wanted_server import WantedServer

    if not options.serve:
        return None
    return WantedServer(
        program=options.serve,
        arguments=options.serve_args,
        seconds=options.serve_seconds,
    )

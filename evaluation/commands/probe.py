"""`csbdata probe`: how a served model handles schemas."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.commands.options import path_option, with_option_groups
from curation.system.terminal import log, say_command
from curation.system.words import command, counted
from evaluation.commands.options import SpendingOptions  # noqa: TC001 - typer reads it
from evaluation.reporting.printing import ReportFormat, ReportFormatOption, print_tables


@with_option_groups
def probe(
    *,
    target: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="A served model, PROVIDER:NAME or URL#NAME."
        ),
    ],
    as_profile: Annotated[
        Path | None,
        path_option(
            "FILE", "Write the findings on keywords as a profile for csbdata fit."
        ),
    ] = None,
    money: SpendingOptions,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Probe a server's handling of schemas, in at most 20 requests.

    \b
    Examples:
      csbdata probe http://localhost:8000/v1#qwen
      csbdata probe openai:gpt-6-luna --as-profile mine.toml --max-cost 0.50

    Prompts ask for values that the schema forbids: whether the server constrains at
    all, honours the order of properties, keeps the schema while the model reasons and
    under concurrency, for each of its ways to ask; and which keywords it holds,
    ignores or refuses. Exits with 69 if nothing is answered.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.system.atomic_files import atomic_file
    from evaluation.tasks.probe.endpoint import probe_endpoint

    if as_profile is None:
        endpoint = probe_endpoint(target, money.max_cost, money.max_requests, log)
    else:
        # A place that cannot be written is known before anything is paid for.
        with atomic_file(as_profile) as file:
            file.touch()
            endpoint = probe_endpoint(target, money.max_cost, money.max_requests, log)
            file.write_text(endpoint.profile(as_profile.stem), "utf-8")
    server = endpoint.server.connection
    head = {
        "server": server.base,
        "provider": server.provider.name,
        "model": server.model,
        "date": endpoint.date,
        "requests": endpoint.requests,
    }
    print_tables(endpoint.tables(), format_, head)
    log(f"{counted(endpoint.requests, 'request')} sent.")
    if as_profile is not None:
        say_command("Next", command("fit", "FILE", "--for", as_profile))

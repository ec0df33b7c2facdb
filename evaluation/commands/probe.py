"""`csbdata probe`: how a served model handles schemas."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from curation.commands.options import path_option, with_option_groups
from curation.system.terminal import log, say_command
from curation.system.words import command, counted
from evaluation.commands.options import SpendingOptions  # noqa: TC001 - typer reads it
from evaluation.reporting.printing import ReportFormat, ReportFormatOption, print_tables


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceOptions:
    """Acceptance of schemas."""

    acceptance: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="Send each schema of it once, with the fewest tokens.",
        ),
    ] = None
    out: Annotated[
        Path | None,
        path_option(
            "FILE",
            "Its table, which the same command continues: a line a record "
            "[default: acceptance.jsonl].",
        ),
    ] = None


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
    table: AcceptanceOptions,
    money: SpendingOptions,
    format_: ReportFormatOption = ReportFormat.AUTO,
) -> None:
    """Probe a server's handling of schemas, in at most 20 requests.

    \b
    Examples:
      csbdata probe http://localhost:8000/v1#qwen
      csbdata probe openai:gpt-6-luna --as-profile mine.toml --max-cost 0.50
      csbdata probe openai:gpt-6-luna --acceptance build/clean --max-cost 2

    Prompts ask for values that the schema forbids: whether the server constrains at
    all, streams, honours the order of properties, keeps the schema while the model
    reasons and under concurrency, for each of its ways to ask; and which keywords it
    holds, ignores or refuses. --acceptance asks with the schemas of a source instead,
    one request each; rerun to resume. Exits with 69 if nothing is answered.
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.system.atomic_files import atomic_file
    from evaluation.tasks.probe.endpoint import probe_endpoint

    if table.acceptance is not None:
        out = table.out or Path("acceptance.jsonl")
        _print_acceptance(target, table.acceptance, out, money, format_)
        return
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


def _print_acceptance(
    target: str, source: str, out: Path, money: SpendingOptions, format_: ReportFormat
) -> None:
    from curation.download.cache import FetchSettings
    from evaluation.data import open_data
    from evaluation.reporting.tables import Table
    from evaluation.tasks.probe.acceptance import Acceptance, ask_records
    from evaluation.tasks.probe.acceptance import write_acceptance as write

    settings = FetchSettings.from_environment()
    data = open_data(source, instances=False, settings=settings)
    records = [record for record in data.records() if record.schema is not None]
    limits = money.max_cost, log, money.max_requests
    lines = write(
        out, records, lambda remaining: ask_records(target, remaining, *limits)
    )
    columns = Acceptance.__struct_fields__
    rows = tuple(tuple(getattr(line, name) for name in columns) for line in lines)
    print_tables([Table(title="acceptance", columns=columns, rows=rows)], format_, {})
    log(f"{counted(len(lines), 'record')} of {len(records):,}: {out}")

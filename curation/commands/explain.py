"""`csbdata explain`: one record's story, or everything rejected for one reason."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from pathlib import Path  # noqa: TC003 - typer reads it off the signature
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from curation.core.documents import ABSENT, Change, Reason
from curation.core.records import Record
from curation.dataset.editions import DEFAULT_BUILD
from curation.system.escaping import shortened
from curation.system.tables import table
from curation.system.terminal import (
    Format,
    FormatOption,
    print_json,
    show,
    show_whole,
    stdout,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from curation.core.json_types import Json
    from curation.dataset.story import DocumentStory

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_MOST_CHANGES = 5


def explain(  # noqa: PLR0913, PLR0917 (one parameter an option)
    unique_id: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="A record's id, or config/id."),
    ] = None,
    reason: Annotated[
        Reason | None, typer.Option(help="List what was rejected for this reason.")
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="List what was rejected of this config."),
    ] = None,
    build: Annotated[
        Path, typer.Option("--in", metavar="DIR", help="The build to look into.")
    ] = DEFAULT_BUILD,
    every: Annotated[
        bool, typer.Option("--all", help="Show each rule's changes to the last one.")
    ] = False,
    format_: FormatOption = Format.AUTO,
) -> None:
    """Tell what happened to one raw document, change by change, and why.

    Example: csbdata explain o13947

    Example: csbdata explain --reason template

    Example: csbdata explain --config Github_easy

    GitHub's files that were rejected before their subset was known are of the config
    `Github`.
    """
    from curation.dataset.story import rule_summaries, stories

    if (unique_id is None) == (reason is None and config is None):
        message = "give either an ID, or --reason REASON, --config NAME or both"
        raise typer.BadParameter(message)
    if unique_id is None:
        _list_rejected(build, reason, config, format_)
        return
    found = stories(build, unique_id)
    summaries = rule_summaries(build)
    if format_ is Format.JSON:
        print_json([_as_json(story) for story in found])
        return
    for number, story in enumerate(found):
        if number:
            show("")
        _print_story(story, summaries, every=every)


def _list_rejected(
    build: Path, reason: Reason | None, config: str | None, format_: Format
) -> None:
    """Print what was rejected for a reason, of a config, or both."""
    from curation.dataset.ledger import open_ledger

    rows = open_ledger(build).rejected(reason=reason, config=config)
    if format_ is Format.JSON:
        asked: dict[str, Json] = {"reason": reason, "config": config}
        known = {name: value for name, value in asked.items() if value is not None}
        print_json({**known, "documents": rows.to_dicts()})
        return
    if reason is not None:
        show(f"{reason.value}: {reason.explanation}", style="bold")
    if config is not None:
        show(f"rejected of {config}", style="bold")
    count = len(rows)
    show("1 document" if count == 1 else f"{count:,} documents")
    if count:
        columns = ["config", "unique_id", "reason", "rule"]
        if reason is not None:
            columns.remove("reason")
        cells = rows.select(columns).rows()
        cut = [shortened(detail, 100) for detail in rows["detail"]]
        listed = [[*row, detail] for row, detail in zip(cells, cut, strict=True)]
        stdout().print(table([*columns, "detail"], listed))


def _as_json(story: DocumentStory) -> dict[str, Json]:
    entry = asdict(story.entry)
    for change in entry["changes"]:
        for side in ("before", "after"):
            if change[side] == ABSENT:
                change[side] = None
    if not story.kept:
        entry["explanation"] = story.explanation
    return {**entry, "record": story.record}


def _print_story(
    story: DocumentStory, summaries: Mapping[str, str], *, every: bool
) -> None:
    entry = story.entry
    verdict = f"kept, in {entry.split}" if story.kept else f"rejected: {entry.outcome}"
    show(f"{entry.config}/{entry.unique_id}  {verdict}", style="bold")
    for name, value in _facts(story):
        if value:
            show(f"  {name:<12}{value}")
    if not story.kept:
        show("")
        _print_rejection(story, summaries)
    for rule, changes in groupby(entry.changes, key=lambda change: change.rule):
        show("")
        show(f"{rule}: {summaries.get(rule, '')}".strip(" :"), style="bold cyan")
        _print_changes(list(changes), every=every)


def _facts(story: DocumentStory) -> Iterable[tuple[str, str]]:
    entry = story.entry
    yield "source", f"{entry.source} ({entry.origin}), {entry.commit}"
    yield "path", entry.path
    yield "licence", entry.licence
    yield "found in", entry.original_repository or ""
    yield "raw sha256", entry.raw_sha256
    yield "sha256", entry.sha256
    if not story.record:
        return
    record = msgspec.convert(story.record, Record)
    yield "dialect", f"{record.dialect}, {record.dialect_found}"
    yield "valid under", ", ".join(record.valid_under)
    figures = (
        f"{record.field_count:,} fields, fan-out {record.max_fan_out:,}, "
        f"depth {record.depth:,}, {record.size:,} bytes"
    )
    yield "measures", figures
    yield "features", ", ".join(record.features)
    yield "formats", ", ".join(record.formats)
    yield "lints", ", ".join(record.lints)
    yield "fastjson...", record.fastjsonschema or ""


def _print_rejection(story: DocumentStory, summaries: Mapping[str, str]) -> None:
    entry = story.entry
    show(f"  reason      {entry.outcome}: {story.explanation}")
    if entry.rule:
        show(
            f"  rule        {entry.rule}: {summaries.get(entry.rule, '')}".rstrip(" :")
        )
    if entry.detail:
        show(f"  detail      {shortened(entry.detail, 2_000)}", style="yellow")


def _print_changes(changes: Sequence[Change], *, every: bool) -> None:
    from curation.json.line_diff import line_diff

    shown = changes if every else changes[:_MOST_CHANGES]
    for change in shown:
        note = f"  ({change.note})" if change.note else ""
        show(f"  at {change.pointer or 'the root'}{note}")
        for line in line_diff(change.before, change.after):
            style = _COLOURS.get(line[0], "")
            show_whole(f"    {line}", style)
    if len(changes) > len(shown):
        show(f"  ... and {len(changes) - len(shown):,} more places (--all)")

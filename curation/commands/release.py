"""`csbdata release`: the next version of a dataset folder, and its changelog."""

from __future__ import annotations

import datetime
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.commands.options import DatasetFolderArgument  # noqa: TC001 - typer reads it off the signature
from curation.dataset.editions import DEFAULT_BUILD
from curation.system.terminal import Format, FormatOption, print_json, say, show

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.publish.release import Release


def release(  # noqa: PLR0913 (one parameter an option)
    *,
    folder: DatasetFolderArgument = DEFAULT_BUILD,
    against: Annotated[
        str,
        typer.Option(
            metavar="DIR|REPO",
            help="The last release: a folder, or owner/name[@revision], whose "
            "highest version tag, else main, is taken [default: none].",
        ),
    ] = "",
    date: Annotated[
        str,
        typer.Option(
            metavar="YYYY-MM-DD",
            help="Day of the release, for the card; its month labels the release.",
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show it and change nothing.")
    ] = False,
    allow_partial: Annotated[
        bool, typer.Option("--allow-partial", help="Release a partial build too.")
    ] = False,
    format_: FormatOption = Format.AUTO,
) -> None:
    """Give a dataset folder its next version, and write its CHANGELOG.md.

    Major: ids, schemas, configs or splits changed or were removed. Minor: records or
    instances were added. Patch: only other columns or files changed. The edition
    published with the paper counts as 1.0.0. The version is written into the
    folder (manifest, card); `csbdata push` sets the tag.

    Exits with 65 if the build is partial, 78 if the change needs another major
    version than the folder was built for.

    \b
    Examples:
      csbdata release --against OWNER/JSONSchemaBench --dry-run
      csbdata release build/JSONSchemaBench --against released/JSONSchemaBench
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from curation.publish.dataset_diff import Level
    from curation.publish.release import write_release

    try:
        released = str(datetime.date.fromisoformat(date)) if date else ""
    except ValueError:
        what = f"--date {date!r}: a day is YYYY-MM-DD"
        raise typer.BadParameter(what) from None
    next_one = _next(folder, against, allow_partial=allow_partial, released=released)
    nothing = next_one.previous is not None and next_one.level is Level.NONE
    if not (nothing or dry_run):
        write_release(next_one)
    if format_ is Format.JSON:
        print_json(_as_json(next_one, written=not (nothing or dry_run)))
    elif nothing:
        show(f"Nothing changed since {next_one.previous}: there is nothing to release.")
    else:
        show(next_one.changelog.rstrip())
        done = "would be" if dry_run else "is"
        say(f"{folder} {done} {next_one.version}; csbdata push publishes and tags it")


def _next(folder: Path, against: str, *, allow_partial: bool, released: str) -> Release:
    from curation.publish.release import last_release, next_release

    if not against:
        return next_release(
            folder, None, allow_partial=allow_partial, released=released
        )
    from curation.download.huggingface import HubTimeLimits, hub_client

    with hub_client(HubTimeLimits()), last_release(against) as last:
        return next_release(
            folder, last, allow_partial=allow_partial, released=released
        )


def _as_json(next_one: Release, *, written: bool) -> dict[str, Json]:
    kinds = Counter(kind for pair in next_one.diff.pairs for kind in pair.kinds)
    instances: dict[str, Json] = {
        changes.config: {"added": changes.added, "changed": changes.changed}
        for changes in next_one.diff.instances
    }
    return {
        "folder": str(next_one.folder),
        "previous": str(next_one.previous) if next_one.previous else None,
        "version": str(next_one.version),
        "level": next_one.level.name.lower() if next_one.previous else None,
        "records": dict(kinds),
        "instances": instances,
        "written": written,
        "changelog": next_one.changelog,
    }

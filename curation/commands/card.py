"""`csbdata card`: write or check all derived files of a dataset folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from curation.system.errors import BadUsage
from curation.system.terminal import Format, FormatOption, log, print_json, show
from curation.system.words import counted

_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def card(
    *,
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="A folder that csbdata built.")
    ] = Path("build/JSONSchemaBench"),
    repo: Annotated[
        str,
        typer.Option(
            metavar="OWNER/NAME",
            help="Its repository on the Hub, kept in the manifest.",
        ),
    ] = "",
    format_: FormatOption = Format.AUTO,
) -> None:
    """Write the card of a built folder again, from its rows, ledger and manifest.

    With the card come LICENSE and LICENSES/, plots/, the counts of manifest.json, and
    SHA256SUMS: the same bytes as the build wrote, if nothing else has changed. Rows and
    ledger are only read. `csbdata verify` names the files that differ.

    \b
    Examples:
      csbdata card
      csbdata card --repo OWNER/JSONSchemaBench build/JSONSchemaBench
    """  # noqa: D301 (a backspace makes click keep the lines that follow)
    from msgspec.structs import replace

    from curation.packaging.derived_files import rebuild
    from curation.packaging.manifest import read_facts
    from curation.system.atomic_files import writing

    facts = read_facts(folder)
    if repo:
        if not _NAME.fullmatch(repo):
            raise BadUsage("not a name on the Hub", repo, "--repo OWNER/NAME")
        facts = replace(facts, repository=repo)
    with writing(folder):
        written = rebuild(folder, facts)
    if format_ is Format.JSON:
        print_json({"folder": str(folder), "written": sorted(written)})
    else:
        show("\n".join(sorted(written)))
        log(f"{counted(len(written), 'file')} written in {folder}")

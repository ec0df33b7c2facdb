"""`csbdata site`: the static site of an edition of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.commands.options import local_path
from curation.system.terminal import say
from curation.system.words import counted


def site(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="An edition.", parser=local_path)
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The site's folder.", parser=local_path)
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DATASET",
            help="The build that it was measured on: schemas and texts are shown too.",
            parser=local_path,
        ),
    ] = None,
) -> None:
    """Build the site of an edition: static pages that open from a folder too.

    Example: csbdata site results/2026.11 --data build/JSONSchemaBench --out site
    """
    from evaluation.site.build import build_site

    files = build_site(results, data, out)
    say(f"{counted(len(files), 'file')} in {out}; open {out / 'index.html'}")

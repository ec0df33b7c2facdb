"""`csbdata site`: the static site of an edition of results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from curation.commands.options import path_argument, path_option
from curation.system.terminal import log
from curation.system.words import counted


def site(
    results: Annotated[Path, path_argument("RESULTS", "An edition.")],
    out: Annotated[Path, path_option("DIR", "The site's folder.")],
    data: Annotated[
        Path | None,
        path_option(
            "DATASET",
            "The build that it was measured on: schemas and texts are shown too.",
        ),
    ] = None,
) -> None:
    """Build the site of an edition: static pages that open from a folder too.

    Example: csbdata site results/2026.11 --data build/JSONSchemaBench --out site
    """
    from evaluation.site.build import build_site

    files = build_site(results, data, out)
    log(f"{counted(len(files), 'file')} in {out}; open {out / 'index.html'}")

"""The page that compares two engines on records that a reader chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.results.edition import pairs_table
from evaluation.site.rendering import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.site.site import Page, Site


def pages(site: Site) -> Iterator[Page]:
    """Yield the page: every pair without a script, and a choice with one."""
    yield render(
        "vs.html",
        "pairs",
        site=site,
        title="Who is better on schemas like mine?",
        table=pairs_table(site.index),
    )

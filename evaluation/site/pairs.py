"""The pages that compare two engines, on records that a reader chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from evaluation.results.edition import pairs_table
from evaluation.site.rendering import render, slug

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.site.site import Page, Site


def pages(site: Site) -> Iterator[Page]:
    """Yield a page of all pairs and one of each: without a script, only its counts."""
    title = "Who is better on schemas like mine?"
    paths = [f"vs/{slug(it.a)}/{slug(it.b)}.html" for it in site.index.pairs]
    chosen = [(it.a, it.b, f"{it.a} or {it.b}", [it]) for it in site.index.pairs]
    every = ("", "", title, site.index.pairs)
    for path, (a, b, name, own) in zip(
        ["vs.html", *paths], [every, *chosen], strict=True
    ):
        table = pairs_table(msgspec.structs.replace(site.index, pairs=own))
        links = [] if a else paths
        yield render(
            path, "pairs", site=site, title=name, table=table, links=links, a=a, b=b
        )

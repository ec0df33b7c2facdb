"""The first page: which engine to take; and those that compare two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from curation.fit.profile import Profile, SourceKind, load_profiles
from curation.system.file_names import safe_name
from evaluation.results.edition import Times, all_asked_table, pairs_table
from evaluation.site.classes import Class, rates_of
from evaluation.site.rendering import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.fit.records import TargetCount
    from evaluation.site.site import Page, Site


def pages(site: Site) -> Iterator[Page]:
    """Yield the first page, and those of pairs."""
    yield _first(site)
    yield from _pairs(site)


def _first(site: Site) -> Page:
    """Return the first page: the engines on the records that all were asked."""
    own = site.common_lines
    compiled = [
        {(line["config"], line["id"]) for line in lines if line["compiled"]}
        for lines in own.values()
    ]
    by_all = set.intersection(*compiled) if compiled else set()
    matrix: list[dict[str, Any]] = []
    for engine, lines in own.items():
        timed = [line for line in lines if (line["config"], line["id"]) in by_all]
        times = [Times.of_rows(timed, name) for name in ("compile_ns", "between_ns")]
        matrix.append({"engine": engine, "rates": rates_of(lines), "times": times})
    matrix.sort(key=lambda row: -row["rates"][Class.RIGHT].count)
    return render(
        "index.html",
        "front",
        site=site,
        title="Which engine, which provider?",
        matrix=matrix,
        classes=[
            each for each in Class if any(row["rates"][each].count for row in matrix)
        ],
        timed=len(by_all),
        table=all_asked_table(site.index),
        providers=_providers(site),
    )


def _pairs(site: Site) -> Iterator[Page]:
    """Yield a page of all pairs and one of each, on records that a reader chooses.

    Without a script, only its counts.
    """
    title = "Who is better on schemas like mine?"
    paths = [f"vs/{safe_name(it.a)}/{safe_name(it.b)}.html" for it in site.index.pairs]
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


def _providers(site: Site) -> list[tuple[Profile, TargetCount]]:
    """Return what providers and servers take by what is written of them, most first."""
    found = [
        (profile, site.fits[profile.name])
        for profile in load_profiles("all")
        if profile.name in site.fits
        and {it.evidence for it in profile.sources.values()} != {SourceKind.PROBED}
    ]
    return sorted(found, key=lambda each: -each[1].taken)

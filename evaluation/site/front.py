"""The first page: which engine to take, which provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from curation.fit.profile import Profile, SourceKind, load_profiles
from evaluation.results.edition import all_asked_table
from evaluation.results.headline import ALL
from evaluation.site.classes import Class, rates_of
from evaluation.site.rendering import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.fit.records import TargetCount
    from evaluation.site.site import Page, Site


def pages(site: Site) -> Iterator[Page]:
    """Yield the page: the engines on the records that all were asked."""
    own = site.common_lines
    times = {
        line["engine"]: line
        for line in site.headline.filter(config=ALL).iter_rows(named=True)
    }
    matrix: list[dict[str, Any]] = [
        {"engine": engine, "rates": rates_of(lines), "times": times[engine]}
        for engine, lines in own.items()
    ]
    matrix.sort(key=lambda row: -row["rates"][Class.RIGHT].count)
    yield render(
        "index.html",
        "front",
        site=site,
        title="Which engine, which provider?",
        matrix=matrix,
        times={
            "compile_median": "compile",
            "first_median": "first mask",
            "mask_median": "mask",
        },
        classes=[
            each for each in Class if any(row["rates"][each].count for row in matrix)
        ],
        timed=max((it["schemas"] or 0 for it in times.values()), default=0),
        table=all_asked_table(site.index, site.rows),
        providers=_providers(site),
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

"""The page about an edition: how it was measured, its files, columns and words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.results.edition import COLUMNS, INDEX, ROWS, scorecards_table
from evaluation.results.outcomes import Outcome
from evaluation.site.classes import Class
from evaluation.site.rendering import render
from evaluation.tasks.probe.outcomes import ProbeOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.site.site import Page, Site


def pages(site: Site) -> Iterator[Page]:
    """Yield the page."""
    yield render(
        "about.html",
        "about",
        site=site,
        title="How it was measured, and the data",
        columns={name: meaning for name, (_, meaning) in COLUMNS.items()},
        files=[ROWS, INDEX],
        words={
            "classes of schemas": Class,
            "outcomes": Outcome,
            "probes": ProbeOutcome,
        },
        suites=scorecards_table(site.index),
    )

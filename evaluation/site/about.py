"""Findings, data and method: causes of faults, files and columns, definitions."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from evaluation.results.edition import (
    COLUMNS,
    INDEX,
    ROWS,
    pairs_table,
    read_engine,
    scorecards_table,
)
from evaluation.results.outcomes import Outcome
from evaluation.site.classes import Class
from evaluation.site.engines import causes_of
from evaluation.site.rendering import render
from evaluation.tasks.masks import NAME as MASKS
from evaluation.tasks.probe.outcomes import ProbeOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.site.site import Page, Site


def pages(site: Site) -> Iterator[Page]:
    """Yield the three pages."""
    yield render(
        "findings.html",
        "findings",
        site=site,
        title="What is wrong, and in which versions?",
        findings=_findings(site),
    )
    yield render(
        "data.html",
        "data",
        site=site,
        title="What the figures are made of",
        columns={name: meaning for name, (_, meaning) in COLUMNS.items()},
        files=[ROWS, INDEX, *(entry.file for entry in site.index.engines)],
    )
    yield render(
        "method.html",
        "method",
        site=site,
        title="How it was measured",
        words={
            "classes of schemas": Class,
            "outcomes": Outcome,
            "probes": ProbeOutcome,
        },
        pairs=pairs_table(site.index),
        suites=scorecards_table(site.index),
    )


def _findings(site: Site) -> list[tuple[str, list[str], list[dict[str, Any]]]]:
    """Return the causes of each engine's wrong texts, with the versions that have them.

    Versions are compared on the records that every engine was asked.
    """
    versions: dict[str, list[str]] = defaultdict(list)
    for entry in site.index.engines:
        if (entry.engine, MASKS) in site.by_task:
            versions[read_engine(site.folder / entry.file).name].append(entry.engine)
    found = []
    for name, engines in versions.items():
        causes: dict[str, dict[str, Any]] = {}
        for engine in engines:
            for cause in causes_of(site.common_lines.get(engine, [])):
                own = causes.setdefault(cause["name"], {**cause, "counts": {}})
                own["counts"][engine] = cause["count"]
        ranked = sorted(
            causes.values(), key=lambda own: (-max(own["counts"].values()), own["name"])
        )
        found.append((name, engines, ranked))
    return found

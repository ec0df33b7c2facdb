"""Pages of engines: versions, what stops each, causes, slowest schemas."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from evaluation.reporting.tables import Duration
from evaluation.results.edition import TASKS, Line, is_cut
from evaluation.site.classes import Class, class_of, rates_of
from evaluation.site.keywords import (
    keywords_of_messages,
)
from evaluation.site.rendering import engine_path, render
from evaluation.tasks.masks import NAME as MASKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evaluation.site.site import Page, Site

#: Lines of a list, and examples of one of them.
_MOST: Final = 10
_EXAMPLES: Final = 3


def pages(site: Site) -> Iterator[Page]:
    """Yield the page of each engine."""
    entries = site.index.engines
    known = keywords_of_messages(site)
    for entry in entries:
        lines = site.by_task.get((entry.engine, MASKS), [])
        versions = [it.engine for it in entries if it.name == entry.name]
        yield render(
            engine_path(entry.engine),
            "engine",
            site=site,
            title=entry.engine,
            entry=entry,
            tasks=TASKS,
            versions={
                engine: rates_of(site.common_lines.get(engine, []))
                for engine in versions
            },
            refusals=_refusals(lines, known),
            causes=causes_of(lines),
            slowest={
                "compile call": _slowest(lines, "compile_ns"),
                "time between masks": _slowest(lines, "between_ns"),
            },
        )


def _refusals(
    lines: Sequence[Line], known: Mapping[str, set[str]]
) -> list[dict[str, Any]]:
    """Return keywords to the refused schemas that get the messages of their probes.

    The most frequent first; last, with an empty name, messages that no probe gets.
    """
    refused = {
        (line["config"], line["id"]): line
        for line in lines
        if class_of(line) is Class.REFUSED
    }
    names = {digest: " ".join(sorted(own)) for digest, own in known.items()}
    ranked = _ranked([(names.get(it["message"], ""), it) for it in refused.values()])
    return sorted(ranked, key=lambda each: not each["name"])


def causes_of(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Return the causes of wrong texts, the most frequent first."""
    return _ranked(
        [(why, line) for line in lines for why in line["why"].split(" | ") if why]
    )


def _ranked(named: Sequence[tuple[str, Line]]) -> list[dict[str, Any]]:
    """Return names with how many lines have them, and these lines in order."""
    groups: dict[str, list[Line]] = defaultdict(list)
    for name, line in named:
        groups[name].append(line)
    return [
        {
            "name": name,
            "count": len(own),
            "lines": sorted(own, key=lambda line: (line["config"], line["id"])),
            "examples": _EXAMPLES,
        }
        for name, own in sorted(groups.items(), key=lambda it: (-len(it[1]), it[0]))
    ]


def _slowest(lines: Sequence[Line], column: str) -> list[tuple[Line, Duration]]:
    timed = sorted(
        (line for line in lines if line[column] is not None),
        key=lambda line: (-line[column], line["config"], line["id"]),
    )
    return [
        (line, Duration(line[column], column == "compile_ns" and is_cut(line)))
        for line in timed[:_MOST]
    ]

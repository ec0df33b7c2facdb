"""A page for each keyword: which engine enforces it, and in which place of a schema."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

from curation.fit.profile import Profile, load_profiles
from curation.system.file_names import safe_name
from evaluation.results.outcomes import Outcome
from evaluation.site.rendering import keyword_path, render
from evaluation.tasks.probe import NAME
from evaluation.tasks.probe.outcomes import GOOD, ProbeOutcome, of_outcome
from evaluation.tasks.probe.task import all_placed, case_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluation.results.edition import Line
    from evaluation.site.site import Page, Site
    from evaluation.tasks.probe.probe import PlacedProbe


#: Outcomes of probes to the colours of the first page.
_TONES = {
    ProbeOutcome.REFUSED: "refused",
    ProbeOutcome.IGNORED: "silent",
    ProbeOutcome.WRONG: "silent",
    ProbeOutcome.OVER_STRICT: "blocked",
}


def tone(outcome: ProbeOutcome | None) -> str:
    """Return the colour of an outcome; None: it was not run."""
    if outcome is None:
        return "none"
    return "right" if outcome in GOOD else _TONES.get(outcome, "died")


def probe_outcome(line: Line) -> ProbeOutcome:
    """Return what became of the probe of a line."""
    return of_outcome(Outcome(line["outcome"]), line["valid"] + line["invalid"])


@cache
def keywords_of_probes() -> dict[tuple[str, str], str]:
    """Return the keyword whose page shows each probe, by dialect and id of its case."""
    return {
        (placed.dialect, case_of(placed).id): placed.probe.keyword
        for placed in all_placed()
    }


def keywords_of_messages(site: Site) -> dict[str, set[str]]:
    """Return the keywords whose probes are refused with a message, by its digest."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in site.lines:
        keyword = keywords_of_probes().get((line["config"], line["id"]))
        if keyword and line["message"] and " + " not in line["id"]:
            found[line["message"]].add(keyword)
    return found


def pages(site: Site) -> Iterator[Page]:
    """Yield the page of each keyword, and the list of them."""
    outcomes = {
        (line["engine"], line["config"], line["id"]): probe_outcome(line)
        for line in site.lines
        if line["task"] == NAME
    }
    probes: dict[str, list[PlacedProbe]] = defaultdict(list)
    for placed in all_placed():
        probes[placed.probe.keyword].append(placed)
    profiles = load_profiles("all")
    newest = newest_versions(site.engines)
    listed = []
    for keyword, own in sorted(probes.items()):
        cells = {
            engine: [
                outcomes.get((engine, placed.dialect, case_of(placed).id))
                for placed in own
                if " + " not in placed.probe.name
            ]
            for engine in newest
        }
        feature = own[0].probe.group
        listed.append(
            {
                "keyword": keyword,
                "cells": [_summary(cells[engine]) for engine in newest],
                "feature": feature,
                "schemas": site.features.get(feature),
            }
        )
        yield render(
            keyword_path(keyword),
            "keyword",
            site=site,
            title=f"Who enforces {keyword}, and where?",
            entry=listed[-1],
            probes=_probes(site, own, outcomes),
            profiles=[(profile, *_told(profile, keyword)) for profile in profiles],
            tone=tone,
            outcomes=list(ProbeOutcome),
        )
    yield render(
        "can/index.html",
        "keywords",
        site=site,
        title="Who enforces which keyword?",
        listed=listed,
        newest=newest,
    )


def newest_versions(engines: Sequence[str]) -> list[str]:
    """Return those of `NAME VERSION PRESET` of which there is no newer version.

    >>> newest_versions(["a 0.9 faithful", "a 0.10 faithful", "a 0.9 vendor", "none"])
    ['a 0.10 faithful', 'a 0.9 vendor', 'none']
    """
    newest: dict[tuple[str, ...], str] = {}
    for engine in sorted(
        engines,
        key=lambda it: [int(n) for n in re.findall(r"\d+", "".join(it.split()[1:2]))],
    ):
        name, *rest = engine.split(" ")
        newest[name, *rest[1:]] = engine
    return [engine for engine in engines if engine in newest.values()]


def _summary(outcomes: Sequence[ProbeOutcome | None]) -> dict[str, Any]:
    """Return how many probes are as specified, and what most of the others are."""
    run = [each for each in outcomes if each is not None]
    good = sum(each in GOOD for each in run)
    bad = Counter(each for each in run if each not in GOOD).most_common(1)
    worst = bad[0][0] if bad else ProbeOutcome.ENFORCED
    return {
        "run": len(run),
        "good": good,
        "tone": tone(worst if run else None),
        "most": worst.value,
    }


def _probes(
    site: Site,
    probes: Sequence[PlacedProbe],
    outcomes: dict[tuple[str, str, str], ProbeOutcome],
) -> Iterator[dict[str, Any]]:
    """Yield the probes of a keyword, each with its places and what engines did."""
    groups: dict[tuple[str, str], list[PlacedProbe]] = defaultdict(list)
    for placed in probes:
        groups[placed.probe.name, placed.dialect].append(placed)
    for number, ((name, dialect), placings) in enumerate(groups.items()):
        places: dict[str, dict[str, Any]] = {}
        run: set[str] = set()
        for placed in placings:
            case = case_of(placed)
            own = {it: outcomes.get((it, dialect, case.id)) for it in site.engines}
            run |= {engine for engine, outcome in own.items() if outcome}
            places[placed.context] = {
                "anchor": f"p{number}-{safe_name(placed.context)}",
                "schema": json.dumps(placed.schema, ensure_ascii=False),
                "texts": case.walks,
                "id": f"{dialect}/{case.id}",
                "outcomes": own,
            }
        yield {"name": name, "dialect": dialect, "places": places, "run": run}


def _told(profile: Profile, keyword: str) -> tuple[str, list[Any]]:
    """Return what a profile does with a keyword, and the rules that say so."""
    rules = [
        rule
        for rule in profile.rules
        if keyword in rule.names and rule.check in {"keyword", "root-keyword"}
    ]
    always = [r for r in rules if r.check == "keyword" and not (r.beside or r.types)]
    if always:
        return always[0].effect.value, always
    return "taken" if keyword in profile.taken else "not told", rules

"""A page for each keyword: which engine enforces it, and in which place of a schema."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

from curation.system.user_files import safe_name
from curation.system.words import shortened
from evaluation.results.outcomes import Outcome
from evaluation.site.rendering import engine_path, keyword_path, link, render
from evaluation.tasks.probe import NAME
from evaluation.tasks.probe.outcomes import GOOD, ProbeOutcome, of_outcome
from evaluation.tasks.probe.task import all_placed, make_case

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evaluation.core.cases import Case
    from evaluation.site.site import Page, Site
    from evaluation.tasks.probe.probe import PlacedProbe


#: Outcomes of probes to the colours of the first page.
_TONES = {
    None: "none",
    ProbeOutcome.REFUSED: "refused",
    ProbeOutcome.IGNORED: "silent",
    ProbeOutcome.WRONG: "silent",
    ProbeOutcome.OVER_STRICT: "blocked",
}


def tone(outcome: ProbeOutcome | None) -> str:
    """Return the colour of an outcome; None: it was not run."""
    return "right" if outcome in GOOD else _TONES.get(outcome, "died")


@cache
def _placed() -> dict[str, list[tuple[PlacedProbe, Case]]]:
    """Return the probes of each keyword, in every place of a schema."""
    probes: dict[str, list[tuple[PlacedProbe, Case]]] = defaultdict(list)
    for placed in all_placed():
        probes[placed.probe.keyword].append((placed, make_case(placed)))
    return dict(sorted(probes.items()))


def keywords_of_messages(site: Site) -> dict[str, str]:
    """Return the keywords whose probes are refused with a message, by its digest."""
    keywords = {
        (case.config, case.id): keyword
        for keyword, probes in _placed().items()
        for _, case in probes
        if "pair" not in case.label
    }
    found: dict[str, set[str]] = defaultdict(set)
    for line in site.rows.filter(task=NAME).iter_rows(named=True):
        keyword = keywords.get((line["config"], line["id"]))
        if keyword and line["message"]:
            found[line["message"]].add(keyword)
    return {
        digest: shortened(" or ".join(sorted(names))) for digest, names in found.items()
    }


def pages(site: Site) -> Iterator[Page]:
    """Yield the page of each keyword, and the list of them."""
    outcomes = {
        (line["engine"], line["config"], line["id"]): of_outcome(
            Outcome(line["outcome"]), line["valid"] + line["invalid"]
        )
        for line in site.rows.filter(task=NAME).iter_rows(named=True)
    }
    asked = sorted({engine for engine, _, _ in outcomes})
    listed = {}
    for keyword, probes in _placed().items():
        singles = [case for _, case in probes if "pair" not in case.label]
        listed[keyword] = [
            _summary([outcomes.get((it, c.config, c.id)) for c in singles])
            for it in asked
        ]
        places: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for placed, case in probes:
            group = places[placed.probe.name, placed.dialect]
            anchor = f"p{len(places) - 1}-{safe_name(placed.context)}"
            group.append(
                {
                    "context": placed.context,
                    "head": link(f"#{anchor}", placed.context),
                    "anchor": anchor,
                    "schema": json.dumps(placed.schema, ensure_ascii=False),
                    "case": case,
                    "outcomes": {
                        it: outcomes.get((it, case.config, case.id)) for it in asked
                    },
                }
            )
        yield render(
            site,
            keyword_path(keyword),
            "keyword",
            f"Who enforces {keyword}, and where?",
            keyword=keyword,
            probes=places,
            asked=asked,
            tone=tone,
            outcomes=ProbeOutcome,
        )
    yield render(
        site,
        "can/index.html",
        "keywords",
        "Who enforces which keyword?",
        listed=listed,
        heads=[
            "keyword",
            *(link(f"../{engine_path(engine)}", engine) for engine in asked),
        ],
    )


def _summary(outcomes: Sequence[ProbeOutcome | None]) -> dict[str, Any]:
    """Return how many probes are as specified, and what most of the others are."""
    run = [outcome for outcome in outcomes if outcome is not None]
    good = sum(each in GOOD for each in run)
    bad = Counter(each for each in run if each not in GOOD).most_common(1)
    worst = bad[0][0] if bad else ProbeOutcome.ENFORCED
    return {
        "run": len(run),
        "good": good,
        "tone": tone(worst if run else None),
        "most": worst.value,
    }

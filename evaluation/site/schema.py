"""The page that judges a reader's own schema in the browser, by profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from curation.fit.checks import COUNTS, DONE, FEATURES, OUTSIDE, QUIET
from curation.fit.profile import Effect, load_profiles
from curation.fit.verdict import told_keywords
from curation.schema.dialects import ANY_DIALECT, BY_NAME
from curation.schema.keywords import KNOWN_KEYWORDS
from curation.schema.roots import TYPES
from curation.sources.tools import MOST_LEVELS, SCHEMA_KEYWORDS, WRAPPERS
from evaluation.site.rendering import data_script, render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.site.site import Page, Site


def pages(site: Site) -> Iterator[Page]:
    """Yield the page and the tables that its script reads."""
    yield data_script("profiles.js", "profiles", tables())
    yield render(
        site,
        "schema.html",
        "schema",
        "What happens to my schema?",
        needs=("data", "fit", "profiles", "schema-page"),
        profiles=load_profiles("all"),
    )


def tables() -> dict[str, object]:
    """Return all that `static/fit.js` knows: profiles and keywords."""
    return {
        "profiles": [
            {
                **msgspec.to_builtins(profile),
                "rules": [
                    msgspec.to_builtins(rule)
                    for rule in profile.rules_for(tool=False, strict=False)
                    if rule.effect is not Effect.ACCEPTED
                ],
                "told": sorted(told_keywords(profile)),
            }
            for profile in load_profiles("all")
        ],
        "dialects": {
            it.uri.partition("//")[2].rstrip("#"): {
                "applicators": {name: its.name for name, its in it.applicators.items()},
                "anchors": [*it.anchor_keywords, it.id_keyword],
                "references": it.reference_keywords,
                "id": it.id_keyword,
            }
            for it in (ANY_DIALECT, *BY_NAME.values())
        },
        "keywords": sorted(KNOWN_KEYWORDS),
        "quiet": sorted(QUIET),
        "done": DONE,
        "counts": {name: noun for name, (noun, _) in COUNTS.items()},
        "outside": OUTSIDE.pattern,
        "features": {name: it.pattern for name, it in FEATURES.items()},
        "requests": {
            "wrappers": WRAPPERS,
            "most": MOST_LEVELS,
            "keywords": sorted(SCHEMA_KEYWORDS),
            "types": sorted(TYPES),
        },
    }

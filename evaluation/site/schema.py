"""The page that judges a reader's own schema in the browser, by profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from curation.fit.checks import COUNTS, DONE, FEATURES, OUTSIDE, QUIET
from curation.fit.profile import Profile, load_profile, profile_names
from curation.fit.verdict import told_keywords
from curation.schema.dialects import ANY_DIALECT, BY_NAME, Dialect
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
        profiles=[load_profile(name) for name in profile_names()],
    )


def tables() -> dict[str, object]:
    """Return all that `static/fit.js` knows: profiles and keywords."""
    return {
        "profiles": [_profile(load_profile(name)) for name in profile_names()],
        "dialects": {
            it.uri.partition("//")[2].rstrip("#"): _dialect(it)
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


def _profile(profile: Profile) -> dict[str, object]:
    return {
        "name": profile.name,
        "title": profile.title,
        "date": profile.date,
        "note": profile.note,
        "rules": msgspec.to_builtins(profile.rules),
        "sources": {
            key: {
                "title": f"{source.title} ({source.date})",
                "url": source.url,
                "evidence": source.evidence,
            }
            for key, source in profile.sources.items()
        },
        "told": sorted(told_keywords(profile)) if profile.taken else [],
    }


def _dialect(dialect: Dialect) -> dict[str, object]:
    return {
        "applicators": {name: it.name for name, it in dialect.applicators.items()},
        "anchors": [*dialect.anchor_keywords, dialect.id_keyword],
        "references": dialect.reference_keywords,
        "id": dialect.id_keyword,
    }

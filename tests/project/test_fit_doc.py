"""The table of profiles in docs/fit.md is made of the profiles."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from curation.fit.profile import Effect, load_profile, profile_names

_PAGE = Path(__file__).parents[2] / "docs" / "fit.md"


def _row(name: str) -> str:
    profile = load_profile(name)
    effects = Counter(rule.effect for rule in profile.rules)
    order = (Effect.REFUSED, Effect.IGNORED, Effect.LIMITED, Effect.ROUTED)
    counts = " | ".join(str(effects[effect]) for effect in order)
    return f"| `{name}`: {profile.title} | {profile.date} | {counts} |\n"


def test_the_page_has_every_profile() -> None:
    """One row a profile, with its date and the number of its rules by effect."""
    page = _PAGE.read_text("utf-8")
    table = re.search(
        r"generated -->\n.*?\n.*?\n(.*?)<!-- profiles: end", page, re.DOTALL
    )
    assert table
    assert table[1] == "".join(map(_row, profile_names()))

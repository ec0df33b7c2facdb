"""What pages list of the code is made of it, and written anew by `--renew-golden`."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from curation.checking.codes import codes
from curation.core.documents import Reason
from curation.fit.profile import Effect, load_profile, profile_names
from curation.rules.sets import rule_set

if TYPE_CHECKING:
    from collections.abc import Callable

_DOCS = Path(__file__).parents[2] / "docs"
_KINDS = {
    "reason": "Reasons: the schema cannot be used as it is",
    "rule": "Rules: an edit that a build makes",
    "lint": "Lints: what stands there and should not",
}


def _codes() -> str:
    """Return the codes of `check` by kinds, each with its meaning."""
    text = """# Codes of `csbdata check`

Made from the code by `pytest --renew-golden tests/project/test_generated_parts.py`.

A problem has a code: `file:line:column: pointer: code: message`.

`csbdata explain CODE` has the details of rules and reasons.

"""
    for kind, title in _KINDS.items():
        rows = [
            f"| `{code}` | {about.meaning.replace('|', chr(92) + '|')} |\n"
            for code, about in codes().items()
            if about.kind == kind
        ]
        text += f"## {title}\n\n| code | meaning |\n|---|---|\n{''.join(rows)}\n"
    return text.rstrip("\n") + "\n"


def _reasons() -> str:
    rows = "".join(f"| `{each.value}` | {each.explanation} |\n" for each in Reason)
    return f"| reason | a document has it if |\n|---|---|\n{rows}"


def _rules() -> str:
    tables = []
    for name in ("clean", "paper"):
        rules = rule_set(name)
        rows = "".join(
            f"| {rules.numbers[each.name]} | `{each.name}` | {each.summary} |\n"
            for each in rules.all_rules
        )
        head = "|  | rule | what it does |\n|--:|---|---|\n"
        tables.append(f"**`{name}`**: {rules.summary}\n\n{head}{rows}")
    return "\n".join(tables)


def _profiles() -> str:
    """Return one row a profile: its date, and the number of its rules by effect."""
    text = "| target | as of | refused | ignored | limits | left to another engine |\n"
    text += "|---|---|--:|--:|--:|--:|\n"
    for name in profile_names():
        profile = load_profile(name)
        effects = Counter(rule.effect for rule in profile.rules)
        order = (Effect.REFUSED, Effect.IGNORED, Effect.LIMITED, Effect.ROUTED)
        counts = " | ".join(str(effects[effect]) for effect in order)
        text += f"| `{name}`: {profile.title} | {profile.date} | {counts} |\n"
    return text


@pytest.mark.parametrize(
    ("page", "marks", "made"),
    [
        ("codes.md", "", _codes),
        ("dataset.md", "<!-- reasons -->\n|<!-- /reasons -->", _reasons),
        ("dataset.md", "<!-- rules -->\n|<!-- /rules -->", _rules),
        ("fit.md", "<!-- profiles: generated -->\n|<!-- profiles: end -->", _profiles),
    ],
)
def test_a_part_of_a_page_is_made_of_the_code(
    page: str,
    marks: str,
    made: Callable[[], str],
    compare_golden: Callable[[Path, str], None],
) -> None:
    """The whole page, or what stands between two marks."""
    text = made()
    if marks:
        shown = (_DOCS / page).read_text("utf-8")
        before, after = marks.split("|")
        assert shown.count(before) == shown.count(after) == 1
        text = re.sub(
            f"(?<={before}).*?(?={after})", lambda _: made(), shown, flags=re.DOTALL
        )
    compare_golden(_DOCS / page, text)

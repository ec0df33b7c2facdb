"""What is known of a schema before any proof: here, which texts a pattern meets."""

from __future__ import annotations

import pytest

from curation.satisfiability.schema_view import matches


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^a[b-d]+$", "abd", True),
        ("^\\d{2}$", "1", False),
        ("(?:a|b)/c", "xb/c", True),
        ("[[:alpha:]]", "[", None),
        ("(?=a)", "a", None),
        ("\\s", " ", None),
        ("a", "\u00e4", None),
        ("[]a]", "a", None),
    ],
)
def test_patterns_are_judged_where_all_engines_agree(
    pattern: str, text: str, found: object
) -> None:
    """The rest leaves a doubt."""
    assert matches(pattern, text) is found

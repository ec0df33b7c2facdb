"""Selections: glob patterns over the paths of an archive."""

from __future__ import annotations

import pytest

from curation.download.pins import Selection


@pytest.mark.parametrize(
    ("pattern", "path", "selected"),
    [
        ("a/*.json", "a/x.json", True),
        ("a/*.json", "a/.json", True),
        ("a/*.json", "a/b/x.json", False),
        ("a/*.json", "a/x.json.txt", False),
        ("a/*.json", "b/a/x.json", False),
        ("a/**", "a/b/c", True),
        ("a/**", "ab", False),
        ("**/x", "x", True),
        ("**/x", "a/b/x", True),
        ("**/x", "ax", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("a.c", "abc", False),
        ("a[b]", "a[b]", True),
        ("*", "a\nb", True),
    ],
)
def test_a_pattern_means_what_a_shell_means(
    pattern: str, path: str, *, selected: bool
) -> None:
    """`*` and `?` stop at a slash, `**` does not, all else is itself."""
    assert (path in Selection((pattern,))) is selected


def test_any_pattern_is_enough_and_none_selects_nothing() -> None:
    """A selection is a union."""
    assert Selection(("a", "b")).of(["a", "b", "c"]) == ["a", "b"]
    assert "" not in Selection(())

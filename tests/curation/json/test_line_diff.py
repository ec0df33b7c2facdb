"""Diffs of JSON texts: short, right, and bounded."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import ABSENT
from curation.json.line_diff import line_diff, lines_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=20,
)


@given(VALUES)
def test_indented_lines_are_the_same_json(value: object) -> None:
    """The lines, joined, are a JSON text of the same value."""
    text = json.dumps(value)
    assert json.loads("\n".join(lines_of(text))) == value


@given(VALUES)
def test_equal_texts_have_no_diff(value: object) -> None:
    """Nothing is shown where nothing changed."""
    assert line_diff(json.dumps(value), json.dumps(value)) == []


@given(VALUES, VALUES)
def test_a_diff_shows_every_new_and_old_line(before: object, after: object) -> None:
    """Exchanging the sides exchanges the signs' totals."""
    there = line_diff(json.dumps(before), json.dumps(after))
    back = line_diff(json.dumps(after), json.dumps(before))
    for sign, other in ("+-", "-+"):
        count = sum(line.startswith(sign) for line in there)
        assert (count == 0) == (not any(line.startswith(other) for line in back))


def test_one_change_shows_its_neighbourhood() -> None:
    """Two lines of context stand around the change."""
    before, after = {"a": [1, 2, 3, 4, 5, 6]}, {"a": [1, 2, 3, 0, 5, 6]}
    assert line_diff(json.dumps(before), json.dumps(after)) == [
        "     2,",
        "     3,",
        "-    4,",
        "+    0,",
        "     5,",
        "     6",
    ]


def test_what_was_absent_is_all_new() -> None:
    """A member that was added has only lines with a plus."""
    assert line_diff(ABSENT, '{"a": 1}') == ["+{", '+  "a": 1', "+}"]


def test_number_spelling_is_shown_as_written() -> None:
    """1.0 and 1.00 are different texts."""
    assert line_diff("1.0", "1.00") == ["-1.0", "+1.00"]


def test_huge_texts_are_summarised() -> None:
    """A change of many thousand lines costs one line."""
    before = json.dumps(list(range(5_000)))
    after = json.dumps(list(range(7_000, 12_000)))
    (line,) = line_diff(before, after)
    assert line.startswith("@ 5,000 lines became 5,000")

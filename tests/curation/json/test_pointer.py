"""JSON pointers, as text and as URI fragments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.json.pointer import (
    at,
    fragment_of,
    pointer,
    replaced,
    tokens_of,
    tokens_of_fragment,
)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ((), "#"),
        (("a", "b c"), "#/a/b%20c"),
        (("x/y", "~"), "#/x~1y/~0"),
        (("50%",), "#/50%25"),
        (("\u00e9",), "#/%C3%A9"),
    ],
)
def test_a_pointer_is_written_as_a_uri_fragment(
    tokens: tuple[str, ...], expected: str
) -> None:
    """What a URI cannot hold is escaped, what a pointer cannot hold too."""
    assert fragment_of(tokens) == expected


@given(st.lists(st.text(), max_size=4).map(tuple))
def test_what_is_written_is_read_back(tokens: tuple[str, ...]) -> None:
    """As text, and as a fragment where UTF-8 can say it."""
    assert tokens_of(pointer(tokens)) == tokens
    if not any("\ud800" <= letter <= "\udfff" for token in tokens for letter in token):
        assert tokens_of_fragment(fragment_of(tokens)) == tokens


def test_a_value_is_found_where_its_pointer_leads() -> None:
    """Members by name, items by index; what is not there is an error."""
    assert at({"a": [1, {"b": 2}]}, ("a", "1", "b")) == 2
    for tokens in (("b",), ("a", "2"), ("a", "-1"), ("a", "x"), ("a", "0", "b")):
        with pytest.raises(LookupError):
            at({"a": [1, {"b": 2}]}, tokens)


def test_nothing_is_put_inside_a_scalar() -> None:
    """A pointer that leads through a number leads nowhere."""
    with pytest.raises(LookupError):
        replaced({"a": 1}, ("a", "b"), 2)

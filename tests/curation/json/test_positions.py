"""Lines and columns of JSON pointers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.json.pointer import pointer, tokens_of
from curation.json.positions import TextPositions, _offsets
from curation.json.text import MAX_DEPTH

if TYPE_CHECKING:
    from curation.core.json_types import Json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner)
    ),
    max_leaves=12,
)


def places(value: Json, tokens: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Return the pointer of every value, with the text that begins there."""
    found = []
    if isinstance(value, dict):
        for name, inner in value.items():
            own = (*tokens, name)
            found += [(pointer(own), json.dumps(name)), *places(inner, own)[1:]]
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            found += places(inner, (*tokens, str(number)))
    return [(pointer(tokens), json.dumps(value, indent=1)[:1]), *found]


@given(VALUES, st.sampled_from([None, 1]))
def test_every_value_is_found_where_it_stands(value: Json, indent: int | None) -> None:
    """A member at its name, an item and the root at their first character."""
    text = json.dumps(value, indent=indent)
    positions = TextPositions(text)
    lines = text.split("\n")
    for where, begins in places(value):
        line, column = positions.of(where)
        assert lines[line - 1][column - 1 :].startswith(begins)


@pytest.mark.parametrize(
    ("text", "where", "place"),
    [
        ('{"a": [1, {"b": 2}]}', "/a/1/c", (1, 11)),
        ('{"a": 1}', "/x/y", (1, 1)),
        ('\ufeff{"a":\n {"b": 1}}', "/a/b", (2, 3)),
        ('{"a": 1, "a": 2}', "/a", (1, 10)),
        ('{"\\u0061/": 1}', "/a~1", (1, 2)),
        ("", "/a", (1, 1)),
    ],
)
def test_what_is_not_there_is_where_its_way_ends(
    text: str, where: str, place: tuple[int, int]
) -> None:
    """The innermost value on the way; of equal names the last counts."""
    assert TextPositions(text).of(where) == place


@given(st.text(alphabet='{}[],:"\\a1 \n'))
def test_any_text_has_a_root(text: str) -> None:
    """What is no JSON is no error."""
    assert TextPositions(text).of("/a/0").line >= 1
    assert tokens_of("") == ()


def test_a_text_that_nests_without_end_takes_no_memory() -> None:
    """No text that is read nests deeper than the limit."""
    assert sum(1 for _ in _offsets("[" * 100_000)) == MAX_DEPTH + 1

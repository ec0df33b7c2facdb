"""The one traversal: places, pointers, edits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.json.pointer import Tokens, at, pointer, replaced, tokens_of
from curation.schema.dialects import (
    ANY_DIALECT,
    BY_NAME,
    DRAFT_04,
    DRAFT_07,
    DRAFT_2020_12,
    Dialect,
)
from curation.schema.subschemas import edited, subschema_locations, subschemas

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

SCHEMA = {
    "properties": {"a": {"items": [{"title": "0"}, True]}, "enum": {"const": {"x": 1}}},
    "additionalProperties": False,
    "allOf": [{"not": {"title": "n"}}],
    "if": {"title": "i"},
    "dependencies": {"a": ["b"], "c": {"title": "d"}},
    "default": {"properties": {"no": {}}},
    "enum": [{"not": {}}],
    "unknown": {"properties": {"no": {}}},
}


def pointers(schema: UntypedJson, dialect: Dialect) -> list[str]:
    """Return the pointers of a schema's places, in the order of the walk."""
    return [each.pointer for each in subschema_locations(schema, dialect)]


def test_places_are_met_outermost_first_in_their_order() -> None:
    """Each place of the dialect is met once, and data never."""
    assert pointers(SCHEMA, DRAFT_07) == [
        "",
        "/properties/a",
        "/properties/a/items/0",
        "/properties/a/items/1",
        "/properties/enum",
        "/additionalProperties",
        "/allOf/0",
        "/allOf/0/not",
        "/if",
        "/dependencies/c",
    ]


def test_each_dialect_has_its_own_subschema_locations() -> None:
    """Draft-04 knows no `if`, and 2020-12 no array of `items`."""
    assert "/if" not in pointers(SCHEMA, DRAFT_04)
    assert "/properties/a/items/0" not in pointers(SCHEMA, DRAFT_2020_12)
    assert "/dependencies/c" not in pointers(SCHEMA, DRAFT_2020_12)


def test_draft_03_has_schemas_in_its_types() -> None:
    """A schema among the types of draft-03 is a place."""
    schema: UntypedJson = {"type": ["string", {"extends": {}}], "disallow": [{}]}
    expected = ["", "/type/1", "/type/1/extends", "/disallow/0"]
    assert pointers(schema, BY_NAME["draft-03"]) == expected
    assert pointers(schema, DRAFT_04) == [""]


names = st.sampled_from(["a", "items", "properties", "enum", "~/", "", "é"])
values = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.just("text")),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(names, st.sampled_from(sorted(ANY_DIALECT.applicators))),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)
dialects = st.sampled_from([*BY_NAME.values(), ANY_DIALECT])


@given(values, dialects)
def test_the_quick_walk_meets_the_same_objects(
    value: UntypedJson, dialect: Dialect
) -> None:
    """`subschemas` yields the places that are objects, in any order."""
    slow = [id(each.schema) for each in subschema_locations(value, dialect)]
    objects = [
        each
        for each in subschema_locations(value, dialect)
        if isinstance(each.schema, dict)
    ]
    quick = [id(each) for each in subschemas(value, dialect)]
    assert sorted(quick) == sorted(id(each.schema) for each in objects)
    assert len(slow) >= len(quick)


@given(values, dialects)
def test_a_place_stands_where_its_tokens_lead(
    value: UntypedJson, dialect: Dialect
) -> None:
    """Tokens, pointer text and value of every place belong together."""
    for each in subschema_locations(value, dialect):
        assert at(value, each.tokens) is each.schema
        assert tokens_of(pointer(each.tokens)) == each.tokens


@given(values, dialects)
def test_an_edit_sees_every_place_and_copies_nothing(
    value: UntypedJson, dialect: Dialect
) -> None:
    """`edited` calls back once a place, and without changes returns the value."""
    seen: list[Tokens] = []

    def keep(tokens: Tokens, schema: UntypedJson) -> UntypedJson:
        seen.append(tokens)
        return schema

    assert edited(value, dialect, keep) is value
    assert sorted(seen) == sorted(
        each.tokens for each in subschema_locations(value, dialect)
    )


@given(values, dialects)
def test_an_edit_changes_places_and_nothing_else(
    value: UntypedJson, dialect: Dialect
) -> None:
    """A mark put into each object by `edited` is what `places` then finds."""

    def mark(_tokens: Tokens, schema: UntypedJson) -> UntypedJson:
        return {**schema, "marked": 1} if isinstance(schema, dict) else schema

    def unmark(_tokens: Tokens, schema: UntypedJson) -> UntypedJson:
        if not isinstance(schema, dict):
            return schema
        return {word: each for word, each in schema.items() if word != "marked"}

    result = edited(value, dialect, mark)
    assert all(each["marked"] == 1 for each in subschemas(result, dialect))
    assert edited(result, dialect, unmark) == value


def test_replacing_builds_anew() -> None:
    """`replaced` leaves the given value, and the order of its members, alone."""
    value: UntypedJson = {"a": [1, {"b": 2}], "c": 3}
    assert replaced(value, ("a", "1", "b"), 4) == {"a": [1, {"b": 4}], "c": 3}
    without: UntypedJson = replaced(value, ("a",), 0)
    assert list(without) == ["a", "c"]
    assert replaced(value, (), 5) == 5
    assert value == {"a": [1, {"b": 2}], "c": 3}


@pytest.mark.parametrize("tokens", [("b",), ("a", "2"), ("a", "x"), ("a", "0", "c")])
def test_what_is_not_there_is_a_lookup_error(tokens: Tokens) -> None:
    """A token that leads nowhere raises LookupError, whatever stands there."""
    with pytest.raises(LookupError):
        at({"a": [1, 2]}, tokens)

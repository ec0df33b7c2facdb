"""Subschemas, their locations, edits and skeletons."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.json.pointer import Tokens, at, parse_tokens, pointer, replaced
from curation.schema.dialects import (
    ANY_DIALECT,
    BY_NAME,
    DIALECTS,
    DRAFT_04,
    DRAFT_07,
    DRAFT_2020_12,
    Dialect,
)
from curation.schema.subschemas import (
    STRIPPED,
    SchemaLocation,
    edited,
    skeleton,
    skeleton_digest,
    subschemas,
    walk,
)
from tests.curation.schema_strategies import schemas

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def test_a_location_says_where_it_stands() -> None:
    """Its pointer is escaped as RFC 6901 says."""
    location = SchemaLocation(("properties", "a/b~c"), {"type": "string"})
    assert location.pointer == "/properties/a~1b~0c"
    assert location.keywords == {"type": "string"}
    assert (location.base, location.document, location.is_subschema) == ("", "", True)


@pytest.mark.parametrize("schema", [True, False, ["a"], "text", None])
def test_only_an_object_has_keywords(schema: object) -> None:
    """Of a boolean schema, and of what is no schema, there are none."""
    assert SchemaLocation((), schema).keywords == {}


def test_a_location_is_equal_to_itself_alone() -> None:
    """It serves as a key, however large its schema is, and never changes."""
    one, other = SchemaLocation((), {}), SchemaLocation((), {})
    assert one != other
    assert {one: 1, other: 2}[one] == 1
    with pytest.raises(AttributeError):
        one.base = "x"  # type: ignore[misc] # this is the claim


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
    return [each.pointer for each in walk(schema, dialect)]


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


def test_each_dialect_has_its_own_subschemas() -> None:
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
    slow = [id(each.schema) for each in walk(value, dialect)]
    objects = [each for each in walk(value, dialect) if isinstance(each.schema, dict)]
    quick = [id(each) for each in subschemas(value, dialect)]
    assert sorted(quick) == sorted(id(each.schema) for each in objects)
    assert len(slow) >= len(quick)


@given(values, dialects)
def test_a_place_stands_where_its_tokens_lead(
    value: UntypedJson, dialect: Dialect
) -> None:
    """Tokens, pointer text and value of every place belong together."""
    for each in walk(value, dialect):
        assert at(value, each.tokens) is each.schema
        assert parse_tokens(pointer(each.tokens)) == each.tokens


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
    assert sorted(seen) == sorted(each.tokens for each in walk(value, dialect))


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


drawn_schemas = schemas("draft-07", satisfiable=False, leaves=6)
benchmark_dialects = st.sampled_from(DIALECTS)


def annotated(schema: UntypedJson, seed: int) -> UntypedJson:
    """Return the schema with its members shuffled and annotations put in."""
    chance = random.Random(seed)
    if not isinstance(schema, dict):
        return schema
    members = list(schema.items())
    members.extend(
        (word, chance.choice(["text", 1, ["list"], {"type": "x"}]))
        for word in chance.sample(sorted(STRIPPED), 2)
    )
    chance.shuffle(members)
    result = dict(members)
    for word in ("properties", "not"):
        value = schema.get(word)
        if word == "not" and isinstance(value, dict):
            result[word] = annotated(value, seed + 1)
        elif isinstance(value, dict):
            result[word] = {
                name: annotated(each, seed + 2) for name, each in value.items()
            }
    return result


@given(drawn_schemas, benchmark_dialects, st.integers(0, 999))
def test_words_for_people_and_order_leave_the_digest_alone(
    schema: UntypedJson, dialect: Dialect, seed: int
) -> None:
    """Annotations, identifiers and key order change nothing of the skeleton."""
    other = annotated(schema, seed)
    assert skeleton_digest(other, dialect) == skeleton_digest(schema, dialect)


@given(drawn_schemas, benchmark_dialects)
def test_a_skeleton_has_itself_as_skeleton(
    schema: UntypedJson, dialect: Dialect
) -> None:
    """Stripping twice strips no more, and the given schema is not touched."""
    once = skeleton(schema, dialect)
    assert skeleton(once, dialect) is once


@pytest.mark.parametrize("word", sorted(STRIPPED))
def test_a_property_of_that_name_stays(word: str) -> None:
    """Only keyword position counts: properties, data and unknown words stay."""
    schema: UntypedJson = {
        "properties": {word: {"type": "string"}},
        "required": [word],
        "enum": [{word: 1}],
        "const": {word: 1},
        "x-word": {word: 1},
    }
    assert skeleton({**schema, word: "gone"}, DRAFT_2020_12) == schema


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type": "string"}, {"type": "number"}),
        ({"format": "date"}, {"format": "time"}),
        ({"x-word": 1}, {"x-word": 2}),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}),
        ({"properties": {"title": {}}}, {"properties": {}}),
    ],
)
def test_everything_else_counts(one: UntypedJson, other: UntypedJson) -> None:
    """Types, formats, unknown words and the order of arrays make a difference."""
    assert skeleton_digest(one, DRAFT_07) != skeleton_digest(other, DRAFT_07)


def test_keyword_position_is_that_of_the_dialect() -> None:
    """What a draft does not apply is data, and kept as it is."""
    schema: UntypedJson = {"if": {"title": "t"}}
    assert skeleton(schema, BY_NAME["draft-04"]) == schema
    assert skeleton(schema, DRAFT_07) == {"if": {}}

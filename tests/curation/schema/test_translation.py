"""From draft-03 to draft-04: what changes, what does not, what cannot be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft3Validator, Draft4Validator
from referencing import Registry

from curation.core.documents import ABSENT
from curation.schema.translation import CannotUpgradeError, upgraded

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def upgrade(schema: UntypedJson) -> UntypedJson:
    """Return the draft-04 form of a schema."""
    return upgraded(schema, "made")[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            {"properties": {"a": {"required": True}, "b": {"required": False}}},
            {"properties": {"a": {}, "b": {}}, "required": ["a"]},
        ),
        (
            {"properties": {"a": {"$ref": "#/definitions/x", "required": True}}},
            {"properties": {"a": {"$ref": "#/definitions/x"}}, "required": ["a"]},
        ),
        ({"required": True, "items": {"required": True}}, {"items": {}}),
        (
            {
                "properties": {
                    "a": {"required": True, "properties": {"b": {"required": True}}}
                }
            },
            {
                "properties": {"a": {"required": ["b"], "properties": {"b": {}}}},
                "required": ["a"],
            },
        ),
        ({"divisibleBy": 0.5}, {"multipleOf": 0.5}),
        ({"extends": {"type": "object"}}, {"allOf": [{"type": "object"}]}),
        ({"extends": [{"a": 1}, {"b": 2}]}, {"allOf": [{"a": 1}, {"b": 2}]}),
        ({"disallow": "null"}, {"not": {"type": "null"}}),
        ({"disallow": ["null", "array"]}, {"not": {"type": ["null", "array"]}}),
        ({"disallow": ["any"]}, {"not": {}}),
        (
            {"disallow": ["null", {"type": "string", "minLength": 2}]},
            {"not": {"anyOf": [{"type": "null"}, {"type": "string", "minLength": 2}]}},
        ),
        ({"type": "any", "title": "t"}, {"title": "t"}),
        ({"type": ["string", "any"]}, {}),
        (
            {"type": ["null", "string", {"properties": {"a": {"required": True}}}]},
            {
                "anyOf": [
                    {"type": ["null", "string"]},
                    {"properties": {"a": {}}, "required": ["a"]},
                ]
            },
        ),
        ({"type": [{"enum": [1]}]}, {"anyOf": [{"enum": [1]}]}),
        (
            {"dependencies": {"a": "b", "c": ["d"], "e": {"type": "any"}}},
            {"dependencies": {"a": ["b"], "c": ["d"], "e": {}}},
        ),
        ({"format": "ip-address"}, {"format": "ipv4"}),
        ({"format": "host-name"}, {"format": "hostname"}),
    ],
)
def test_each_word_finds_its_successor(old: UntypedJson, new: UntypedJson) -> None:
    """Draft-03's own words become what draft-04 says instead."""
    assert upgrade({**old, "definitions": {"x": {}}}) == {
        **new,
        "definitions": {"x": {}},
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
        {"default": {"required": True}, "enum": [{"divisibleBy": 2}]},
        {"format": "uri", "properties": {"extends": {"title": "t"}}},
        {"dependencies": {"a": ["b"]}, "additionalProperties": False},
    ],
)
def test_what_both_drafts_share_is_left_alone(schema: UntypedJson) -> None:
    """A schema without draft-03's own words is the same object afterwards."""
    result, changes = upgraded(schema, "made")
    assert result is schema
    assert changes == []


def test_order_is_kept_and_changes_are_told() -> None:
    """A word keeps its place, a new list comes last, and each edit is recorded."""
    result: UntypedJson
    result, changes = upgraded(
        {
            "divisibleBy": 3,
            "properties": {"b": {"required": True}, "a": {"required": True}},
            "title": "t",
        },
        "made",
    )
    assert list(result) == ["multipleOf", "properties", "title", "required"]
    assert result["required"] == ["b", "a"]
    told = {each.pointer: (each.before, each.after) for each in changes}
    assert told == {
        "/multipleOf": ('{"divisibleBy": 3}', '{"multipleOf": 3}'),
        "/properties/b/required": ("true", ABSENT),
        "/properties/a/required": ("true", ABSENT),
        "/required": (ABSENT, '["b", "a"]'),
    }


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"extends": "other.json"}, "extends holds no schema"),
        ({"extends": []}, "extends holds no schema"),
        ({"divisibleBy": 0}, "divisibleBy"),
        ({"divisibleBy": True}, "divisibleBy"),
        ({"disallow": {}}, "disallow holds no type"),
        ({"disallow": [1]}, "disallow holds what is no type"),
        (
            {
                "properties": {"a": {"$ref": "#/definitions/x"}},
                "definitions": {"x": {"required": True}},
            },
            "behind the reference",
        ),
        (
            {"items": {"$ref": "#/types/x"}, "types": {"x": {"divisibleBy": 2}}},
            "no keyword holds a schema",
        ),
        (
            {"extends": {"title": "t"}, "items": {"$ref": "#/extends"}},
            "what the upgrade moves",
        ),
    ],
)
def test_what_would_change_the_meaning_is_refused(
    schema: UntypedJson, why: str
) -> None:
    """Where no draft-04 form of the same meaning is known, the reason is told."""
    with pytest.raises(CannotUpgradeError, match=why):
        upgrade(schema)


def test_references_that_stay_are_followed() -> None:
    """A reference into a container without draft-03's words is no obstacle."""
    schema = {
        "items": {"$ref": "#/types/x"},
        "types": {"x": {"type": "string"}},
        "extends": {"$ref": "#/nowhere"},
    }
    assert upgrade(schema)["allOf"] == [{"$ref": "#/nowhere"}]


types = st.sampled_from(
    ["string", "number", "integer", "boolean", "null", "array", "object", "any"]
)
names = st.sampled_from(["a", "b", "c"])


def _unions(inner: st.SearchStrategy[UntypedJson]) -> st.SearchStrategy[UntypedJson]:
    """Return one type, or several types and schemas, each once."""
    several = st.lists(st.one_of(types, inner), min_size=1, max_size=3).filter(
        lambda drawn: all(drawn.count(each) == 1 for each in drawn)
    )
    return st.one_of(types, several)


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3) -> UntypedJson:
    """Draw a schema that is valid under draft-03, at most so deep."""
    if not depth:
        return {}
    inner: st.SearchStrategy[UntypedJson] = schemas(depth - 1)
    requirement = st.one_of(
        names, st.lists(names, min_size=1, max_size=2, unique=True), inner
    )
    values: dict[str, st.SearchStrategy[UntypedJson]] = {
        "type": _unions(inner),
        "disallow": _unions(inner),
        "extends": st.one_of(inner, st.lists(inner, min_size=1, max_size=2)),
        "properties": st.dictionaries(names, inner, max_size=3),
        "additionalProperties": st.one_of(st.booleans(), inner),
        "patternProperties": st.dictionaries(st.just("^a"), inner, max_size=1),
        "dependencies": st.dictionaries(names, requirement, max_size=2),
        "items": inner,
        "required": st.booleans(),
        "divisibleBy": st.integers(1, 3),
        "minimum": st.integers(-1, 3),
        "maxLength": st.integers(0, 2),
        "enum": st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True),
    }
    words = st.lists(st.sampled_from(sorted(values)), max_size=4, unique=True)
    return {word: draw(values[word]) for word in draw(words)}


instances = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-2, 4), st.sampled_from(["", "a", "abc"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(names, inner, max_size=3)
    ),
    max_leaves=5,
)


@given(schemas(), st.lists(instances, min_size=5, max_size=12))
def test_the_upgraded_schema_accepts_the_same(
    schema: UntypedJson, drawn: list[UntypedJson]
) -> None:
    """Draft-03's validator before and draft-04's after give the same verdicts."""
    new = upgrade(schema)
    Draft4Validator.check_schema(new)
    before = Draft3Validator(schema, registry=Registry())
    after = Draft4Validator(new, registry=Registry())
    for each in drawn:
        assert before.is_valid(each) == after.is_valid(each)


@given(schemas())
def test_upgrading_twice_changes_nothing_more(schema: UntypedJson) -> None:
    """An upgraded schema has none of draft-03's own words left."""
    new = upgrade(schema)
    again, changes = upgraded(new, "made")
    assert again == new
    assert changes == []

"""What a root says by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.schema.roots import asks_nothing, constrains, embedded, entries, unused

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {}}},
        {"properties": {}},
        {"$ref": "#/x"},
        {"type": "string"},
        {"type": ["object", "null"]},
        {"enum": ["a"]},
        {"const": None},
        {"required": ["a"]},
        {"minProperties": 1},
        {"items": {"type": "null"}},
        {"additionalProperties": False},
        {"patternProperties": {"a": {}}},
        {"dependencies": {"a": ["b"]}},
        {"dependentRequired": {"a": ["b"]}},
        {"if": {"type": "null"}, "then": {}},
        {"not": {"type": "null"}},
        {"extends": {"type": "null"}},
        {"disallow": "string"},
        {"exclusiveMaximum": 5},
        {"uniqueItems": True},
        {"prefixItems": [{}]},
        False,
    ],
)
def test_keywords_of_any_draft_constrain(schema: UntypedJson) -> None:
    """Whatever draft knows the keyword, it asks something."""
    assert constrains(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"type": "object"},
        {"type": ["object"]},
        {"type": ["array", "boolean", "null", "number", "object", "string"]},
        {"type": "person"},
        {"title": "a", "description": "b", "format": "c", "default": 1},
        {"definitions": {"a": {"type": "string"}}},
        {"$defs": {"a": {"type": "string"}}},
        {"required": []},
        {"required": {"type": "boolean"}},
        {"minProperties": 0},
        {"additionalProperties": True},
        {"additionalProperties": {}},
        {"allOf": []},
        {"$ref": {"type": "string"}},
        {"properties": {"a": "text"}},
        {"enum": {"type": "string"}},
        {"uniqueItems": False},
        {"dependentRequired": {"a": []}},
    ],
)
def test_what_restricts_nothing_does_not_constrain(schema: UntypedJson) -> None:
    """Annotations, empty keywords, `type: object`, and words with odd values."""
    assert not constrains(schema)


@pytest.mark.parametrize(
    "root",
    [
        {"properties": "text"},
        {"properties": {"a": "text"}},
        {"type": {"$ref": "#/x"}},
        {"allOf": {"a": 1}},
        {"minProperties": 1},
    ],
)
def test_a_malformed_root_is_left_to_the_metaschema(root: UntypedJson) -> None:
    """Wrapping must not paper over a broken keyword."""
    assert not asks_nothing(root)


def test_a_root_of_empty_properties_asks_nothing() -> None:
    """`properties: {}`, and no further properties, say nothing of the content."""
    assert asks_nothing({"type": "object", "properties": {}, "definitions": {"a": {}}})
    assert asks_nothing({"additionalProperties": False})


@pytest.mark.parametrize(
    ("root", "name"),
    [
        ({"name": "x", "schema": {"$schema": "s", "type": "object"}}, "schema"),
        ({"a": {"b": 1}, "in": {"$schema": "s"}, "out": {"$schema": "s"}}, "in"),
        ({"type": "command", "schema": {"$schema": "s"}}, "schema"),
        ({"$schema": "s", "schema": {"$schema": "s"}}, None),
        ({"properties": {"a": {}}, "schema": {"$schema": "s"}}, None),
        ({"a": {"b": {"$schema": "s"}}}, None),
        ({"definitions": {"$schema": "s"}}, None),
        ({"schema": {"$schema": {"type": "string"}}}, None),
        ([{"$schema": "s"}], None),
    ],
)
def test_an_embedded_schema_is_found_at_depth_one(
    root: UntypedJson, name: str | None
) -> None:
    """The first member with a `$schema` of its own, if the root asks nothing."""
    assert embedded(root) == name


def test_entries_are_named_after_their_path() -> None:
    """Containers are left out of names; a definition is not searched itself."""
    root: UntypedJson = {
        "$schema": "s",
        "title": "t",
        "default": {"type": "string"},
        "definitions": {
            "a": {"type": "string"},
            "group": {"b": {"enum": [1]}, "type": {"properties": {"c": {}}}},
            "empty": {"description": "nothing"},
        },
        "$defs": {"a": {"type": "null"}},
        "types": {"a": {"items": {"type": "string"}}},
    }
    found = {each.name: each.reference for each in entries(root)}
    assert found == {
        "a": "#/definitions/a",
        "group.b": "#/definitions/group/b",
        "group.type": "#/definitions/group/type",
        "a-2": "#/$defs/a",
        "types.a": "#/types/a",
    }


def test_a_definition_may_be_called_like_a_keyword() -> None:
    """A container holds definitions, whatever their names."""
    names = ["type", "enum", "default", "properties", "definitions", "$ref"]
    root: UntypedJson = {"definitions": {name: {"type": "string"} for name in names}}
    assert [each.tokens[-1] for each in entries(root)] == [
        name for name in names if name != "definitions"
    ]


def test_the_first_free_number_makes_a_name_new() -> None:
    """`a`, `a-2`, `a-3`."""
    assert unused("a", set()) == "a"
    assert unused("a", {"a", "a-2"}) == "a-3"


def test_deep_nesting_ends() -> None:
    """A file as deep as the reader allows is searched without trouble."""
    root: UntypedJson = {"type": "string"}
    for _ in range(250):
        root = {"x": root}
    assert entries({"definitions": root}) == ()

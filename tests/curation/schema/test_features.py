"""Features in the names of the paper's Figure 4, and which schemas recurse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.schema.dialects import (
    ANY_DIALECT,
    DRAFT_04,
    DRAFT_07,
    DRAFT_2019_09,
    DRAFT_2020_12,
)
from curation.schema.features import features, formats, used
from curation.schema.recursion import is_recursive

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"type": "object", "properties": {"a": {"title": "t"}}}, set()),
        (True, set()),
        ({"required": ["a"], "items": {}, "enum": []}, {"required", "items", "enum"}),
        (
            {"minLength": 1, "maxItems": 1, "minProperties": 1, "maxContains": 1},
            {
                "@minmaxLength",
                "@minmaxItems",
                "@minmaxProperties",
                "@minmaxContains",
            },
        ),
        ({"type": "integer", "minimum": 1}, {"@minmaxInteger"}),
        ({"type": ["integer", "null"], "maximum": 1}, {"@minmaxInteger"}),
        ({"type": "number", "exclusiveMinimum": 1}, {"@minmaxNumber"}),
        ({"maximum": 1}, {"@minmaxNumber"}),
        ({"additionalProperties": False}, {"additionalProperties"}),
        (
            {"additionalProperties": {}},
            {"additionalProperties", "additionalProperties:object"},
        ),
        ({"allOf": [{}]}, set()),
        ({"allOf": [{}, {}]}, {"allOf"}),
        ({"anyOf": [{"not": {}}, {"const": 1}]}, {"anyOf", "not", "const"}),
        ({"allOf": [{}], "type": "object"}, {"@siblingKeys"}),
        ({"$ref": "#/a", "description": "d", "definitions": {}}, {"$ref"}),
        ({"$ref": "#/a", "type": "object"}, {"$ref", "@siblingKeys"}),
        ({"default": {"enum": [1]}, "examples": [{"const": 1}]}, set()),
        ({"enum": [{"pattern": "x"}]}, {"enum"}),
        ({"$id": "a", "$comment": "c", "x-enum": []}, set()),
    ],
)
def test_features_are_what_a_schema_uses_in_keyword_position(
    schema: UntypedJson, found: set[str]
) -> None:
    """Keywords and their groups; annotations, data and unknown words are none."""
    assert set(features(schema, DRAFT_2020_12)) == found


def test_the_dialect_decides_where_schemas_stand() -> None:
    """An array of `items` holds schemas up to 2019-09; a word counts in any draft."""
    schema = {"items": [{"pattern": "x"}], "if": {"format": "date"}}
    assert set(features(schema, DRAFT_07)) == {"items", "pattern", "if", "format"}
    assert set(features(schema, DRAFT_2020_12)) == {"items", "if", "format"}
    assert set(features(schema, DRAFT_04)) == {"items", "pattern", "if"}
    assert formats(schema, DRAFT_04) == ()
    assert formats(schema, ANY_DIALECT) == ("date",)


def test_names_are_sorted_and_stand_once() -> None:
    """Whatever the order of the schema."""
    schema = {
        "properties": {
            "b": {"format": "uri", "pattern": "x"},
            "a": {"format": "date", "pattern": "y"},
            "c": {"format": "uri"},
            "format": {"format": 7},
        }
    }
    both = used(schema, DRAFT_2020_12)
    assert both.features == features(schema, DRAFT_2020_12) == ("format", "pattern")
    assert both.formats == formats(schema, DRAFT_2020_12) == ("date", "uri")


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"properties": {"a": {"items": {"$ref": "#"}}}},
        {"definitions": {"a": {"items": {"$ref": "#/definitions/a"}}}},
        {
            "definitions": {
                "a": {"items": {"$ref": "#/definitions/b"}},
                "b": {"not": {"$ref": "#/definitions/a"}},
            }
        },
        {"definitions": {"a b": {"not": {"$ref": "#/definitions/a%20b"}}}},
        {"$id": "https://x.test/a", "not": {"$ref": "https://x.test/a#"}},
        {"definitions": {"x": {"$id": "#n", "not": {"$ref": "#n"}}}},
    ],
)
def test_a_reference_above_itself_is_recursion(schema: UntypedJson) -> None:
    """To the root, to an ancestor, in a ring, by pointer, anchor or identifier."""
    assert is_recursive(schema, DRAFT_07)
    assert "@recursiveSchemas" in features(schema, DRAFT_07)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/definitions/a"}}, "definitions": {"a": {}}},
        {
            "properties": {"a": {"$ref": "#/definitions/a"}},
            "definitions": {"a": {"$ref": "#/definitions/b"}, "b": {}},
        },
        {"$ref": "https://x.test/other"},
        {"$ref": "#nowhere"},
        {"enum": [{"$ref": "#"}]},
        {"properties": {"a": {"$ref": "#/properties/ab"}, "ab": {}}},
        True,
    ],
)
def test_other_references_are_none(schema: UntypedJson) -> None:
    """Chains that end, other documents, and data that looks like a reference."""
    assert not is_recursive(schema, DRAFT_07)


def test_recursion_by_its_own_keywords_is_recursion() -> None:
    """`$recursiveRef` and `$dynamicRef` lead back as `$ref` does."""
    assert is_recursive({"not": {"$recursiveRef": "#"}}, DRAFT_2019_09)
    node = {"$dynamicAnchor": "node", "not": {"$dynamicRef": "#node"}}
    assert is_recursive(node, DRAFT_2020_12)


def test_long_chains_of_references_are_followed_without_recursion() -> None:
    """A ring of 20,000 definitions is found, and an open chain is none."""
    chain: dict[str, UntypedJson] = {
        f"d{number}": {"not": {"$ref": f"#/definitions/d{number + 1}"}}
        for number in range(20_000)
    }
    assert not is_recursive({"definitions": chain}, DRAFT_07)
    chain["d20000"] = {"$ref": "#/definitions/d0"}
    assert is_recursive({"definitions": chain}, DRAFT_07)

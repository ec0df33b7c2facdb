"""Features in the names of the paper's Figure 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.dataset.features import features, formats, used
from curation.schema.dialects import ANY_DIALECT, DRAFT_04, DRAFT_07, DRAFT_2020_12

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
            {"@minmaxLength", "@minmaxItems", "@minmaxProperties", "@minmaxContains"},
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
    schema: UntypedJson = {"items": [{"pattern": "x"}], "if": {"format": "date"}}
    assert set(features(schema, DRAFT_07)) == {"items", "pattern", "if", "format"}
    assert set(features(schema, DRAFT_2020_12)) == {"items", "if", "format"}
    assert set(features(schema, DRAFT_04)) == {"items", "pattern", "if"}
    assert formats(schema, DRAFT_04) == ()
    assert formats(schema, ANY_DIALECT) == ("date",)


def test_names_are_sorted_and_stand_once() -> None:
    """Whatever the order of the schema."""
    schema: UntypedJson = {
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


def test_a_schema_that_refers_back_to_itself_has_a_feature() -> None:
    """As the paper counts recursion: by the schema, not by its keywords."""
    recursive: UntypedJson = {"properties": {"a": {"$ref": "#"}}}
    assert features(recursive, DRAFT_07) == ("$ref", "@recursiveSchemas")
    assert features({"$ref": "#/definitions/a"}, DRAFT_07) == ("$ref",)

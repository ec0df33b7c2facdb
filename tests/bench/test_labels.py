"""Labels of near misses, confirmed by jsonschema."""

from __future__ import annotations

import json

import pytest

from bench.data.labels import Labelled, compared, told
from curation.instances.dataset.make_instances import make_instances

_SCHEMAS = {
    "draft-04": {
        "type": "object",
        "properties": {
            "01": {"$ref": "#/definitions/n"},
            "": {"type": "string", "maxLength": 3},
            "a/b~c": {"enum": ["x"]},
        },
        "dependencies": {"01": [""]},
        "definitions": {"n": {"minimum": 2, "exclusiveMinimum": True}},
    },
    "draft-07": {
        "propertyNames": {"pattern": "^[a-z]+$"},
        "if": {"required": ["a"]},
        "then": {"properties": {"a": {"type": "integer"}}},
        "additionalProperties": {"items": [{"type": "null"}, False]},
        "minProperties": 1,
    },
    "2020-12": {
        "$ref": "#/$defs/base",
        "unevaluatedProperties": False,
        "$defs": {
            "base": {
                "properties": {"a": {"anyOf": [{"type": "null"}, {"maximum": 3}]}},
                "required": ["a"],
            }
        },
    },
}


@pytest.mark.parametrize("dialect", _SCHEMAS)
def test_labels_are_those_that_jsonschema_tells(dialect: str) -> None:
    """Keyword, schema pointer and instance pointer: names are kept as they are."""
    schema = _SCHEMAS[dialect]
    made = make_instances(json.dumps(schema), dialect).near_misses
    labelled = [
        Labelled("r", row.text, row.keyword, row.schema_pointer, row.instance_pointer)
        for row in made
    ]
    counts, differing = compared(schema, dialect, labelled)
    assert differing == []
    assert counts["exact"] == counts["told"] == len(labelled) > 0


@pytest.mark.parametrize(
    ("keyword", "schema_pointer", "instance_pointer"),
    [
        ("minimum", "/properties/01/type", "/01"),
        ("type", "/properties/1/type", "/01"),
        ("type", "/properties/01/type", "/1"),
    ],
)
def test_a_wrong_label_is_told(
    keyword: str, schema_pointer: str, instance_pointer: str
) -> None:
    """By another keyword, another place in the schema, another one in the instance."""
    schema = {"properties": {"01": {"type": "null"}}}
    label = Labelled("r", '{"01": 1}', keyword, schema_pointer, instance_pointer)
    _, differing = compared(schema, "draft-07", [label])
    assert [one["keyword"] for one in differing] == [keyword]


def test_what_jsonschema_accepts_is_not_told() -> None:
    """A near miss of which it says nothing counts by itself."""
    label = Labelled("r", "1", "type", "/type", "")
    counts, differing = compared({}, "draft-07", [label])
    assert (counts["accepted"], counts["told"], differing) == (1, 0, [])


def test_a_way_through_an_identifier_has_no_pointer() -> None:
    """The keyword and the place in the instance are told all the same."""
    schema = {
        "properties": {"a": {"$ref": "#here"}},
        "$defs": {"x": {"$anchor": "here", "type": "null"}},
    }
    assert told(schema, "2020-12", {"a": 1}) == [("type", "/a", None)]

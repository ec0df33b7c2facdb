"""What of a schema can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.lint.lint import lints
from curation.lint.liveness import liveness
from curation.schema.dialects import BY_NAME

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


@pytest.mark.parametrize(
    ("schema", "keywords", "live", "fields"),
    [
        ({"type": "object", "properties": {"a": {"type": "null"}}}, 3, 3, 4),
        ({"type": "object", "properties": {"a": {}}}, 2, 1, 1),
        ({"type": "string", "items": {"minimum": 1}}, 3, 1, 1),
        ({"minLength": 0, "required": [], "uniqueItems": False}, 3, 0, 0),
        ({"anyOf": [{"minimum": 1}, {}]}, 2, 1, 0),
        ({"anyOf": [{"minimum": 1}, {"maximum": 0}]}, 3, 3, 1),
        ({"oneOf": [{}, {}]}, 1, 1, 1),
        ({"then": {"minimum": 1}}, 2, 1, 0),
        ({"if": {}, "then": {"minimum": 1}}, 3, 3, 3),
        ({"additionalProperties": False}, 1, 1, 1),
        ({"format": "date"}, 1, 1, 1),
        ({"format": "no-such-format"}, 1, 0, 0),
        ({"not": {}}, 1, 1, 1),
        ({"$ref": "#/definitions/a", "minimum": 1, "definitions": {"a": {}}}, 2, 0, 0),
        ({"$ref": "#/definitions/a", "definitions": {"a": {"enum": [1]}}}, 2, 2, 4),
        ({"definitions": {"a": {"enum": [1]}}}, 1, 0, 0),
        ({"properties": {"a": {"$ref": "#"}}}, 2, 0, 0),
        ({"minItems": 1, "properties": {"a": {"$ref": "#"}}}, 3, 3, 4),
        ({"$ref": "#/properties/a", "properties": {"a": {"enum": [1]}}}, 3, 2, 1),
        ({"if": {"minimum": 1}, "else": {}}, 3, 1, 0),
        ({"minContains": 1, "unevaluatedItems": False}, 2, 0, 0),
    ],
)
def test_keywords_that_some_value_can_violate(
    schema: UntypedJson, keywords: int, live: int, fields: int
) -> None:
    """What draft-07 does not know, reaches or asks anything by is dead."""
    found = liveness(schema, BY_NAME["draft-07"])
    assert (found.keywords, found.live, found.fields) == (keywords, live, fields)


@pytest.mark.parametrize(
    ("schema", "vacuous"),
    [
        ({"type": "object"}, True),
        ({"type": "object", "items": {"type": "string"}}, True),
        ({"type": ["object"], "properties": {"a": {"properties": {"b": {}}}}}, True),
        ({"properties": {"a": {}}}, True),
        ({"type": "object", "required": ["a"]}, False),
        ({"allOf": [{"type": "object"}]}, False),
        ({"$ref": "#/properties/a", "properties": {"a": {"enum": [1]}}}, False),
    ],
)
def test_a_root_of_which_only_the_type_can_fail(
    schema: UntypedJson,
    vacuous: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """Nothing, or its own `type`: such a record is vacuous, whatever it holds."""
    assert liveness(schema, BY_NAME["draft-07"]).vacuous is vacuous


@pytest.mark.parametrize(
    ("schema", "code", "pointer"),
    [
        ({"type": "object", "items": {}}, "type-excludes-keyword", "/items"),
        ({"type": "integer", "required": ["a"]}, "type-excludes-keyword", "/required"),
        ({"items": {"#ref": "#"}}, "stray-mark", "/items/#ref"),
        ({"$allOf": [], "type": "null"}, "stray-mark", "/$allOf"),
        ({"$type": "string"}, "stray-mark", "/$type"),
        (
            {"type": "object", "required": ["a"], "a": {"type": "string"}},
            "content-outside-properties",
            "/a",
        ),
    ],
)
def test_what_says_nothing_is_flagged(
    schema: UntypedJson, code: str, pointer: str
) -> None:
    """Each at the member that does nothing."""
    found = lints(schema, BY_NAME["draft-07"])
    assert (code, pointer) in {(lint.code, lint.pointer) for lint in found}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 1},
        {"type": ["object", "array"], "items": {}, "required": ["a"]},
        {"type": "object", "properties": {"#ref": {}, "$type": {}}},
        {"type": "object", "properties": {"a": {}}, "a": {"type": "string"}},
        {"type": "object", "x-example": {"title": "t"}},
    ],
)
def test_what_says_something_is_not(schema: UntypedJson) -> None:
    """Names of properties, types that let some values through, and notes are fine."""
    assert lints(schema, BY_NAME["draft-07"]) == []

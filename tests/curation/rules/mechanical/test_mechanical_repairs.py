"""Mechanical repairs: the slip, what becomes of it, and what stays as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Document
from curation.core.rule import RepairKind
from curation.rules.mechanical import (
    boolean_required,
    misplaced_keywords,
    misspelt_types,
    quoted_values,
    schema_as_type,
    type_as_schema,
)
from curation.schema.dialects import BY_NAME
from curation.validation.metaschemas import is_valid
from tests.curation.judges import accepts, rust_accepts
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.core.rule import Rule

D3 = {"$schema": "http://json-schema.org/draft-03/schema#"}
D4 = {"$schema": BY_NAME["draft-04"].uri}
D7 = {"$schema": BY_NAME["draft-07"].uri}


def applied(rule: Rule, schema: UntypedJson) -> Document:
    """Return what a rule makes of a schema; none of these rules rejects."""
    result = rule.apply(document(schema), CONTEXT)
    assert isinstance(result, Document)
    return result


#: A rule, what was written, what it becomes, and one instance each that this accepts
#: and refuses.
CASES = [
    (misspelt_types, {"type": "dict"}, {"type": "object"}, {}, []),
    (misspelt_types, {"type": "booelan"}, {"type": "boolean"}, True, 1),
    (misspelt_types, {"type": "Strng"}, {"type": "string"}, "a", 1),
    (misspelt_types, {"type": "date-time"}, {"type": "string"}, "x", 1),
    (misspelt_types, {"type": "str|null"}, {"type": ["string", "null"]}, None, 1),
    (
        misspelt_types,
        {"type": ["int", None]},
        {"type": ["integer", "null"]},
        1,
        "",
    ),
    (misspelt_types, {"type": "enum", "enum": [1]}, {"enum": [1]}, 1, 2),
    (misspelt_types, {"type": "mixed", "minimum": 1}, {"minimum": 1}, "a", 0),
    (
        boolean_required,
        {"properties": {"a": {"required": True}, "b": {"required": False}}},
        {"properties": {"a": {}, "b": {}}, "required": ["a"]},
        {"a": 1},
        {"b": 1},
    ),
    (
        boolean_required,
        {
            "required": ["z", "a"],
            "properties": {
                "a": {"required": True},
                "b": {"required": True, "properties": {"c": {"required": True}}},
            },
        },
        {
            "required": ["z", "a", "b"],
            "properties": {"a": {}, "b": {"properties": {"c": {}}, "required": ["c"]}},
        },
        {"z": 1, "a": 1, "b": {"c": 1}},
        {"z": 1, "a": 1},
    ),
    (
        boolean_required,
        {"items": {"required": True, "type": "null"}},
        {"items": {"type": "null"}},
        [None],
        [1],
    ),
    (
        misplaced_keywords,
        {
            "properties": {
                "a": {},
                "required": ["a"],
                "additionalProperties": False,
                "minProperties": 1,
                "description": "All of it.",
            }
        },
        {
            "properties": {"a": {}},
            "required": ["a"],
            "additionalProperties": False,
            "minProperties": 1,
            "description": "All of it.",
        },
        {"a": 1},
        {"a": 1, "b": 2},
    ),
    (
        misplaced_keywords,
        {"required": ["a"], "properties": {"a": {}, "b": {}, "required": ["b", "a"]}},
        {"required": ["a", "b"], "properties": {"a": {}, "b": {}}},
        {"a": 1, "b": 1},
        {"a": 1},
    ),
    (
        misplaced_keywords,
        {"properties": {"a": {"properties": {"b": {}}}, "c": {}, "required": ["b"]}},
        {"properties": {"a": {"properties": {"b": {}}, "required": ["b"]}, "c": {}}},
        {"a": {"b": 1}},
        {"a": {}},
    ),
    (
        misplaced_keywords,
        {
            "type": "object",
            "properties": {"$ref": "#/definitions/d", "type": "object", "a": {}},
            "definitions": {"d": {"required": ["a"]}},
        },
        {
            "type": "object",
            "properties": {"a": {}},
            "definitions": {"d": {"required": ["a"]}},
            "allOf": [{"$ref": "#/definitions/d"}],
        },
        {"a": 1},
        {},
    ),
    (
        schema_as_type,
        {"type": {"enum": ["a"]}, "title": "t"},
        {"title": "t", "enum": ["a"]},
        "a",
        "b",
    ),
    (
        schema_as_type,
        {"type": {"$ref": "#/definitions/a"}, "definitions": {"a": {"type": "null"}}},
        {"definitions": {"a": {"type": "null"}}, "$ref": "#/definitions/a"},
        None,
        1,
    ),
    (
        schema_as_type,
        {
            "properties": {"p": {"type": "#/definitions/a", "enum": [None, 1]}},
            "definitions": {"a": {"type": "null"}},
        },
        {
            "properties": {
                "p": {"enum": [None, 1], "allOf": [{"$ref": "#/definitions/a"}]}
            },
            "definitions": {"a": {"type": "null"}},
        },
        {"p": None},
        {"p": 1},
    ),
    (
        schema_as_type,
        {"type": ["null", {"minimum": 1, "type": "number"}]},
        {"anyOf": [{"type": "null"}, {"minimum": 1, "type": "number"}]},
        None,
        0,
    ),
    (
        type_as_schema,
        {"properties": {"a": "string", "type": "integer"}},
        {"properties": {"a": {"type": "string"}, "type": {"type": "integer"}}},
        {"a": "", "type": 1},
        {"type": ""},
    ),
    (
        type_as_schema,
        {
            "items": "null",
            "anyOf": ["array", "#/definitions/a", "#definitions/a"],
            "definitions": {"a": {}},
        },
        {
            "items": {"type": "null"},
            "anyOf": [
                {"type": "array"},
                {"$ref": "#/definitions/a"},
                {"$ref": "#/definitions/a"},
            ],
            "definitions": {"a": {}},
        },
        [None],
        [1],
    ),
    (
        quoted_values,
        {"minimum": "1.5", "maximum": " 3", "minItems": "1"},
        {"minimum": 1.5, "maximum": 3, "minItems": 1},
        2,
        4,
    ),
    (
        quoted_values,
        {"additionalProperties": "False", "uniqueItems": "true", "minimum": 1},
        {"additionalProperties": False, "uniqueItems": True, "minimum": 1},
        {},
        {"a": 1},
    ),
]


@pytest.mark.parametrize(("rule", "before", "after", "valid", "invalid"), CASES)
def test_a_slip_is_mended(
    rule: Rule,
    before: UntypedJson,
    after: UntypedJson,
    valid: UntypedJson,
    invalid: UntypedJson,
) -> None:
    """What no draft reads becomes what both validators read and judge alike."""
    result = applied(rule, {**D4, **before})
    assert list(result.schema.items()) == list({**D4, **after}.items())
    assert rule.repair is RepairKind.MECHANICAL
    assert {change.rule for change in result.changes} == {rule.name}
    assert is_valid(result.schema, BY_NAME["draft-04"])
    for judge in (accepts, rust_accepts):
        assert judge(result.schema, valid, "draft-04")
        assert not judge(result.schema, invalid, "draft-04")


@pytest.mark.parametrize(("rule", "before"), [case[:2] for case in CASES])
def test_nothing_is_mended_where_a_draft_reads_it(
    rule: Rule, before: UntypedJson
) -> None:
    """As data of an `enum`, in a member that no draft knows: all stays as it is."""
    schema = {**D4, "enum": [before], "x-own": before}
    assert applied(rule, schema).schema is schema


@pytest.mark.parametrize(
    ("rule", "schema"),
    [
        (misspelt_types, {**D4, "type": "relationship"}),
        (misspelt_types, {**D4, "type": ["string", "relationship"]}),
        (misspelt_types, {**D4, "type": "enum"}),
        (misspelt_types, {**D3, "type": "any"}),
        (boolean_required, {"properties": {"a": {"required": True}}}),
        (
            misplaced_keywords,
            {**D7, "type": "x", "properties": {"additionalProperties": False}},
        ),
        (
            misplaced_keywords,
            {**D4, "properties": {"required": {"type": "boolean"}, "title": "string"}},
        ),
        (
            misplaced_keywords,
            {**D4, "properties": {"a": {"type": "object"}, "required": ["b"]}},
        ),
        (
            misplaced_keywords,
            {
                **D4,
                "properties": {
                    "a": {"properties": {"c": {}}},
                    "b": {"properties": {"c": {}}},
                    "required": ["c"],
                },
            },
        ),
        (
            misplaced_keywords,
            {**D4, "properties": {"$ref": "#/definitions/a"}, "allOf": [{}]},
        ),
        (
            misplaced_keywords,
            {**D4, "properties": {"type": "object", "title": "t", "properties": {}}},
        ),
        (
            misplaced_keywords,
            {**D4, "title": "t", "properties": {"title": "Another title."}},
        ),
        (
            schema_as_type,
            {**D4, "type": {"enum": [1]}, "enum": [2], "allOf": [{}]},
        ),
        (
            type_as_schema,
            {**D4, "properties": {"type": "object", "properties": {}}},
        ),
        (type_as_schema, {**D4, "properties": {"type": "object", "a": {}}}),
        (type_as_schema, {**D4, "properties": {"$ref": "#/definitions/a"}}),
        (type_as_schema, {**D4, "properties": {"a": "some text"}}),
        (type_as_schema, {**D4, "dependencies": {"a": "string"}}),
        (quoted_values, {**D4, "maximum": "many", "minLength": "1e2"}),
    ],
)
def test_what_is_not_certain_stays(rule: Rule, schema: UntypedJson) -> None:
    """A word that may mean several things, or what an older draft reads, is left."""
    assert applied(rule, schema).schema is schema


#: Schemas that their drafts read, with properties and data named like what is mended.
NAMED_LIKE_SLIPS: list[UntypedJson] = [
    D7 | {"properties": {"required": True, "additionalProperties": False}},
    D7 | {"properties": {"define": {"type": "object"}, "#ref": {"const": "#/a"}}},
    D7 | {"properties": {"title": {"enum": ["dict"]}, "minProperties": {"minimum": 1}}},
    D4 | {"properties": {"type": {"type": "string"}, "enum": {"enum": ["str|int"]}}},
    D4 | {"enum": [{"type": "dict", "required": True, "pattern": "a{,3}"}]},
    D4 | {"default": {"properties": {"required": ["a"], "title": "x"}}},
    D7 | {"const": {"define": {"a": {}}, "minimum": "1", "type": {"type": "string"}}},
    D4 | {"required": ["required"], "properties": {"required": {"type": "array"}}},
]
MECHANICAL = [
    boolean_required,
    misplaced_keywords,
    misspelt_types,
    quoted_values,
    schema_as_type,
    type_as_schema,
]


def test_properties_that_are_named_like_a_slip_are_properties(
    subtests: pytest.Subtests,
) -> None:
    """A schema that its draft reads is what it says, whatever its properties' names."""
    for rule in MECHANICAL:
        for schema in NAMED_LIKE_SLIPS:
            with subtests.test(rule=rule.name, schema=schema):
                assert applied(rule, schema).schema == schema


def test_a_property_named_required_is_required_as_it_says() -> None:
    """`required: true` of the property `required` lists that name and no other."""
    inner = {"type": "boolean", "required": True}
    schema = D4 | {"type": "object", "properties": {"required": inner, "a": {}}}
    mended = applied(boolean_required, schema).schema
    assert isinstance(mended, dict)
    assert mended["required"] == ["required"]
    assert mended["properties"] == {"required": {"type": "boolean"}, "a": {}}

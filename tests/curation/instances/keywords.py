"""For every assertion and applicator, schemas that use it; what no value reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.search.reach import SchemaGraph, reached_by
from curation.schema.dialects import DIALECTS, DRAFT_04
from curation.validation.metaschemas import is_valid

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.core.json_types import Json, UntypedJson


_OBJECT = {"type": "object"}
#: Keyword to schemas that can be met, in any draft that knows the keyword.
SATISFIABLE: dict[str, list[UntypedJson]] = {
    "type": [{"type": ["null", "integer"]}, {"type": "number"}, {"type": "boolean"}],
    "enum": [{"enum": [None, "a", {"b": [1]}]}, {"enum": [{}, []], "type": "array"}],
    "const": [{"const": None}, {"const": {"a": [1, {}]}}],
    "multipleOf": [
        {"type": "integer", "multipleOf": 7, "minimum": 50, "maximum": 57},
        {"type": "number", "multipleOf": 0.5, "minimum": 0.2, "maximum": 0.9},
    ],
    "minimum": [{"type": "integer", "minimum": 10**12}],
    "maximum": [{"type": "number", "maximum": -3.5}],
    "minLength": [{"type": "string", "minLength": 200}],
    "maxLength": [{"type": "string", "maxLength": 1}, {"maxLength": 0}],
    "pattern": [{"type": "string", "pattern": "^a"}],
    "minItems": [{"type": "array", "minItems": 100, "items": {"type": "null"}}],
    "maxItems": [
        {"type": "array", "maxItems": 0},
        {"type": "array", "maxItems": 0, "items": False},
    ],
    "uniqueItems": [
        {
            "type": "array",
            "uniqueItems": True,
            "minItems": 4,
            "items": {
                "type": "object",
                "properties": {"a": {"type": "boolean"}, "b": {"type": "boolean"}},
                "additionalProperties": False,
            },
        },
        {
            "type": "array",
            "uniqueItems": True,
            "minItems": 2,
            "items": {"enum": [1, 2]},
        },
    ],
    "minProperties": [{**_OBJECT, "minProperties": 5}],
    "maxProperties": [
        {**_OBJECT, "maxProperties": 1, "properties": {"a": {}, "b": {}}}
    ],
    "required": [{**_OBJECT, "required": ["a", "b"], "properties": {"b": {}}}],
    "properties": [{**_OBJECT, "properties": {"a": {"type": "null"}, "b": {}}}],
    "patternProperties": [
        {
            **_OBJECT,
            "required": ["ab"],
            "patternProperties": {"^a": {"type": "string"}, "b$": {"minLength": 3}},
        }
    ],
    "additionalProperties": [
        {**_OBJECT, "additionalProperties": {"type": "integer"}, "minProperties": 2},
        {
            **_OBJECT,
            "additionalProperties": False,
            "properties": {"a": {"type": "null"}},
        },
    ],
    "propertyNames": [
        {**_OBJECT, "propertyNames": {"enum": ["a", "b"]}, "minProperties": 2},
        {**_OBJECT, "propertyNames": {"maxLength": 3}, "minProperties": 3},
    ],
    "items": [{"type": "array", "items": {"type": "integer"}, "minItems": 1}],
    "additionalItems": [
        {
            "type": "array",
            "items": [{"type": "null"}],
            "additionalItems": {"type": "string"},
            "minItems": 3,
        },
        {"type": "array", "items": [{"type": "null"}], "additionalItems": False},
    ],
    "prefixItems": [
        {"prefixItems": [{"type": "null"}, {"type": "string"}], "minItems": 2},
        {"prefixItems": [{"type": "null"}], "items": False, "type": "array"},
    ],
    "contains": [
        {"type": "array", "contains": {"const": 5}, "items": {"type": "integer"}},
        {
            "type": "array",
            "contains": {"const": 5},
            "maxItems": 1,
            "items": {"type": "integer"},
        },
    ],
    "minContains": [{"type": "array", "contains": {"const": 1}, "minContains": 3}],
    "maxContains": [
        {
            "type": "array",
            "contains": {"type": "string"},
            "maxContains": 2,
            "minItems": 6,
        }
    ],
    "allOf": [
        {"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 3}]},
        {
            "allOf": [
                {"required": ["a"]},
                {"properties": {"a": {"type": "integer"}}},
                {"properties": {"a": {"minimum": 7}}},
            ],
            "type": "object",
        },
    ],
    "anyOf": [
        {"anyOf": [False, {"type": "null"}]},
        {"anyOf": [{"enum": []}, {"type": "null"}]},
        {"anyOf": [{"type": "null"}, {"type": "string"}]},
    ],
    "oneOf": [
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"},
        {
            "oneOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}},
                {"type": "object", "properties": {"b": {"type": "integer"}}},
            ]
        },
        {"oneOf": [{"type": "number"}, {"type": "integer"}]},
    ],
    "not": [
        {"not": {"type": ["string", "object"]}},
        {"type": "object", "not": {"anyOf": [{"required": ["a"]}]}},
        {"type": "object", "not": {"properties": {"a": {"type": "string"}}}},
        {"type": "array", "not": {"uniqueItems": True}},
        {"type": "number", "not": {"multipleOf": 1}},
        {"not": {"not": {"type": "integer"}}},
    ],
    "if": [
        {"if": {"type": "string"}, "then": {"minLength": 5}, "else": {"type": "null"}},
        {
            "type": "object",
            "required": ["k"],
            "properties": {"k": {"enum": ["x", "y"]}, "x": {"type": "integer"}},
            "if": {"properties": {"k": {"const": "x"}}},
            "then": {"required": ["x"]},
        },
    ],
    "then": [{"if": {"required": ["a"]}, "then": False, "type": "object"}],
    "else": [{"if": {"type": "object"}, "else": {"type": "null"}}],
    "dependencies": [
        {
            **_OBJECT,
            "required": ["a", "c"],
            "dependencies": {"a": ["b"], "c": {"properties": {"d": {"type": "null"}}}},
        }
    ],
    "dependentRequired": [{**_OBJECT, "dependentRequired": {"a": ["b"]}}],
    "dependentSchemas": [
        {
            **_OBJECT,
            "required": ["a"],
            "dependentSchemas": {"a": {"required": ["b"]}, "b": {"required": ["c"]}},
        }
    ],
    "unevaluatedProperties": [
        {
            **_OBJECT,
            "minProperties": 2,
            "properties": {"a": {"type": "integer"}},
            "anyOf": [
                {"properties": {"b": {"type": "string"}}},
                {"properties": {"c": {"type": "string"}}},
            ],
            "unevaluatedProperties": False,
        },
        {**_OBJECT, "unevaluatedProperties": {"type": "null"}, "required": ["x"]},
    ],
    "unevaluatedItems": [
        {"type": "array", "unevaluatedItems": {"type": "integer"}, "minItems": 2}
    ],
    "$ref": [
        {
            "definitions": {"t": {"type": "integer", "maximum": 7}},
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"$ref": "#/definitions/t"}},
        },
        {
            "definitions": {
                "t": {
                    "type": "object",
                    "required": ["v"],
                    "properties": {
                        "v": {"type": "null"},
                        "next": {"$ref": "#/definitions/t"},
                    },
                }
            },
            "allOf": [{"$ref": "#/definitions/t"}],
        },
    ],
    "$dynamicRef": [
        {
            "$dynamicAnchor": "node",
            "type": "object",
            "properties": {"c": {"type": "array", "items": {"$dynamicRef": "#node"}}},
        }
    ],
    "$recursiveRef": [
        {
            "$recursiveAnchor": True,
            "type": "object",
            "required": ["c"],
            "properties": {"c": {"type": "array", "items": {"$recursiveRef": "#"}}},
        }
    ],
}
#: What says nothing of an instance by itself.
SILENT = frozenset(
    {
        "definitions",
        "$defs",
        "contentSchema",
        "id",
        "$id",
        "$anchor",
        "$recursiveAnchor",
        "$dynamicAnchor",
        "$vocabulary",
    }
)


def cases() -> list[tuple[str, str, UntypedJson]]:
    """Return dialect, keyword and schema for every keyword of every draft."""
    found = []
    for dialect in DIALECTS:
        for keyword in sorted(dialect.effective - SILENT):
            given = SATISFIABLE.get(keyword, [])
            if keyword in ("exclusiveMinimum", "exclusiveMaximum"):
                given = [_exclusive(keyword, old=dialect is DRAFT_04)]
            usable = [each for each in given if is_valid(each, dialect)]
            found += [(dialect.name, keyword, each) for each in usable]
    return found


def _exclusive(keyword: str, *, old: bool) -> UntypedJson:
    bound = keyword.removeprefix("exclusive").lower()
    if old:
        return {"type": "integer", bound: 5, keyword: True}
    return {"type": "integer", keyword: 5}


def unreached(
    schema: Json, values: Iterable[Json], dialect: str = "draft-07"
) -> set[str]:
    """Return the pointers of the sites and branches that none of the values reaches."""
    graph = SchemaGraph(CompiledSchema.from_json(schema, dialect))
    left = set(graph.targets())
    for value in values:
        left -= reached_by(graph, value)
    return {location.pointer for location in left}

"""Proofs that nothing is accepted: found where they are simple, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.satisfiability.prove import refute, satisfiability_of
from curation.schema.dialects import BY_NAME

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_ENDLESS = {
    "type": "object",
    "required": ["next"],
    "properties": {"next": {"$ref": "#"}},
}
_ALIKE = {"type": "string", "title": "a"}


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("false-schema", False),
        ("false-schema", {"allOf": [False]}),
        ("false-schema", {"$ref": "#/definitions/a", "definitions": {"a": False}}),
        ("types-disjoint", {"allOf": [{"type": "string"}, {"type": "object"}]}),
        (
            "types-disjoint",
            {
                "allOf": [{"$ref": "#/definitions/a"}, {"type": "null"}],
                "definitions": {"a": {"type": "number"}},
            },
        ),
        ("listed-values-refused", {"type": "string", "enum": [1, 2]}),
        ("listed-values-refused", {"type": "string", "const": None}),
        ("listed-values-refused", {"enum": ["a", "b"], "const": "c"}),
        ("listed-values-refused", {"enum": ["a"], "pattern": "^b$"}),
        ("listed-values-refused", {"enum": [1, 2], "minimum": 3}),
        ("listed-values-refused", {"enum": [1, "a"], "not": {"enum": ["a", 1.0]}}),
        ("bounds-crossed", {"type": "integer", "minimum": 2, "maximum": 1}),
        ("bounds-crossed", {"type": "number", "minimum": 2, "exclusiveMaximum": 2}),
        ("bounds-crossed", {"type": "string", "minLength": 2, "maxLength": 1}),
        ("bounds-crossed", {"type": "array", "contains": {}, "maxItems": 0}),
        ("bounds-crossed", {"type": "object", "minProperties": 3, "maxProperties": 2}),
        (
            "bounds-crossed",
            {
                "type": "object",
                "minProperties": 2,
                "properties": {"a": {}},
                "additionalProperties": False,
            },
        ),
        ("integer-gap", {"type": "integer", "minimum": 1.2, "maximum": 1.9}),
        (
            "integer-gap",
            {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
        ),
        (
            "multiple-gap",
            {"type": "number", "minimum": 11, "maximum": 19, "multipleOf": 10},
        ),
        (
            "required-forbidden",
            {"type": "object", "required": ["a"], "additionalProperties": False},
        ),
        (
            "required-forbidden",
            {"type": "object", "required": ["a"], "properties": {"a": False}},
        ),
        (
            "required-forbidden",
            {
                "type": "object",
                "required": ["a"],
                "dependencies": {"a": ["b"]},
                "properties": {"a": {}},
                "additionalProperties": False,
            },
        ),
        (
            "name-refused",
            {"type": "object", "required": ["ab"], "propertyNames": {"maxLength": 1}},
        ),
        (
            "too-many-required",
            {"type": "object", "required": ["a", "b"], "maxProperties": 1},
        ),
        (
            "listed-values-refused",
            {
                "type": "object",
                "required": ["a"],
                "properties": {"a": {"type": "number", "enum": ["x"]}},
            },
        ),
        (
            "types-disjoint",
            {
                "type": "object",
                "required": ["ab"],
                "properties": {"ab": {"type": "number"}},
                "patternProperties": {"^a": {"type": "string"}},
            },
        ),
        ("false-schema", {"type": "array", "minItems": 1, "items": False}),
        ("false-schema", {"type": "array", "minItems": 2, "items": [{}, False]}),
        (
            "too-few-distinct",
            {
                "type": "array",
                "minItems": 3,
                "uniqueItems": True,
                "items": {"type": "boolean"},
            },
        ),
        (
            "contains-refuted",
            {"type": "array", "items": {"type": "string"}, "contains": {"const": 1}},
        ),
        (
            "every-branch-refuted",
            {"type": "object", "oneOf": [{"type": "string"}, {"type": "integer"}]},
        ),
        (
            "every-branch-refuted",
            {"if": {"type": "null"}, "then": False, "else": {"not": {}}},
        ),
        ("branches-alike", {"oneOf": [_ALIKE, {**_ALIKE, "title": "b"}]}),
        ("branches-alike", {"oneOf": [{}, True]}),
        ("negates-all", {"not": {}}),
        ("negates-all", {"not": True}),
        ("negates-all", {"type": "string", "not": {"type": "string"}}),
        ("endless-recursion", _ENDLESS),
        (
            "endless-recursion",
            {
                "$ref": "#/definitions/a",
                "definitions": {
                    "a": {
                        "type": "object",
                        "required": ["b"],
                        "properties": {"b": {"$ref": "#/definitions/b"}},
                    },
                    "b": {
                        "type": "array",
                        "minItems": 1,
                        "items": {"$ref": "#/definitions/a"},
                    },
                },
            },
        ),
    ],
)
def test_what_accepts_nothing_is_refuted(name: str, schema: UntypedJson) -> None:
    """Each simple reason on its own, by its name."""
    proof = refute(schema, BY_NAME["draft-07"])
    assert proof is not None
    assert proof.name == name
    assert str(proof)
    said = satisfiability_of(schema, BY_NAME["draft-07"], has_witness=False)
    assert said == ("unsatisfiable", proof)


def test_branches_that_differ_in_unknown_words_are_alike() -> None:
    """Draft-04 has no `const`: both branches hold, or none."""
    schema: UntypedJson = {
        "oneOf": [
            {"properties": {"a": {"const": 1}}, "required": ["a"]},
            {"properties": {"a": {"const": 2}}, "required": ["a"]},
        ]
    }
    proof = refute(schema, BY_NAME["draft-04"])
    assert proof is not None
    assert (proof.name, proof.pointer) == ("branches-alike", "/oneOf")
    assert refute(schema, BY_NAME["draft-06"]) is None


def test_a_witness_settles_it() -> None:
    """No proof and no witness is no answer."""
    dialect = BY_NAME["2020-12"]
    assert satisfiability_of({}, dialect, has_witness=True) == ("satisfiable", None)
    unknown = satisfiability_of({"pattern": "(?=a)b"}, dialect, has_witness=False)
    assert unknown == ("unknown", None)


def test_references_are_followed_into_embedded_resources() -> None:
    """Each resolved against the base in force where it stands."""
    schema: UntypedJson = {
        "$id": "https://made.test/root",
        "$ref": "other",
        "$defs": {
            "a": {
                "$id": "other",
                "$ref": "#/$defs/b",
                "$defs": {"b": {"type": "null", "const": 1}},
            },
            "b": {},
        },
    }
    proof = refute(schema, BY_NAME["2020-12"])
    assert proof is not None
    assert proof.pointer == "/$defs/a/$defs/b/const"


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"type": "object", "properties": {"a": False}},
        {"properties": {"a": {"$ref": "#"}}, "required": ["b"]},
        {"anyOf": [_ENDLESS, {"type": "null"}]},
        {"type": "array", "items": False},
        {"type": "array", "minItems": 1, "items": {"$ref": "#"}, "not": {"minItems": 9}}
        | {"items": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}},
        {"minimum": 2, "maximum": 1},
        {"required": ["a"], "additionalProperties": False},
        {"type": ["object", "null"], "required": ["a"], "additionalProperties": False},
        {"type": "integer", "enum": [1.0]},
        {"$ref": "#/types/x"},
        {"$ref": "other.json"},
        {"type": "string", "pattern": "[[:alpha:]]", "enum": ["["]},
        {"oneOf": [{"format": "uri"}, {"format": "email"}]},
        {"oneOf": [{"type": "string"}, {"type": "string"}, {"type": "null"}]},
        {"if": {"type": "null"}, "then": False},
        {"not": {"type": "object"}},
        {"anyOf": [{"$ref": "#"}, {"type": "string"}]},
        {"type": "array", "contains": {"const": 1}, "items": [{"type": "string"}]},
        {"type": "number", "minimum": 1.2, "maximum": 1.9},
    ],
)
def test_what_may_accept_something_is_not(schema: UntypedJson) -> None:
    """Non-objects, empty arrays, another branch, or what is not understood."""
    assert refute(schema, BY_NAME["draft-07"]) is None


def test_deep_and_wide_schemas_end() -> None:
    """No fuel, no proof."""
    deep: UntypedJson = {"type": "string"}
    for _ in range(400):
        deep = {"allOf": [deep]}
    assert refute(deep, BY_NAME["draft-07"]) is None
    wide: UntypedJson = {
        f"d{i}": {"anyOf": [{"$ref": f"#/definitions/d{i + 1}"}] * 3} for i in range(50)
    }
    wide["d50"] = {"type": "null"}
    schema = {"$ref": "#/definitions/d0", "definitions": wide}
    assert refute(schema, BY_NAME["draft-07"]) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": list(range(100_000)), "type": "string"},
        {"oneOf": [{"type": "string"}] * 10_000},
        {"type": "array", "minItems": 10**9, "items": {"enum": ["a"]}},
        {
            "type": "object",
            "required": [f"n{i}" for i in range(5_000)],
            "dependencies": {f"n{i}": [f"n{i + 1}"] for i in range(5_000)},
            "patternProperties": {f"^x{i}": {} for i in range(49)},
        },
    ],
)
def test_large_schemas_end(schema: UntypedJson) -> None:
    """Steps are counted; what lies beyond them counts as accepting."""
    proof = refute(schema, BY_NAME["draft-07"])
    assert (proof is not None) == ("enum" in schema or "oneOf" in schema)

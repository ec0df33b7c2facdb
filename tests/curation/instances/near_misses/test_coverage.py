"""Implied keywords: each proof proves what it says, and nothing that is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.instances.constraints.assertions import find_reachable_keywords
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.violations import find_violations
from curation.instances.near_misses.coverage import find_proof, measure_coverage
from curation.instances.near_misses.search import find_near_misses
from curation.instances.search.witnesses import find_witnesses
from tests.curation.instances.keywords import cases

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_A: UntypedJson = {"properties": {"a": {}}}
#: Schema, pointer of a keyword at its root, and the proof; "" where it can fail alone.
_CASES: list[tuple[UntypedJson, str, str]] = [
    ({"type": "string", "enum": ["a"]}, "/type", "other_type"),
    ({"type": "string", "enum": ["a", 1]}, "/type", ""),
    ({"type": "string", "enum": ["a"]}, "/enum", ""),
    ({"type": "boolean", "enum": [True, False]}, "/enum", "other_type"),
    ({"type": "boolean", "enum": [True]}, "/enum", ""),
    ({"type": "string", "const": "a"}, "/type", "other_type"),
    ({"enum": ["a"], "const": "a"}, "/const", "listed"),
    ({"enum": ["abc"], "minLength": 2}, "/minLength", "listed"),
    ({"enum": ["abc", "a"], "minLength": 2}, "/minLength", ""),
    ({"enum": [3, 5], "minimum": 3}, "/minimum", "listed"),
    ({"enum": [{"a": 1}], "required": ["a"]}, "/required", "listed"),
    ({"enum": [{"a": 1}], **_A, "additionalProperties": False}, "/enum", ""),
    ({"enum": ["a"], "anyOf": [{"const": "a"}, {"const": "b"}]}, "/anyOf", "listed"),
    ({"enum": ["a"], "not": {"const": "b"}}, "/not", "listed"),
    ({"enum": ["a", "b"], "not": {"const": "b"}}, "/not", ""),
    ({"type": "integer", "minLength": 3}, "/minLength", "other_type"),
    (
        {"type": "array", "additionalProperties": False},
        "/additionalProperties",
        "other_type",
    ),
    ({"type": "integer", "multipleOf": 1}, "/multipleOf", "other_type"),
    ({"type": "integer", "multipleOf": 0.5}, "/multipleOf", "other_type"),
    ({"type": "integer", "multipleOf": 2}, "/multipleOf", ""),
    ({"minLength": 1, "pattern": "^[a-z]+$"}, "/minLength", "lengths"),
    ({"minLength": 3, "pattern": "^[a-z]+$"}, "/minLength", ""),
    ({"maxLength": 3, "pattern": "^[a-z]{1,3}$"}, "/maxLength", "lengths"),
    ({"maxLength": 3, "pattern": "[a-z]{1,3}$"}, "/maxLength", ""),
    ({"maxLength": 3, "pattern": "^(ab|abc)$|^x"}, "/maxLength", ""),
    ({"minLength": 1, "format": "date"}, "/minLength", "lengths"),
    ({"minLength": 1, "format": "made-up"}, "/minLength", ""),
    ({"maxLength": 400, "format": "email"}, "/maxLength", "lengths"),
    ({"minimum": 0, "exclusiveMinimum": 0}, "/minimum", "tighter_bound"),
    ({"minimum": 0, "exclusiveMinimum": 0}, "/exclusiveMinimum", ""),
    ({"maximum": 3, "exclusiveMaximum": 3}, "/maximum", "tighter_bound"),
    ({"exclusiveMaximum": 3, "maximum": 2}, "/exclusiveMaximum", "tighter_bound"),
    (
        {"type": "integer", "minimum": 1, "exclusiveMinimum": 0},
        "/minimum",
        "tighter_bound",
    ),
    ({"minProperties": 1, "required": ["a"]}, "/minProperties", "property_count"),
    ({"minProperties": 2, "required": ["a"]}, "/minProperties", ""),
    (
        {**_A, "additionalProperties": False, "maxProperties": 1},
        "/maxProperties",
        "property_count",
    ),
    (
        {
            **_A,
            "additionalProperties": False,
            "maxProperties": 1,
            "patternProperties": {"b": {}},
        },
        "/maxProperties",
        "",
    ),
    (
        {**_A, "additionalProperties": False, "minProperties": 1, "required": ["a"]},
        "/required",
        "property_count",
    ),
    ({"minItems": 1, "contains": {"const": 1}}, "/minItems", "item_count"),
    ({"minItems": 2, "contains": {"const": 1}}, "/minItems", ""),
    ({"contains": {}, "minItems": 1}, "/contains", "item_count"),
    (
        {"items": [{}], "additionalItems": False, "maxItems": 1},
        "/maxItems",
        "item_count",
    ),
    (
        {"items": [{}], "additionalItems": False, "maxItems": 1},
        "/additionalItems",
        "item_count",
    ),
    (
        {"items": [{}], "additionalItems": False, "maxItems": 2},
        "/maxItems",
        "item_count",
    ),
    ({"uniqueItems": True, "maxItems": 1}, "/uniqueItems", "item_count"),
    ({"uniqueItems": True, "maxItems": 2}, "/uniqueItems", ""),
    (
        {"uniqueItems": True, "maxItems": 2, "items": {"enum": [1, 2]}},
        "/maxItems",
        "item_count",
    ),
    ({"uniqueItems": True, "maxItems": 1, "items": {"enum": [1, 2]}}, "/maxItems", ""),
    (
        {**_A, "additionalProperties": False, "propertyNames": {"enum": ["a"]}},
        "/additionalProperties",
        "names",
    ),
    (
        {**_A, "additionalProperties": False, "propertyNames": {"enum": ["a", "b"]}},
        "/additionalProperties",
        "",
    ),
    (
        {**_A, "additionalProperties": False, "propertyNames": {"maxLength": 3}},
        "/propertyNames",
        "names",
    ),
    (
        {
            "patternProperties": {"^x": {}},
            "additionalProperties": False,
            "propertyNames": {"pattern": "^x"},
        },
        "/additionalProperties",
        "names",
    ),
    (
        {"patternProperties": {".*": {}}, "additionalProperties": False},
        "/additionalProperties",
        "never_fails",
    ),
    (
        {"patternProperties": {".+": {}}, "additionalProperties": False},
        "/additionalProperties",
        "",
    ),
    ({"pattern": "^[a-z]*"}, "/pattern", "never_fails"),
    ({"pattern": "^[a-z]*$"}, "/pattern", ""),
    ({"dependencies": {"a": ["b"]}, "required": ["b"]}, "/dependencies", "dependents"),
    ({"dependencies": {"a": ["b"]}, "required": ["c"]}, "/dependencies", ""),
    (
        {**_A, "additionalProperties": False, "dependencies": {"x": ["a"]}},
        "/dependencies",
        "dependents",
    ),
    (
        {"required": ["a"], "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "/anyOf",
        "branch_repeats",
    ),
    (
        {"required": ["a"], "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "/required",
        "",
    ),
    ({"required": ["a"], "anyOf": [False, {"required": ["b"]}]}, "/anyOf", ""),
    (
        {"required": ["a"], "oneOf": [{"required": ["a", "b"]}, {"required": ["a"]}]},
        "/required",
        "branches_repeat",
    ),
    (
        {"type": ["string", "null"], "anyOf": [{"type": "string"}, {"type": "null"}]},
        "/anyOf",
        "other_type",
    ),
    (
        {"type": ["string", "null"], "anyOf": [{"type": "string"}, {"type": "null"}]},
        "/type",
        "other_type",
    ),
    ({"type": "object", "oneOf": [_A, {"required": ["a"]}]}, "/type", "other_type"),
    ({"type": "object", "anyOf": [_A, {"required": ["a"]}]}, "/type", ""),
    ({"type": "string", "not": {"type": "null"}}, "/not", "other_type"),
    ({"type": ["string", "null"], "not": {"type": "null"}}, "/not", ""),
    ({"anyOf": [{"format": "made-up"}, {"type": "null"}]}, "/anyOf", "never_fails"),
    (
        {"type": "string", "if": {"type": "object"}, "then": {"required": ["a"]}},
        "/if",
        "other_type",
    ),
    ({"type": "object", "if": {}, "then": {"required": ["a"]}}, "/if", ""),
]


def _proof(schema: UntypedJson, pointer: str, dialect: str = "draft-07") -> str:
    compiled = CompiledSchema.from_json(schema, dialect)
    reachable = find_reachable_keywords(compiled)
    for pair in reachable.assertions:
        if pair.pointer == pointer:
            return find_proof(compiled, pair)
    raise AssertionError(pointer)


@pytest.mark.parametrize(("schema", "pointer", "proof"), _CASES)
def test_proofs(schema: UntypedJson, pointer: str, proof: str) -> None:
    """Each proof holds where it should and where one thing is other it does not."""
    assert _proof(schema, pointer) == proof


def test_a_proof_must_hold_for_every_value_that_the_keyword_is_about() -> None:
    """A definition used beside an enum and without one can fail alone."""
    shared = {"type": "string"}
    beside = {"allOf": [{"$ref": "#/definitions/t"}, {"enum": ["a"]}]}
    schema = {
        "definitions": {"t": shared},
        "properties": {"a": beside, "b": {"$ref": "#/definitions/t"}},
    }
    assert _proof(schema, "/definitions/t/type") == ""
    only = {"definitions": {"t": shared}, "properties": {"a": beside}}
    assert _proof(only, "/definitions/t/type") == "other_type"


def test_nothing_covered_is_implied(subtests: pytest.Subtests) -> None:
    """What a near miss fails alone has no proof that it cannot."""
    for dialect, _, schema in cases():
        with subtests.test(dialect=dialect, schema=schema):
            compiled = CompiledSchema.from_json(schema, dialect)
            found = find_near_misses(compiled, find_witnesses(compiled).witnesses)
            have = {each.schema_pointer for each in found}
            reachable = find_reachable_keywords(compiled)
            for pair in reachable.assertions:
                if pair.pointer in have:
                    assert find_proof(compiled, pair) == ""
            measured = measure_coverage(compiled, found)
            assert (
                measured.covered
                <= measured.possible
                <= measured.pairs - measured.implied
            )
            assert (
                measured.keywords_covered + measured.keywords_implied
                <= measured.keywords
            )


_NAMES = st.sampled_from(["a", "b", "c"])
_VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 2.5, -3, "", "a", "ab", "2024-05-06"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3)
    ),
    max_leaves=5,
)
_TYPES = st.sampled_from(
    ["string", "integer", "number", "object", "array", "boolean", "null"]
)
_LOOSE = st.fixed_dictionaries(
    {},
    optional={
        "type": _TYPES | st.lists(_TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(_VALUES, min_size=1, max_size=3),
        "minimum": st.integers(-3, 3),
        "exclusiveMaximum": st.integers(-3, 3),
        "multipleOf": st.sampled_from([1, 0.5, 2]),
        "minLength": st.integers(0, 3),
        "maxLength": st.integers(0, 3),
        "pattern": st.sampled_from(["^a*$", "a", "^.{1,2}$", ".*", "^$"]),
        "format": st.sampled_from(["date", "made-up"]),
        "minItems": st.integers(0, 2),
        "maxItems": st.integers(0, 2),
        "uniqueItems": st.just(value=True),
        "contains": st.sampled_from([{"const": 1}, {}]),
        "required": st.lists(_NAMES, min_size=1, max_size=2, unique=True),
        "minProperties": st.integers(0, 2),
        "maxProperties": st.integers(0, 2),
        "properties": st.dictionaries(_NAMES, st.just({}), max_size=2),
        "additionalProperties": st.just(value=False),
        "propertyNames": st.sampled_from([{"enum": ["a"]}, {"minLength": 1}]),
        "dependencies": st.dictionaries(_NAMES, st.lists(_NAMES, unique=True)),
    },
)
_SCHEMAS = st.builds(
    lambda one, rest: {**one, **rest},
    _LOOSE,
    st.fixed_dictionaries(
        {},
        optional={
            "anyOf": st.lists(_LOOSE, min_size=1, max_size=2),
            "oneOf": st.lists(_LOOSE, min_size=1, max_size=2),
            "not": _LOOSE,
            "allOf": st.lists(_LOOSE, min_size=1, max_size=2),
        },
    ),
)


@pytest.mark.slow
@given(schema=_SCHEMAS, values=st.lists(_VALUES, min_size=4, max_size=12))
def test_proofs_are_sound(schema: UntypedJson, values: list[UntypedJson]) -> None:
    """No value fails, alone, a keyword that is said never to fail alone."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    reachable = find_reachable_keywords(compiled)
    proven = {
        pair.pointer: (name, pair)
        for pair in reachable.assertions
        if (name := find_proof(compiled, pair))
    }
    for value in values:
        violations = find_violations(compiled, value)
        if len({(each.keyword, each.instance_pointer) for each in violations}) == 1:
            assert not {each.schema_pointer for each in violations} & proven.keys()

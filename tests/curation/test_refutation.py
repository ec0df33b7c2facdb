"""Proofs that nothing is accepted: sound, and found where they are simple."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.dialects import BY_NAME
from curation.documents import Reason, Rejected
from curation.refutation import refute
from curation.stages.clean_unsatisfiable import RULE
from tests.curation.judges import rust_accepts
from tests.curation.stages.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.documents import Json

_ENDLESS = {
    "type": "object",
    "required": ["next"],
    "properties": {"next": {"$ref": "#"}},
}


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"allOf": [False]},
        {"allOf": [{"type": "string"}, {"type": "object"}]},
        {"type": "object", "oneOf": [{"type": "string"}, {"type": "integer"}]},
        {"type": "string", "enum": [1, 2]},
        {"type": "string", "const": None},
        {"type": "integer", "minimum": 2, "maximum": 1},
        {"type": "string", "minLength": 2, "maxLength": 1},
        {"type": "object", "required": ["a"], "additionalProperties": False},
        {"type": "object", "required": ["a"], "properties": {"a": False}},
        {"type": "object", "required": ["a", "b"], "maxProperties": 1},
        {
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"type": "number", "enum": ["x"]}},
        },
        {"type": "array", "minItems": 1, "items": False},
        {"not": {}},
        {"not": True},
        _ENDLESS,
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
    ],
)
def test_what_accepts_nothing_is_refuted(schema: Json) -> None:
    """Each simple reason on its own, with a place."""
    proof = refute(schema, BY_NAME["draft-07"])
    assert proof is not None
    assert str(proof)


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
    ],
)
def test_what_may_accept_something_is_not(schema: Json) -> None:
    """Non-objects, empty arrays, another branch, or what is not understood."""
    assert refute(schema, BY_NAME["draft-07"]) is None


def test_the_rule_rejects_with_the_proof() -> None:
    """The detail says where and why."""
    made = document({"properties": {}, **_ENDLESS}, dialect="draft-07")
    result = RULE.apply(made, CONTEXT)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.UNSATISFIABLE


def test_deep_and_wide_schemas_end() -> None:
    """No fuel, no proof."""
    deep: Json = {"type": "string"}
    for _ in range(400):
        deep = {"allOf": [deep]}
    assert refute(deep, BY_NAME["draft-07"]) is None
    wide: Json = {
        f"d{i}": {"anyOf": [{"$ref": f"#/definitions/d{i + 1}"}] * 3} for i in range(50)
    }
    wide["d50"] = {"type": "null"}
    schema = {"$ref": "#/definitions/d0", "definitions": wide}
    assert refute(schema, BY_NAME["draft-07"]) is None


_SCHEMAS = st.recursive(
    st.sampled_from(
        [
            True,
            False,
            {},
            {"type": "string"},
            {"type": "integer"},
            {"enum": ["a", 1]},
            {"$ref": "#"},
            {"$ref": "#/definitions/d"},
            {"const": None},
        ]
    ),
    lambda inner: st.one_of(
        st.builds(
            lambda a, names, closed: {
                "type": "object",
                "properties": {"a": a},
                "required": names,
                "additionalProperties": closed,
            },
            inner,
            st.sampled_from([[], ["a"], ["b"]]),
            st.booleans(),
        ),
        st.builds(
            lambda a, n: {"items": a, "minItems": n, "type": "array"},
            inner,
            st.integers(0, 1),
        ),
        st.builds(
            lambda w, a, b: {w: [a, b]},
            st.sampled_from(["allOf", "anyOf", "oneOf"]),
            inner,
            inner,
        ),
    ),
    max_leaves=6,
)
_INSTANCES = st.recursive(
    st.sampled_from(["a", 1, None, True]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=5,
)


@settings(deadline=None, max_examples=300)
@given(_SCHEMAS, _SCHEMAS, st.lists(_INSTANCES, min_size=10, max_size=30))
def test_no_instance_contradicts_a_proof(
    schema: Json, definition: Json, instances: list[Json]
) -> None:
    """Where a proof is given, jsonschema-rs accepts nothing either."""
    if not isinstance(schema, dict) or "$ref" in schema:
        schema = {"type": "object", "required": ["a"], "properties": {"a": schema}}
    whole = {**schema, "definitions": {"d": definition}}
    if refute(whole, BY_NAME["draft-07"]) is None or "'#" in str(schema.get("allOf")):
        return
    for instance in instances:
        assert not rust_accepts(whole, instance, "draft-07")

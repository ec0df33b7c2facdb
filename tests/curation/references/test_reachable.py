"""Of which types a schema accepts every value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.references.reachable import ALL_TYPES, AcceptedTypes, taking_part
from curation.references.schema import Schema
from curation.schema.dialects import DRAFT_04, DRAFT_07, DRAFT_2020_12, Dialect

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def accepted(schema: UntypedJson, dialect: Dialect = DRAFT_2020_12) -> frozenset[str]:
    """Return the types that the root of a schema accepts whole."""
    document = Schema(schema, dialect, "")
    return AcceptedTypes(document).of(document.root)


@pytest.mark.parametrize(
    ("schema", "refused"),
    [
        (True, set()),
        (False, ALL_TYPES),
        ({}, set()),
        ({"title": "t", "$defs": {"a": False}, "unknown": False}, set()),
        ({"minLength": 1, "required": ["a"]}, {"string", "object"}),
        ({"type": ["number", "null"]}, ALL_TYPES - {"number", "null"}),
        ({"type": "integer"}, ALL_TYPES),
        ({"enum": [None]}, ALL_TYPES),
        ({"not": {}}, ALL_TYPES),
        ({"allOf": [{"minItems": 1}, {"minimum": 1}]}, {"array", "number"}),
        ({"anyOf": [{"minItems": 1}, {"minimum": 1}]}, set()),
        ({"oneOf": [{"minItems": 1}]}, {"array"}),
        ({"oneOf": [{"minItems": 1}, {"minimum": 1}]}, ALL_TYPES),
        (
            {"if": False, "then": {"minItems": 1}, "else": {"minimum": 1}},
            {"array", "number"},
        ),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"pattern": "x"}}}, {"string"}),
        ({"$ref": "#/$defs/a", "minItems": 1, "$defs": {"a": True}}, {"array"}),
        ({"$ref": "#"}, ALL_TYPES),
        ({"$ref": "#/nowhere"}, ALL_TYPES),
        ({"$ref": "http://x.test/"}, ALL_TYPES),
        ({"$dynamicRef": "#"}, ALL_TYPES),
    ],
)
def test_what_a_keyword_does_not_speak_of_is_accepted(
    schema: UntypedJson, refused: set[str]
) -> None:
    """Every type but those of which some keyword may refuse a value."""
    assert accepted(schema) == ALL_TYPES - refused


def test_the_dialect_decides_what_is_a_keyword() -> None:
    """Beside a `$ref` up to draft-07 nothing is, and `if` is none in draft-04."""
    schema = {"$ref": "#/definitions/a", "minItems": 1, "definitions": {"a": {}}}
    assert accepted(schema, DRAFT_07) == ALL_TYPES
    assert accepted({"if": {}, "then": False}, DRAFT_04) == ALL_TYPES


def test_a_reference_starts_from_the_resource_that_holds_it() -> None:
    """Identifiers are minded, as wherever references are followed."""
    schema = {
        "$id": "http://x.test/a",
        "allOf": [{"$id": "b", "$ref": "#/$defs/c", "$defs": {"c": {"minItems": 1}}}],
    }
    assert accepted(schema) == ALL_TYPES - {"array"}


def test_a_reference_that_leads_nowhere_hides_no_other() -> None:
    """What stands behind the others, where no keyword leads, takes part."""
    schema: UntypedJson = {
        "properties": {
            "a": {"$ref": "#/types/x"},
            "b": {"$ref": "https://x.test/other.json"},
        },
        "types": {"x": {"items": {"$ref": "#/types/y"}}, "y": {}, "z": {}},
    }
    places = {tokens for tokens, _ in taking_part(schema, DRAFT_07)}
    types = {("types", "x"), ("types", "x", "items"), ("types", "y")}
    assert places == {(), ("properties", "a"), ("properties", "b")} | types


_SCHEMAS = st.recursive(
    st.booleans()
    | st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from([*sorted(ALL_TYPES), ["null", "string"]]),
            "minimum": st.just(5),
            "maxLength": st.just(1),
            "required": st.just(["a"]),
            "maxItems": st.just(0),
            "const": st.none(),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
        },
    ),
    max_leaves=6,
)
_VALUES: dict[str, list[UntypedJson]] = {
    "array": [[], [1]],
    "boolean": [True, False],
    "null": [None],
    "number": [0, 7.5],
    "object": [{}, {"a": 1}],
    "string": ["", "text"],
}


@given(_SCHEMAS)
def test_what_is_said_to_be_accepted_is(schema: UntypedJson) -> None:
    """jsonschema-rs accepts values of every type that is named."""
    validator = jsonschema_rs.Draft202012Validator(schema)
    for name in accepted(schema):
        assert all(map(validator.is_valid, _VALUES[name])), name

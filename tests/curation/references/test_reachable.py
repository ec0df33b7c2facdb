"""Which schemas recurse, and of which types they accept every value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import Reason, Rejected
from curation.references.closure import closure_of
from curation.references.loops import disputed, is_recursive
from curation.references.reachable import ALL_TYPES, AcceptedTypes, taking_part
from curation.references.schema import Schema
from curation.schema.dialects import (
    ANY_DIALECT,
    DRAFT_04,
    DRAFT_07,
    DRAFT_2019_09,
    DRAFT_2020_12,
    Dialect,
)
from tests.curation.rules.shelf import reason_of, record_of

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
    node: UntypedJson = {"$dynamicAnchor": "node", "not": {"$dynamicRef": "#node"}}
    assert is_recursive(node, DRAFT_2020_12)


def test_long_chains_of_references_are_followed_without_recursion() -> None:
    """A ring of 3,000 definitions is found, and an open chain is none."""
    chain: dict[str, UntypedJson] = {
        f"d{number}": {"not": {"$ref": f"#/definitions/d{number + 1}"}}
        for number in range(3_000)
    }
    assert not is_recursive({"definitions": chain}, DRAFT_07)
    chain["d3000"] = {"$ref": "#/definitions/d0"}
    assert is_recursive({"definitions": chain}, DRAFT_07)


def test_a_pointer_starts_from_the_resource_that_holds_it() -> None:
    """`#` leads to the root of the embedded resource, not of the document."""
    inner: UntypedJson = {"$id": "inner", "properties": {"a": {"$ref": "#"}}}
    assert is_recursive({"$id": "http://x.test/", "items": inner}, DRAFT_07)
    nowhere: UntypedJson = {"$id": "inner", "not": {"$ref": "#/definitions/a"}}
    assert not is_recursive({"definitions": {"a": nowhere}}, DRAFT_07)


def test_two_resources_that_refer_to_each_other_recurse() -> None:
    """Relative identifiers are joined to the base URI around them."""
    tree: UntypedJson = {
        "$id": "http://x.test/tree",
        "items": {"$ref": "node"},
        "definitions": {"node": {"$id": "node", "items": {"$ref": "tree"}}},
    }
    assert is_recursive(tree, DRAFT_07)


def test_a_schema_of_no_known_dialect_names_itself_in_any_way() -> None:
    """By `id`, by `$id`, by an anchor."""
    for keyword in ("id", "$id"):
        own: UntypedJson = {
            keyword: "http://x.test/a#",
            "not": {"$ref": "http://x.test/a"},
        }
        assert is_recursive(own, ANY_DIALECT)
    anchored: UntypedJson = {"$dynamicAnchor": "node", "not": {"$dynamicRef": "#node"}}
    assert is_recursive(anchored, ANY_DIALECT)


class _Resources(list[Any]):
    """Where resources start; counts how often they are gone through."""

    walks = 0

    def __iter__(self) -> Iterator[Any]:
        self.walks += 1
        return super().__iter__()


def test_the_resources_around_a_reference_are_looked_up() -> None:
    """From the outer to the inner, which the identifier of each is joined to."""
    inner: UntypedJson = {
        "$id": "inner/",
        "properties": {name: {"$ref": "leaf"} for name in "abc"},
        "definitions": {"leaf": {"$id": "leaf", "type": "string"}},
    }
    outer: UntypedJson = {"$id": "outer/", "items": inner}
    schema: UntypedJson = {"$id": "http://x.test/", "properties": {"o": outer}}
    closure = closure_of(Schema(schema, DRAFT_07))
    assert not isinstance(closure, Rejected)
    scan = closure.record.scanned
    scan.inner_resources = starts = _Resources(scan.inner_resources)
    assert len(starts) == 3
    assert disputed(closure) is None
    assert starts.walks == 1


def test_what_no_if_applies_leads_nowhere_back() -> None:
    """`then` without `if` says nothing (2020-12, 10.2.2.2)."""
    assert reason_of({"if": {}, "then": {"$ref": "#"}}) is Reason.UNRESOLVED_REFERENCE
    assert record_of({"then": {"$ref": "#"}, "else": {"$ref": "#"}})

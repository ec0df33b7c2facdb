"""What the bench takes for a live site, and for a reached one."""

from __future__ import annotations

from typing import Any

import pytest

from bench.data.reached import counted
from bench.data.reached_sites import live_of, reached_of


@pytest.mark.parametrize(
    ("schema", "sites"),
    [
        ({"properties": {"a": {}, "b": False}}, {"/properties/a"}),
        ({"type": "string", "properties": {"a": {}}}, set()),
        ({"$ref": "#/definitions/d", "properties": {"a": {}}}, set()),
        (
            {"items": {"$ref": "#/definitions/d"}, "definitions": {"d": {"items": {}}}},
            {"/items", "/definitions/d/items"},
        ),
        ({"definitions": {"d": {"items": {}}}}, set()),
        ({"not": {"properties": {"a": {}}}}, set()),
        ({"properties": {"a/b": {}, "": {}}}, {"/properties/a~1b", "/properties/"}),
    ],
)
def test_sites_are_what_a_walk_from_the_root_meets(
    schema: Any,  # noqa: ANN401 - any JSON
    sites: set[str],
) -> None:
    """Dead keywords, unused definitions and `false` are no sites."""
    assert live_of(schema, "draft-07").sites == sites


def test_a_site_counts_where_its_branch_holds() -> None:
    """A value meets the properties of the branch that accepts it, not of the other."""
    schema = {
        "oneOf": [
            {"required": ["a"], "properties": {"a": {"type": "string"}}},
            {"properties": {"a": {"type": "null"}}},
        ]
    }
    reached = reached_of(schema, "draft-07", [{"a": "text"}])
    live = live_of(schema, "draft-07")
    assert live.branches & reached == {"/oneOf/0"}
    assert live.sites & reached == {"/oneOf/0/properties/a"}


def test_a_consequence_counts_where_it_applies() -> None:
    """`then` and `else` have sites, `if` has none."""
    schema = {
        "if": {"required": ["a"], "properties": {"a": {"const": 1}}},
        "then": {"properties": {"b": {}}},
        "else": {"properties": {"c": {}}},
    }
    assert live_of(schema, "draft-07").sites == {
        "/then/properties/b",
        "/else/properties/c",
    }
    assert "/then/properties/b" in reached_of(schema, "draft-07", [{"a": 1, "b": 2}])
    reached = reached_of(schema, "draft-07", [{"c": 2}])
    assert "/else/properties/c" in reached
    assert not any("/if/properties" in where for where in reached)


def test_a_site_behind_an_identifier_is_found() -> None:
    """References are followed through embedded identifiers, and so are locations."""
    schema = {
        "$id": "https://example.org/root",
        "properties": {"a": {"$ref": "inner"}},
        "definitions": {"i": {"$id": "inner", "properties": {"b": {}}}},
    }
    where = "/definitions/i/properties/b"
    assert where in live_of(schema, "draft-07").sites
    assert where in reached_of(schema, "draft-07", [{"a": {"b": 1}}])


def test_strings_are_counted_by_what_stands_in_them() -> None:
    """A quote is an escape, an emoji a surrogate pair and not ASCII."""
    counts = counted({}, "draft-07", ['["a\\"", "\U0001f600", "b"]', "{}"]).counts
    assert counts["strings"] == 3
    assert counts["strings_with_escape"] == 1
    assert counts["strings_with_surrogate_pair"] == 1
    assert counts["trivial"] == 1


def test_an_array_without_elements_reaches_no_element() -> None:
    """Nor does an object without further properties reach the schema of those."""
    schema = {
        "properties": {"items": {"items": {"type": "string"}}},
        "additionalProperties": {"type": "null"},
    }
    sites = {"/properties/items", "/properties/items/items", "/additionalProperties"}
    assert live_of(schema, "draft-07").sites == sites
    assert reached_of(schema, "draft-07", [{"items": []}]) & sites == {
        "/properties/items"
    }
    whole = [{"items": ["a"], "b": None}]
    assert reached_of(schema, "draft-07", whole) & sites == sites


@pytest.mark.parametrize("name", ["not", "if", "contains", "propertyNames"])
def test_a_property_may_have_the_name_of_a_keyword(name: str) -> None:
    """A property called `not` is a site like any other, whatever stands beside it."""
    schema = {"properties": {name: {"items": {}}}, "additionalProperties": False}
    reached = reached_of(schema, "draft-07", [{name: [1]}])
    assert live_of(schema, "draft-07").sites <= reached


def test_identifiers_with_a_fragment_hide_no_site() -> None:
    """Draft-04 lets an `id` have one: each schema is told by its path of evaluation."""
    inner = {"id": "https://example.org/a#b/item"}
    schema = {
        "id": "https://example.org/a#",
        "properties": {"b": {"id": "https://example.org/a#b", "items": inner}},
    }
    reached = reached_of(schema, "draft-04", [{"b": [1]}])
    assert {"/properties/b", "/properties/b/items"} <= reached


def test_what_a_dynamic_reference_leads_to_is_found() -> None:
    """Its target depends on how it is reached: jsonschema-rs says which it is."""
    schema = {
        "$recursiveAnchor": True,
        "properties": {"a": {"$recursiveRef": "#"}, "b": {"type": "null"}},
    }
    reached = reached_of(schema, "2019-09", [{"a": {"b": None}}])
    assert {"/properties/a", "/properties/b"} <= reached

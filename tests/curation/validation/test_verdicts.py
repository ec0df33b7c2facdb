"""What each validator says of a schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.schema.dialects import BY_NAME, DIALECTS, Dialect
from curation.validation.verdicts import python_verdict, rust_verdict

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

NEWEST = BY_NAME["2020-12"]


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ({"$ref": "#/definitions/a%20b", "definitions": {"a b": {}}}, "draft-04"),
        ({"$ref": "#a", "definitions": {"x": {"id": "#a"}}}, "draft-04"),
        ({"$ref": "#a", "definitions": {"x": {"$id": "#a"}}}, "draft-07"),
        ({"$ref": "#a", "$defs": {"x": {"$anchor": "a"}}}, "2020-12"),
        ({"$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a"}}}, "2020-12"),
        ({"$recursiveRef": "#", "$recursiveAnchor": True}, "2019-09"),
        ({"$ref": "http://json-schema.org/draft-04/schema#"}, "draft-04"),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, "2020-12"),
        (
            {
                "$id": "http://a.example/root",
                "$ref": "part#/$defs/y",
                "$defs": {"x": {"$id": "part", "$defs": {"y": {"$ref": "root"}}}},
            },
            "2020-12",
        ),
        ({"items": {"$ref": "#/types/x"}, "types": {"x": {"$ref": "#"}}}, "draft-07"),
        ({"properties": {"$ref": {"type": "string"}}}, "draft-07"),
        ({"default": {"$ref": "#/no"}, "enum": [{"$ref": "b.json"}]}, "draft-07"),
    ],
)
def test_what_resolves_offline_is_accepted_by_both(
    schema: UntypedJson, name: str
) -> None:
    """Pointers, anchors, embedded resources and metaschemas are found."""
    dialect = BY_NAME[name]
    assert python_verdict(schema, dialect, thorough=True).accepts
    assert rust_verdict(schema, dialect).accepts


@pytest.mark.parametrize(
    ("schema", "name", "ref"),
    [
        ({"$ref": "#/definitions/a"}, "draft-04", "#/definitions/a"),
        ({"not": {"$ref": "#a"}}, "2020-12", "#a"),
        ({"$ref": "other.json"}, "draft-07", "other.json"),
        (
            {"items": {"$ref": "#/types/x"}, "types": {"x": {"$ref": "#/no"}}},
            "draft-07",
            "#/no",
        ),
        (
            {
                "$ref": "#/$defs/x",
                "$defs": {
                    "x": {"$id": "http://a.example/x", "$ref": "#/$defs/y"},
                    "y": {},
                },
            },
            "2020-12",
            "#/$defs/y",
        ),
    ],
)
def test_a_lost_reference_is_named(schema: UntypedJson, name: str, ref: str) -> None:
    """A reference that leads nowhere is refused by both, and called lost."""
    said = python_verdict(schema, BY_NAME[name], thorough=False)
    assert said.lost_reference
    assert ref in str(said)
    assert not rust_verdict(schema, BY_NAME[name]).accepts


def test_only_a_thorough_look_finds_an_invalid_schema() -> None:
    """Without `thorough` the metaschema is taken as passed."""
    schema: UntypedJson = {"type": "text"}
    assert python_verdict(schema, NEWEST, thorough=False).accepts
    said = python_verdict(schema, NEWEST, thorough=True)
    assert not said.accepts
    assert not said.lost_reference


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name)
def test_a_library_that_fails_is_a_refusal(dialect: Dialect) -> None:
    """Where `referencing` itself breaks, the schema cannot be used, and we go on."""
    schema: UntypedJson = {"properties": {"a": [1]}, "not": {"$ref": "#b"}}
    said = python_verdict(schema, dialect, thorough=False)
    assert "its library fails" in str(said)


def test_a_verdict_reads_as_a_clause() -> None:
    """A verdict says who, what and where, on one line."""
    said = rust_verdict({"properties": {"a": {"pattern": "("}}}, NEWEST)
    assert str(said) == (
        'jsonschema-rs refuses it: /properties/a/pattern: "(" is not a "regex"'
    )
    assert str(rust_verdict({}, NEWEST)) == "jsonschema-rs accepts it"


def test_cycles_end() -> None:
    """Schemas that refer to themselves and to each other are followed once."""
    schema: UntypedJson = {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
    }
    assert python_verdict(schema, NEWEST, thorough=False).accepts


def test_only_what_refers_in_its_dialect_is_followed() -> None:
    """`$dynamicRef` is a word of 2020-12, and none of 2019-09."""
    schema: UntypedJson = {"items": {"$dynamicRef": "#gone"}}
    for dialect, accepts in (("2020-12", False), ("2019-09", True)):
        said = python_verdict(schema, BY_NAME[dialect], thorough=False)
        assert said.accepts is accepts

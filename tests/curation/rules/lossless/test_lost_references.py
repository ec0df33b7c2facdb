"""References that lead nowhere for a reason that is no loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.documents import ABSENT, Document
from curation.core.rule import Context
from curation.rules.clean import references
from curation.rules.lossless import dead_references, shadowing_identifiers
from tests.curation.judges import accepts, rust_accepts
from tests.curation.rules.documents_made import CONTEXT, document
from tests.curation.rules.shelf import SITE, Shelf

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.core.rule import Rule

SHADOWED: UntypedJson = {
    "id": "http://example.com/root",
    "definitions": {
        "word": {"type": "string"},
        "pair": {
            "id": "pair",
            "properties": {
                "left": {"$ref": "#/definitions/word"},
                "right": {"id": "right", "items": {"$ref": "#/definitions/word"}},
            },
        },
    },
    "properties": {"pair": {"$ref": "#/definitions/pair"}},
}


def applied(rule: Rule, schema: UntypedJson, dialect: str = "draft-04") -> Document:
    """Return what a rule makes of a schema; neither of these rules rejects."""
    result = rule.apply(document(schema, dialect=dialect), CONTEXT)
    assert isinstance(result, Document)
    return result


def test_identifiers_that_only_hide_a_target_go() -> None:
    """Every identifier around the reference goes, the root's stays, and all resolve."""
    result = applied(shadowing_identifiers, SHADOWED)
    assert [(change.pointer, change.after) for change in result.changes] == [
        ("/definitions/pair/id", ABSENT),
        ("/definitions/pair/properties/right/id", ABSENT),
    ]
    assert result.schema["id"] == "http://example.com/root"
    assert isinstance(references.apply(result, CONTEXT), Document)
    for instance, verdict in (
        ({"pair": {"left": "a", "right": ["b"]}}, True),
        ({"pair": {"left": 1}}, False),
        ({"pair": {"right": [1]}}, False),
    ):
        assert accepts(result.schema, instance, "draft-04") is verdict
        assert rust_accepts(result.schema, instance, "draft-04") is verdict


@pytest.mark.parametrize(
    "changed",
    [{"again": {"$ref": "pair"}}, {"again": {"$ref": "pair#/properties/left"}}],
    ids=["used", "used by a pointer"],
)
def test_an_identifier_that_is_used_stays(changed: UntypedJson) -> None:
    """Where something refers to the identifier, nothing changes."""
    schema: UntypedJson = {
        **SHADOWED,
        "properties": {**SHADOWED["properties"], **changed},
    }
    assert applied(shadowing_identifiers, schema).schema is schema


def test_a_pointer_to_nothing_costs_no_identifier() -> None:
    """An identifier stays around what leads nowhere from the root either."""
    schema = {
        "id": "http://example.com/root",
        "properties": {"x": {"id": "x", "items": {"$ref": "#/definitions/gone"}}},
    }
    assert applied(shadowing_identifiers, schema).schema is schema


def test_a_reference_that_would_lead_elsewhere_keeps_its_identifier() -> None:
    """A pointer that resolves inside the identifier must not start to mean the root."""
    schema = {
        "id": "http://example.com/root",
        "definitions": {"a": {"type": "string"}, "b": {"type": "null"}},
        "properties": {
            "x": {
                "id": "x",
                "definitions": {"a": {"type": "number"}},
                "anyOf": [{"$ref": "#/definitions/a"}, {"$ref": "#/definitions/b"}],
            }
        },
    }
    assert applied(shadowing_identifiers, schema).schema is schema


@pytest.mark.parametrize(
    "schema",
    [
        {"definitions": {"unused": {"$ref": "#/definitions/gone"}}},
        {
            "definitions": {
                "a": {"items": {"$ref": "http://example.com/elsewhere"}},
                "b": {"$ref": "#/definitions/a"},
            }
        },
        {
            "properties": {
                "p": {"$ref": "#/definitions/a", "items": {"$ref": "#/lost"}}
            },
            "definitions": {"a": {"type": "string"}},
        },
    ],
    ids=["unused", "used by the unused", "hidden by a reference"],
)
def test_a_dangling_reference_that_nothing_applies_goes(schema: UntypedJson) -> None:
    """The record resolves then, and accepts what it accepted."""
    schema = {"type": "object", **schema}
    before = references.apply(document(schema, dialect="draft-07"), CONTEXT)
    assert not isinstance(before, Document)
    result = applied(dead_references, schema, "draft-07")
    (change,) = result.changes
    assert change.pointer.endswith("/$ref")
    assert change.after == ABSENT
    assert isinstance(references.apply(result, CONTEXT), Document)
    instances: list[UntypedJson] = [{}, {"p": "x"}, {"p": 1}, []]
    for instance in instances:
        verdict = accepts(schema, instance, "draft-07")
        assert accepts(result.schema, instance, "draft-07") is verdict
        assert rust_accepts(result.schema, instance, "draft-07") is verdict


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/definitions/gone"}}},
        {
            "$ref": "#/definitions/a",
            "definitions": {"a": {"not": {"$ref": "#/definitions/gone"}}},
        },
        {"definitions": {"unused": {"$ref": "#/definitions/here"}, "here": {}}},
    ],
    ids=["applied", "applied by a reference", "resolved"],
)
def test_a_living_reference_is_never_dropped(schema: UntypedJson) -> None:
    """What validation may enter keeps its reference, and so does what resolves."""
    assert applied(dead_references, schema, "draft-07").schema is schema


def test_a_reference_to_an_empty_schema_leads_somewhere() -> None:
    """`{}` and `false` are schemas."""
    schema = {"definitions": {it: {"$ref": f"{SITE}{it}.json"} for it in "abc"}}
    shelf = Shelf({f"{SITE}a.json": {}, f"{SITE}b.json": False})
    result = dead_references.apply(document(schema), Context(library=shelf))
    assert isinstance(result, Document)
    kept = {it for it, inner in result.schema["definitions"].items() if inner}
    assert kept == {"a", "b"}

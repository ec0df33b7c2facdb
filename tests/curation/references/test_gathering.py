"""Definitions that stand where no keyword reaches become definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.references.gathering import gathered
from curation.schema.dialects import DRAFT_04, DRAFT_2020_12

if TYPE_CHECKING:
    from curation.core.json_types import Json


def test_what_references_lead_to_moves_with_what_it_leads_to() -> None:
    """One name each, none of them taken; what was there besides stays."""
    types: dict[str, Json] = {
        "a": {"anyOf": [{"$ref": "#/types/b"}, {"$ref": "#/types/a"}]},
        "b": {"maximum": 2},
    }
    schema: Json = {
        "items": {"$ref": "#/types/a"},
        "not": {"$ref": "#/default"},
        "types": types,
        "default": {"minimum": 1},
        "definitions": {"a": {}},
    }
    assert gathered(schema, DRAFT_04) == {
        "items": {"$ref": "#/definitions/a-2"},
        "not": {"$ref": "#/definitions/default"},
        "default": {"minimum": 1},
        "definitions": {
            "a": {},
            "a-2": {
                "anyOf": [{"$ref": "#/definitions/b"}, {"$ref": "#/definitions/a-2"}]
            },
            "b": {"maximum": 2},
            "default": {"minimum": 1},
        },
    }


def test_what_an_identifier_surrounds_stays() -> None:
    """There `#/a` is another place; and a schema without any is the same object."""
    inner: Json = {"$id": "https://example.com/i", "$ref": "#/a", "a": {"type": "null"}}
    schemas: list[Json] = [{"items": inner}, {"$ref": "#/$defs/a", "$defs": {"a": {}}}]
    for schema in schemas:
        assert gathered(schema, DRAFT_2020_12) is schema


def test_a_long_chain_is_followed_once() -> None:
    """Two thousand definitions, each leading to the next."""
    links: dict[str, Json] = {f"n{i}": {"$ref": f"#/x/n{i + 1}"} for i in range(2_000)}
    schema: Json = {"items": {"$ref": "#/x/n0"}, "x": {**links, "n2000": {}}}
    found = gathered(schema, DRAFT_2020_12)
    assert isinstance(found, dict)
    assert isinstance(found["$defs"], dict)
    assert list(found) == ["items", "$defs"]
    assert len(found["$defs"]) == 2_001

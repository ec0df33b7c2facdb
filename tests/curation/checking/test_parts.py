"""The schemas inside a file, and what is wrong around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.checking.parts import find_parts
from curation.json.pointer import pointer
from curation.sources.contents import held_schemas

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_OBJECT = {"type": "object"}
_LONG = "a" * 65
#: A document, where its schemas are, and the places and messages of problems.
_DOCUMENTS: list[tuple[UntypedJson, list[str], list[tuple[str, str]]]] = [
    (_OBJECT, [""], []),
    ({"type": "object", "tools": [{"name": "a", "parameters": {}}]}, [""], []),
    ({"name": "a", "parameters": {"type": "OBJECT"}}, ["/parameters"], []),
    ({"functions": [{"parameters": _OBJECT}]}, ["/functions/0/parameters"], []),
    (
        {"toolSpec": {"name": "a", "inputSchema": {"json": _OBJECT}}},
        ["/toolSpec/inputSchema/json"],
        [],
    ),
    (
        {"name": "a", "inputSchema": {}, "outputSchema": {"type": "array"}},
        ["/inputSchema", "/outputSchema"],
        [
            ("/inputSchema", "`inputSchema` must have `type: object`"),
            ("/outputSchema/type", "`outputSchema` must have `type: object`"),
        ],
    ),
    ({"name": "a", "parameters": {"properties": {}}}, ["/parameters"], []),
    (
        [{"name": "a", "parameters": _OBJECT}, {"name": "a", "parameters": _OBJECT}],
        ["/0/parameters", "/1/parameters"],
        [("/1/name", "another tool has the name 'a'")],
    ),
    (
        {"name": _LONG, "parameters": _OBJECT},
        ["/parameters"],
        [("/name", "at most 64 letters")],
    ),
    (
        {
            "tools": [{"name": "a", "parameters": _OBJECT}],
            "response_format": {"json_schema": {"schema": {"type": "string"}}},
        },
        ["/tools/0/parameters", "/response_format/json_schema/schema"],
        [],
    ),
]


@pytest.mark.parametrize(("document", "places", "faults"), _DOCUMENTS)
def test_the_schemas_of_tools_and_requests_are_found(
    document: UntypedJson, places: list[str], faults: list[tuple[str, str]]
) -> None:
    """Where they are written, by the reader that `csbdata fit` has."""
    parts, problems = find_parts(document)
    assert [pointer(part.tokens) for part in parts] == places
    assert [problem.pointer for problem in problems] == [place for place, _ in faults]
    for problem, (_, words) in zip(problems, faults, strict=True):
        assert words in problem.message
    held = held_schemas(document, "a.json", print)
    if held and "type" not in document:
        assert [each.place for each in held] == places


_SCHEMA: UntypedJson = {"type": "string", "nullable": True, "example": 1}


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("#/components/schemas/a", ""),
        ("#/components/schemas/b", "'#/components/schemas/b' leads nowhere"),
        ("#/info", "'#/info' leads to no schema"),
        ("other.json#/a", ""),
    ],
)
@pytest.mark.parametrize(
    ("version", "holder", "types"),
    [("3.0.3", "definitions", ["string", "null"]), ("3.1.0", "$defs", "string")],
)
def test_a_description_is_one_library(
    version: str, holder: str, types: UntypedJson, reference: str, message: str
) -> None:
    """Each schema is under its pointer; what is lost is named and taken away."""
    document: UntypedJson = {
        "openapi": version,
        "info": {"title": "a"},
        "paths": {"/a": {"$ref": "#/components/pathItems/a"}},
        "components": {
            "pathItems": {"a": {}},
            "schemas": {"a": _SCHEMA, "c": {"items": {"$ref": reference}}},
        },
    }
    (part,), problems = find_parts(document)
    schema: UntypedJson = part.schema
    library = schema[holder]
    assert [*library] == ["/components/schemas/a", "/components/schemas/c"]
    assert library["/components/schemas/a"]["type"] == types
    assert "example" not in library["/components/schemas/a"]
    moved = library["/components/schemas/c"]["items"].get("$ref")
    assert [problem.message for problem in problems] == ([message] if message else [])
    assert (moved is None) is bool(message)
    place = f"/{holder}/~1components~1schemas~1c/items"
    assert part.pointer_in_file(place) == "/components/schemas/c/items"
    assert part.pointer_in_file("/$schema") == "/$schema"

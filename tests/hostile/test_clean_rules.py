"""The rules of `clean` and schemas that mean harm: every one ends, none crashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Document, Rejected
from curation.rules.sets import rule_set
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_RULES = rule_set("clean").rules
_NAMES = [
    "__proto__",
    "constructor",
    "",
    "a/b~c%d",
    "../../etc/passwd",
    'quote"quote',
    "new\nline",
    "nul\x00",
    "\u202eright to left",
    "\U0001f600",
    "x" * 10_000,
    "$ref",
    "properties",
]


def _through(schema: UntypedJson) -> Document | Rejected:
    """Apply every rule of the set in order."""
    made: Document | Rejected = document(schema)
    for rule in _RULES:
        if isinstance(made, Rejected):
            break
        made = rule.apply(made, CONTEXT)
    return made


def _nested(levels: int, word: str) -> UntypedJson:
    schema: UntypedJson = {"type": "string"}
    for _ in range(levels):
        schema = {word: [schema]} if word == "allOf" else {word: schema}
    return schema


def _laughs(levels: int) -> UntypedJson:
    """Return a schema whose evaluation takes 3^levels steps."""
    definitions: UntypedJson = {
        f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 3} for n in range(levels)
    }
    definitions[f"d{levels}"] = {"type": "null"}
    return {"$ref": "#/$defs/d0", "$defs": definitions}


@pytest.mark.parametrize("name", _NAMES)
def test_hostile_names_pass_through(name: str) -> None:
    """As a property, a definition, a required name and a target of references."""
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"}, "other": {"enum": [name]}},
        "required": [name],
        "dependentRequired": {name: [name]},
    }
    result = _through(schema)
    assert isinstance(result, Document)
    assert result.schema["properties"][name] == {"type": "string"}
    library = _through(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {name: {"type": "string"}},
        }
    )
    assert isinstance(library, Document)


@pytest.mark.parametrize(
    "schema",
    [
        _nested(60, "allOf"),
        _nested(60, "properties"),
        _nested(60, "items"),
        _nested(60, "not"),
        _laughs(40),
        {"$ref": "#"},
        {"properties": {"a": {"$ref": "#/properties/a"}}},
        {"$dynamicRef": "#"},
        {"pattern": "^(a+)+$" * 50},
        {"pattern": "(" * 5_000},
        {"pattern": "[" * 5_000},
        {"pattern": "(?:" * 200 + "a" + ")*" * 200},
        {"pattern": "\\"},
        {"patternProperties": {"((a{1000}){1000}){1000}": {}}},
        {"$id": "http://[::1", "type": "object"},
        {"$id": "\x00", "properties": {"a": {"$ref": "\x00"}}},
        {"properties": {"a": {"$ref": "http://[bad"}}},
        {"properties": {"a": {"$ref": "#/properties/%FF"}}},
        {"enum": [[[[{"$ref": 1}]]]], "type": "array"},
        {"type": [], "properties": []},
        {"required": "a", "properties": {"a": 1}},
        {"definitions": {"definitions": {"definitions": {"type": "string"}}}},
        {"items": {"$ref": "#/items"}},
        {"allOf": [{"$ref": "#/allOf/1"}, {"$ref": "#/allOf/0"}]},
    ],
)
def test_schemas_that_mean_harm_end(schema: UntypedJson) -> None:
    """Kept or rejected with a detail, never an exception."""
    result = _through(schema)
    assert isinstance(result, Document) or result.detail

"""What is made of schemas that refer to themselves is no deeper than it has to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.interpretations import Interpretations
from curation.instances.search.witnesses import Budget, cover, find_witnesses
from curation.json.text import depth
from tests.curation.instances.unreached import unreached

if TYPE_CHECKING:
    from curation.core.json_types import Json


_EITHER: Json = {
    "type": "array",
    "items": {
        "anyOf": [{"$ref": "#/definitions/page"}, {"$ref": "#/definitions/section"}]
    },
}


def _part(*required: str) -> Json:
    """Return a part of a book, which has others below it."""
    text: Json = {"type": "string"}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": {"below": _EITHER, "note": text, "title": text},
    }


_BOOK: Json = {
    "type": "object",
    "required": ["parts"],
    "properties": {"parts": _EITHER},
    "definitions": {"page": _part("title"), "section": _part("below", "title")},
}
#: Rules that name no type: each is an object by its members alone.
_RULES: list[Json] = [
    {
        "properties": {"kind": {"const": kind}, "content": {"$ref": "#"}},
        "required": ["kind", "content"],
    }
    for kind in ("field", "token", "repeat")
]
_BLANK: Json = {"type": "object", "properties": {"kind": {"const": "blank"}}}
_GRAMMAR: Json = {"oneOf": [*_RULES, _BLANK]}
_QUERY: Json = {
    "type": "object",
    "additionalProperties": False,
    "minProperties": 1,
    "properties": {
        "all": {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
        "not": {"$ref": "#"},
        "title": {"type": "string"},
    },
}


_SCHEMAS = pytest.mark.parametrize(
    "schema", [_BOOK, _GRAMMAR, _QUERY], ids=["book", "grammar", "query"]
)


@_SCHEMAS
def test_witnesses_of_a_recursive_schema_are_not_deep(schema: Json) -> None:
    """All that can be reached is, by values of a few levels."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    found = find_witnesses(compiled, 0, Budget(covering=16))
    assert not unreached(schema, [witness.value for witness in found.witnesses])
    assert max(depth(witness.value) for witness in found.witnesses) <= 16


@_SCHEMAS
def test_covering_alone_is_not_deep(schema: Json) -> None:
    """Nor where no other witness has reached anything."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    made = cover(Interpretations.of(compiled), [], b"seed", rounds=16)
    assert not unreached(schema, made)
    assert max(map(depth, made)) <= 16

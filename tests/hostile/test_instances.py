"""Schemas made to hang or to exhaust the search for witnesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.search.witnesses import find_witnesses

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def _either(index: int) -> UntypedJson:
    names = (f"a{index}", f"b{index}")
    return {"anyOf": [{"required": [each]} for each in names]}


def _doubling(levels: int) -> UntypedJson:
    """Return a schema whose full value has 2 ** levels leaves."""
    definitions: dict[str, UntypedJson] = {f"d{levels}": {"type": "null"}}
    for level in range(levels):
        below = {"$ref": f"#/definitions/d{level + 1}"}
        definitions[f"d{level}"] = {
            "type": "object",
            "required": ["l", "r"],
            "properties": {"l": below, "r": below},
        }
    return {"$ref": "#/definitions/d0", "definitions": definitions}


_LETTERS = {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True}
_HOSTILE: dict[str, UntypedJson] = {
    "exponential, in reach": {"type": "object", "allOf": list(map(_either, range(40)))},
    "exponential, out of reach": {
        "type": "object",
        "allOf": list(map(_either, range(40))),
        "maxProperties": 39,
    },
    "exponential oneOf": {
        "type": "object",
        "allOf": [
            {"oneOf": [{"required": [each]}, {"required": ["z"]}]}
            for each in "abcdefgh"
        ],
        "not": {"required": ["z"]},
        "maxProperties": 7,
    },
    "doubling": _doubling(40),
    "doubling, in reach": _doubling(6),
    "two values for three places": {**_LETTERS, "minItems": 3},
    "many values": {"enum": list(range(100_000))},
    "values nobody admits": {"enum": list(range(50_000)), "type": "string"},
    "references in a circle": {
        "$ref": "#/definitions/a",
        "definitions": {
            "a": {"$ref": "#/definitions/b"},
            "b": {"$ref": "#/definitions/a"},
        },
    },
    "a negation of itself": {"not": {"$ref": "#"}},
    "two that deny each other": {
        "definitions": {
            "a": {"not": {"$ref": "#/definitions/b"}},
            "b": {"not": {"$ref": "#/definitions/a"}},
        },
        "$ref": "#/definitions/a",
    },
    "giant bounds": {
        "type": "object",
        "required": ["a", "b", "c"],
        "properties": {
            "a": {"type": "array", "maxItems": 10**9},
            "b": {"type": "string", "maxLength": 10**9},
            "c": {"type": "number", "minimum": -1e308, "maximum": 1e308},
        },
    },
    "many required": {
        "type": "object",
        "required": [f"n{index}" for index in range(3_000)],
    },
    "many optional": {
        "type": "object",
        "properties": {f"n{index}": {"$ref": "#"} for index in range(2_000)},
    },
    "endless array": {"type": "array", "minItems": 1, "items": {"$ref": "#"}},
    "deep": {"type": "array", "contains": {"contains": {"contains": {"contains": {}}}}},
}


#: A second or more.
_SLOW = ("many optional", "exponential, out of reach", "doubling")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in _SLOW))
        for name in _HOSTILE
    ],
)
@pytest.mark.parametrize(
    "dialect", [pytest.param("draft-07", marks=pytest.mark.slow), "2020-12"]
)
def test_ends_with_witnesses_or_an_obstacle(name: str, dialect: str) -> None:
    """No schema hangs: there is a witness, or a named reason that there is none."""
    found = find_witnesses(CompiledSchema.from_json(_HOSTILE[name], dialect))
    assert found.witnesses or found.failure

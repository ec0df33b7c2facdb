"""Probes of objects, combinations of schemas, and references.

Sources: JSON Schema core 2020-12, sections 8.2, 10.2, 10.3.2 and 11.3, validation,
section 6.5, core 2019-09, section 8.2.4.2, and the same sections of the earlier drafts.
A `$ref` to a document elsewhere is nothing that an engine should follow, and is not
probed.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from curation.core.json_types import Json
from evaluation.tasks.probe.probe import NOTHING, ROOT, UNTYPED, Probe, keyword_probe

_INTEGER: Final[dict[str, Json]] = {"type": "integer"}
_A: Final[dict[str, Json]] = {"properties": {"a": _INTEGER}}
_AB: Final[dict[str, Json]] = {"properties": {"a": _INTEGER, "b": _INTEGER}}
_COUNT: Final = "@minmaxProperties"

_object = partial(keyword_probe, "object")

OBJECTS: Final = (
    _object("properties", _A, {"a": 1}, {"a": "x"}),
    _object(
        "properties",
        {"properties": {"a": False}},
        {},
        {"a": 1},
        "false",
        "",
        "draft-06",
    ),
    _object("properties", _AB, {"b": 1, "a": 1}, NOTHING, "in any order"),
    Probe(
        name="properties (without type)",
        keyword="properties",
        schema=_A,
        valid={"a": 1},
        violating={"a": "x"},
        contexts=UNTYPED,
    ),
    _object("required", {**_AB, "required": ["a", "b"]}, {"a": 1, "b": 1}, {"a": 1}),
    _object("required", {"required": ["a"]}, {"a": 1}, {}, "undeclared"),
    _object(
        "additionalProperties",
        {**_A, "additionalProperties": False},
        {"a": 1},
        {"a": 1, "b": 2},
        "false",
    ),
    _object(
        "additionalProperties",
        {**_A, "additionalProperties": _INTEGER},
        {"a": 1, "b": 2},
        {"a": 1, "b": "x"},
        "schema",
        "additionalProperties:object",
    ),
    _object("additionalProperties", _A, {"a": 1, "b": 2}, NOTHING, "absent: allowed"),
    _object(
        "patternProperties",
        {"patternProperties": {"^x": _INTEGER}},
        {"xa": 1},
        {"xa": "s"},
    ),
    _object(
        "additionalProperties",
        {"patternProperties": {"^x": _INTEGER}, "additionalProperties": False},
        {"xa": 1},
        {"b": 1},
        "beside patternProperties",
        "patternProperties",
    ),
    _object(
        "propertyNames",
        {"propertyNames": {"pattern": "^a"}},
        {"ab": 1},
        {"b": 1},
        since="draft-06",
    ),
    _object(
        "minProperties", {"minProperties": 2}, {"a": 1, "b": 2}, {"a": 1}, "", _COUNT
    ),
    _object(
        "maxProperties", {"maxProperties": 1}, {"a": 1}, {"a": 1, "b": 2}, "", _COUNT
    ),
    _object(
        "minProperties",
        {**_AB, "minProperties": 2},
        {"a": 1, "b": 2},
        {"a": 1},
        "declared",
        _COUNT,
    ),
    _object(
        "dependentRequired",
        {**_AB, "dependentRequired": {"a": ["b"]}},
        {"a": 1, "b": 2},
        {"a": 1},
        since="2019-09",
    ),
    _object(
        "dependentSchemas",
        {**_AB, "dependentSchemas": {"a": {"required": ["b"]}}},
        {"a": 1, "b": 2},
        {"a": 1},
        since="2019-09",
    ),
    _object(
        "dependencies",
        {**_AB, "dependencies": {"a": ["b"]}},
        {"a": 1, "b": 2},
        {"a": 1},
        "names",
        until="draft-07",
    ),
    _object(
        "dependencies",
        {**_AB, "dependencies": {"a": {"required": ["b"]}}},
        {"a": 1, "b": 2},
        {"a": 1},
        "schema",
        until="draft-07",
    ),
    _object(
        "unevaluatedProperties",
        {**_A, "unevaluatedProperties": False},
        {"a": 1},
        {"a": 1, "b": 2},
        since="2019-09",
    ),
    _object(
        "unevaluatedProperties",
        {"allOf": [_A], "unevaluatedProperties": False},
        {"a": 1},
        {"a": 1, "b": 2},
        "beyond allOf",
        since="2019-09",
    ),
)


_STRING: Final[dict[str, Json]] = {"type": "string"}
_KIND: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {"k": {"enum": ["a", "b"]}, "v": _INTEGER},
    "required": ["k"],
    "if": {"properties": {"k": {"const": "a"}}},
}
_EITHER: Final[list[Json]] = [{"required": ["a"]}, {"required": ["b"]}]

_probe = partial(keyword_probe, "")

COMBINATIONS: Final = (
    _probe(
        "allOf",
        {"allOf": [{**_INTEGER, "minimum": 3}, {**_INTEGER, "maximum": 5}]},
        4,
        6,
    ),
    _probe(
        "allOf",
        {
            "allOf": [
                {"type": "object", "properties": {"a": _INTEGER}, "required": ["a"]},
                {"type": "object", "properties": {"b": _INTEGER}, "required": ["b"]},
            ]
        },
        {"a": 1, "b": 2},
        {"a": 1},
        "objects",
    ),
    _probe("anyOf", {"anyOf": [_INTEGER, _STRING]}, "a", []),
    _probe("oneOf", {"oneOf": [_INTEGER, _STRING]}, "a", [], "disjoint"),
    _probe(
        "oneOf",
        {"oneOf": [{**_INTEGER, "minimum": 2}, {**_INTEGER, "maximum": 5}]},
        7,
        3,
        "overlapping",
    ),
    _object("anyOf", {"anyOf": _EITHER}, {"a": 1}, {}, "required"),
    _object("oneOf", {"oneOf": _EITHER}, {"a": 1}, {"a": 1, "b": 1}, "required"),
    _probe("not", {**_INTEGER, "not": {"enum": [3]}}, 4, 3, "value"),
    _probe(
        "not",
        {
            "type": "object",
            "properties": {"a": _INTEGER, "b": _INTEGER},
            "not": {"required": ["a"]},
        },
        {"b": 1},
        {"a": 1},
        "required",
    ),
    _probe(
        "if",
        {**_KIND, "then": {"required": ["v"]}},
        {"k": "a", "v": 1},
        {"k": "a"},
        since="draft-07",
    ),
    _probe(
        "then",
        {**_KIND, "then": {"properties": {"v": {"maximum": 5}}}},
        {"k": "a", "v": 5},
        {"k": "a", "v": 6},
        feature="if",
        since="draft-07",
    ),
    _probe(
        "else",
        {**_KIND, "else": {"required": ["v"]}},
        {"k": "b", "v": 1},
        {"k": "b"},
        feature="if",
        since="draft-07",
    ),
    _probe(
        "anyOf",
        {
            **_INTEGER,
            "maximum": 5,
            "anyOf": [{**_INTEGER, "minimum": 3}, {**_INTEGER, "maximum": 0}],
        },
        4,
        2,
        "beside others",
        "@siblingKeys",
    ),
    _probe(
        "allOf",
        {
            "type": "object",
            "properties": {"a": _INTEGER},
            "required": ["a"],
            "allOf": [{"type": "object", "required": ["b"]}],
        },
        {"a": 1, "b": 2},
        {"a": 1},
        "beside others",
        "@siblingKeys",
    ),
    Probe(
        name="anything (empty schema)",
        keyword="anything",
        schema={},
        valid=[{"a": None}, "b", 1.5],
        violating=NOTHING,
        contexts=UNTYPED,
    ),
)


_HOME: Final = "https://example.com/probe"
_CHAIN: Final[dict[str, Json]] = {"v": 1, "next": {"v": 2, "next": {"v": 3}}}
_BROKEN_CHAIN: Final[dict[str, Json]] = {"v": 1, "next": {"v": 2, "next": {"v": "x"}}}

_reference = partial(Probe, valid=1, violating="a")
_recursion = partial(Probe, valid=_CHAIN, violating=_BROKEN_CHAIN)


def _linked(following: Json) -> dict[str, Json]:
    """Return the schema of a linked list whose next element this schema refers to."""
    return {"type": "object", "properties": {"v": _INTEGER, "next": following}}


_NODE: Final[dict[str, Json]] = {
    **_linked({"$ref": "#/$defs/node"}),
    "required": ["v"],
}

REFERENCES: Final = (
    _reference(
        name="$ref",
        keyword="$ref",
        schema={"$ref": "#/$defs/whole"},
        definitions={"whole": _INTEGER},
    ),
    _reference(
        name="$ref (escaped pointer)",
        keyword="$ref",
        schema={"$ref": "#/$defs/a~1b%25"},
        definitions={"a/b%": _INTEGER},
    ),
    Probe(
        name="$ref (beside others)",
        keyword="$ref",
        schema={"$ref": "#/$defs/whole", "maximum": 5},
        definitions={"whole": {"type": "integer", "minimum": 3}},
        valid=4,
        violating=2,
        feature="@siblingKeys",
        since="2019-09",
    ),
    _recursion(
        name="$ref (recursive)",
        keyword="$ref",
        schema={"$ref": "#/$defs/node"},
        definitions={"node": _NODE},
        feature="@recursiveSchemas",
    ),
    _recursion(
        name="$ref (to the root)",
        keyword="$ref",
        schema=_linked({"$ref": "#"}),
        feature="@recursiveSchemas",
        contexts=(ROOT,),
    ),
    _reference(
        name="$id",
        keyword="$id",
        schema={"$ref": _HOME},
        definitions={"whole": {"$id": _HOME, "type": "integer"}},
        since="draft-06",
    ),
    _reference(
        name="id",
        keyword="id",
        schema={"$ref": _HOME},
        definitions={"whole": {"$id": _HOME, "type": "integer"}},
        until="draft-04",
    ),
    _reference(
        name="$anchor",
        keyword="$anchor",
        schema={"$ref": "#whole"},
        definitions={"whole": {"$anchor": "whole", "type": "integer"}},
        since="2019-09",
    ),
    _reference(
        name="$dynamicRef",
        keyword="$dynamicRef",
        schema={"$dynamicRef": "#whole"},
        definitions={"whole": {"$dynamicAnchor": "whole", "type": "integer"}},
        since="2020-12",
    ),
    _recursion(
        name="$dynamicAnchor",
        keyword="$dynamicAnchor",
        schema={"$dynamicAnchor": "whole", **_linked({"$dynamicRef": "#whole"})},
        since="2020-12",
        contexts=(ROOT,),
    ),
    _recursion(
        name="$recursiveRef",
        keyword="$recursiveRef",
        schema=_linked({"$recursiveRef": "#"}),
        since="2019-09",
        until="2019-09",
        contexts=(ROOT,),
    ),
    _recursion(
        name="$recursiveAnchor",
        keyword="$recursiveAnchor",
        schema={"$recursiveAnchor": True, **_linked({"$recursiveRef": "#"})},
        since="2019-09",
        until="2019-09",
        contexts=(ROOT,),
    ),
)

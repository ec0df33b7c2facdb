"""Probes of combinations of schemas: allOf, anyOf, oneOf, not, if.

Sources: JSON Schema core 2020-12, section 10.2, and the earlier drafts.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from evaluation.tasks.probe.probes.base import NOTHING, UNTYPED, Probe, keyword_probe

if TYPE_CHECKING:
    from curation.core.json_types import Json

_INTEGER: Final[dict[str, Json]] = {"type": "integer"}
_STRING: Final[dict[str, Json]] = {"type": "string"}
_KIND: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {"k": {"enum": ["a", "b"]}, "v": _INTEGER},
    "required": ["k"],
    "if": {"properties": {"k": {"const": "a"}}},
}

_probe = partial(keyword_probe, "")

PROBES: Final = (
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

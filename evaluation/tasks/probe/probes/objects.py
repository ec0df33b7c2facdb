"""Probes of objects.

Sources: JSON Schema core 2020-12, sections 10.2.2.4, 10.3.2 and 11.3, validation,
section 6.5, and the same sections of the earlier drafts.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from evaluation.tasks.probe.probes.base import NOTHING, UNTYPED, Probe, keyword_probe

if TYPE_CHECKING:
    from curation.core.json_types import Json

_INTEGER: Final[dict[str, Json]] = {"type": "integer"}
_A: Final[dict[str, Json]] = {"properties": {"a": _INTEGER}}
_AB: Final[dict[str, Json]] = {"properties": {"a": _INTEGER, "b": _INTEGER}}
_COUNT: Final = "@minmaxProperties"

_object = partial(keyword_probe, "object")

PROBES: Final = (
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

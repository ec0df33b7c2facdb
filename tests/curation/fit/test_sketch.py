"""A value at first sight: which one it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from curation.fit.sketch import sketched
from curation.references.schema import Schema
from curation.schema.dialects import DRAFT_2020_12

if TYPE_CHECKING:
    from curation.core.json_types import Json

_TWO: dict[str, Any] = {"a": {"type": "string", "minLength": 2}, "b": {"minimum": 4}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"properties": _TWO}, {"a": "aa"}),
        ({"properties": _TWO, "required": ["b"]}, {"b": 4}),
        ({"properties": _TWO, "required": ["b", "c"]}, {"b": 4}),
        ({"enum": ["x", "y"]}, "x"),
        ({"const": 7}, 7),
        ({"anyOf": [{"type": "boolean"}, {}]}, True),
        ({"oneOf": [{"type": "null"}, {}]}, None),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "number"}}}, 0),
        ({"type": "array"}, []),
        ({"type": "array", "items": {"type": "string"}}, [""]),
        ({"type": "array", "items": {"const": 1}, "minItems": 3}, [1, 1, 1]),
        ({"type": "string", "minLength": 10_000}, "a" * 200),
        ({"type": ["string", "null"]}, ""),
        ({}, 0),
        ({"$ref": "#"}, None),
    ],
)
def test_a_value_is_what_comes_first_in_the_schema(schema: Json, value: Json) -> None:
    """Required members alone, first branches and values, at most 200 of anything."""
    assert sketched(Schema(schema, DRAFT_2020_12)) == value

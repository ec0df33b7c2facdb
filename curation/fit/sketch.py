"""A value that a schema suggests at first sight, without a search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from curation.fit.scan import (
    enumerated,
    is_object_schema,
    read_properties,
    read_required,
)
from curation.instances.constraints.keyword_values import read_array, read_names

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.references.schema import Schema
    from curation.schema.subschemas import SchemaLocation

#: Maximum of values inside, and of the length of a string or array.
_LIMIT: Final = 200


def sketched(schema: Schema) -> Json:
    """Return a value with the required members, or with the first optional one.

    It may be invalid: keywords that are seldom used are not considered.

    Example:
        >>> properties = {"a": {"type": "string", "minLength": 2}, "b": {}}
        >>> sketched(Schema({"properties": properties}, DRAFT_2020_12))
        {'a': 'aa'}
    """
    return _value(schema, schema.root, iter(range(_LIMIT)))


def _value(schema: Schema, location: SchemaLocation, steps: Iterator[int]) -> Json:
    keywords = location.keywords
    if next(steps, None) is None:
        return None
    if values := [value for _, listed in enumerated(keywords) for value in listed]:
        return values[0]
    for keyword in ("anyOf", "oneOf"):
        if read_array(keywords, keyword):
            return _value(schema, schema.child(location, (keyword, "0")), steps)
    if "$ref" in keywords:
        target = schema.target(location)
        return _value(schema, target, steps) if target else None
    if is_object_schema(keywords):
        properties = read_properties(keywords)
        names = map(str, read_required(keywords) or [*properties][:1])
        return {
            name: _value(schema, schema.child(location, ("properties", name)), steps)
            for name in names
            if name in properties
        }
    kind = next(iter(read_names(keywords.get("type"))), "integer")
    if kind == "array" and isinstance(keywords.get("items"), dict):
        item = _value(schema, schema.child(location, ("items",)), steps)
        return [item] * (_size(keywords, "minItems") or 1)
    number, text = keywords.get("minimum", 0), "a" * _size(keywords, "minLength")
    plain: dict[str, Json] = {
        "boolean": True,
        "array": [],
        "integer": number,
        "number": number,
    }
    return text if kind == "string" else plain.get(kind)


def _size(keywords: Mapping[str, Json], name: str) -> int:
    value = keywords.get(name)
    return min(value, _LIMIT) if isinstance(value, int) else 0

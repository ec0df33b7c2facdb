"""Does a value meet the plain assertions of a shape? Choices are not asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.instances.strings import matches
from curation.jsontext import canonical

if TYPE_CHECKING:
    from curation.documents import Json
    from curation.instances.shapes import Shape


def identity(value: Json) -> bytes:
    """Return what is equal for equal JSON values only: 1 is 1.0, but not true."""
    return canonical(value)


def type_of(value: Json) -> str:
    """Return the type of a JSON value; whole numbers are integers."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "object" if isinstance(value, dict) else "array"


def admits(shape: Shape, value: Json) -> bool:
    """Tell whether types, bounds, lengths, patterns and names allow a value."""
    kind = type_of(value)
    if kind not in shape.types:
        return False
    if shape.excluded and identity(value) in map(identity, shape.excluded):
        return False
    if kind in ("integer", "number"):
        return _in_bounds(shape, value)
    if kind == "string":
        return matches(shape.string(name=""), value)
    if kind == "array":
        return _fits(len(value), shape.min_items, shape.max_items)
    if kind == "object":
        return (
            _fits(len(value), shape.min_properties, shape.max_properties)
            and shape.required.keys() <= value.keys()
            and shape.forbidden.isdisjoint(value)
        )
    return True


def _fits(count: int, least: int, most: int | None) -> bool:
    return least <= count and (most is None or count <= most)


def _in_bounds(shape: Shape, value: float) -> bool:
    return (
        (shape.minimum is None or value >= shape.minimum)
        and (shape.maximum is None or value <= shape.maximum)
        and (shape.exclusive_minimum is None or value > shape.exclusive_minimum)
        and (shape.exclusive_maximum is None or value < shape.exclusive_maximum)
    )

"""Does a value meet the plain assertions of a shape? Choices are not asked."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from curation.instances.scalars.strings import matches
from curation.json.text import canonical

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.conjunction import Conjunction


def identity(value: UntypedJson) -> bytes:
    """Return what is equal for equal JSON values only: 1 is 1.0, but not true."""
    return canonical(value)


def type_of(value: UntypedJson) -> str:
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


def admits(shape: Conjunction, value: UntypedJson) -> bool:
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


def _in_bounds(shape: Conjunction, value: float) -> bool:
    return (
        (shape.minimum is None or value >= shape.minimum)
        and (shape.maximum is None or value <= shape.maximum)
        and (shape.exclusive_minimum is None or value > shape.exclusive_minimum)
        and (shape.exclusive_maximum is None or value < shape.exclusive_maximum)
        and not any(is_multiple(value, each) for each in shape.not_multiples)
    )


def is_multiple(value: float, step: float) -> bool:
    """Tell whether a number is a multiple, as decimal numbers."""
    return Fraction(str(value)) % Fraction(str(step)) == 0


def conflict(shape: Conjunction, kind: str) -> bool:
    """Tell whether nothing of one type can meet the plain assertions."""
    if kind == "object":
        return _object_conflict(shape)
    if kind == "array":
        return shape.max_items is not None and shape.max_items < shape.min_items
    if kind == "string":
        return shape.max_length is not None and shape.max_length < shape.min_length
    if kind in ("integer", "number"):
        return _is_empty_range(shape)
    return False


def _object_conflict(shape: Conjunction) -> bool:
    least = max(shape.min_properties, len(shape.required))
    if shape.max_properties is not None and least > shape.max_properties:
        return True
    return any(shape.property_goals(name) is None for name in shape.required)


def _is_empty_range(shape: Conjunction) -> bool:
    lows = (shape.minimum, shape.exclusive_minimum)
    highs = (shape.maximum, shape.exclusive_maximum)
    known = [each for each in lows if each is not None]
    bounds = [each for each in highs if each is not None]
    if not known or not bounds:
        return False
    low, high = max(known), min(bounds)
    return low > high or (low == high and (lows[1] == low or highs[1] == high))

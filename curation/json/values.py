"""What JSON values are: their types, and which of them are equal."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeGuard

from curation.json.text import canonical

if TYPE_CHECKING:
    from curation.core.json_types import Json


def identity(value: Json) -> bytes:
    """Return bytes that two values share if JSON Schema takes them for equal.

    Example:
        >>> identity([1, True]) == identity([1.0, True])
        True
        >>> identity(1) == identity(True)
        False
    """
    return canonical(value)


def type_of(value: Json) -> str:
    """Return the type of a value; a number without a fraction is an `integer`.

    Example:
        >>> [type_of(value) for value in (1.0, 1.5, True, None)]
        ['integer', 'number', 'boolean', 'null']
    """
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


def is_number(value: Json) -> TypeGuard[int | float]:
    """Return whether a value is a number; Python's booleans are none in JSON."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_multiple(value: float, step: float) -> bool:
    """Return whether a number is a multiple of another, both read as decimals.

    Example:
        >>> is_multiple(0.3, 0.1)
        True
    """
    return Fraction(str(value)) % Fraction(str(step)) == 0

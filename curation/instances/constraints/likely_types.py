"""Which types to try for a value, the likely ones first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curation.instances.constraints.conjunction import Conjunction

_ITEMS = ("items", "prefixItems")
_MEMBERS = ("properties", "patternProperties", "additionalProperties")


def likely_types(shape: Conjunction) -> tuple[str, ...]:
    """Return the types of a shape as the schema names them, else as it hints.

    null comes last where there is a choice, and "number" stands for integers too.
    """
    if not shape.typed:
        return _hinted(shape)
    types = list(shape.types)
    if "integer" in types and "number" in types:
        types.remove("integer")
    if len(types) > 1 and "null" in types:
        types.remove("null")
        types.append("null")
    return tuple(types)


def _hinted(shape: Conjunction) -> tuple[str, ...]:
    """Return the types to try where no part names one."""
    words = {word for each in shape.parts for word in each.schema}
    hints = {
        "object": bool(
            shape.required
            or shape.min_properties
            or shape.dependencies
            or not words.isdisjoint(_MEMBERS)
        ),
        "array": bool(
            shape.min_items
            or shape.contains
            or shape.unique
            or not words.isdisjoint(_ITEMS)
        ),
        "number": bool(
            shape.multiples or shape.minimum is not None or shape.maximum is not None
        ),
    }
    likely = [kind for kind, hinted in hints.items() if hinted]
    order = (*likely, "string", "object", "array", "number", "boolean", "null")
    return tuple(
        each
        for each in dict.fromkeys(order)
        if each in shape.types or (each == "number" and "integer" in shape.types)
    )

"""Which types to try for a value, the likely ones first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances.constraints.memo import Memo

if TYPE_CHECKING:
    from curation.instances.constraints.model import Conjunction

_LIKELY: Final = Memo[None, tuple[str, ...]]()
_ITEMS: Final = ("items", "prefixItems")
_MEMBERS: Final = ("properties", "patternProperties", "additionalProperties")


def likely_types(conjunction: Conjunction) -> tuple[str, ...]:
    """Return the types of a conjunction as the schema names them, else as it hints.

    null comes last where there is a choice, and "number" stands for integers too.
    """
    known = _LIKELY.of(conjunction)
    if None not in known:
        named = _named if conjunction.typed else _hinted
        known[None] = named(conjunction)
    return known[None]


def _named(conjunction: Conjunction) -> tuple[str, ...]:
    types = list(conjunction.types)
    if "integer" in types and "number" in types:
        types.remove("integer")
    if len(types) > 1 and "null" in types:
        types.remove("null")
        types.append("null")
    return tuple(types)


def _hinted(conjunction: Conjunction) -> tuple[str, ...]:
    """Return the types to try where no part names one."""
    keywords = {keyword for part in conjunction.parts for keyword in part.schema}
    hints = {
        "object": bool(
            conjunction.required
            or conjunction.min_properties
            or conjunction.dependencies
            or not keywords.isdisjoint(_MEMBERS)
        ),
        "array": bool(
            conjunction.min_items
            or conjunction.contains
            or conjunction.unique
            or not keywords.isdisjoint(_ITEMS)
        ),
        "number": bool(
            conjunction.multiples
            or conjunction.minimum is not None
            or conjunction.maximum is not None
        ),
    }
    likely = [kind for kind, hinted in hints.items() if hinted]
    order = (*likely, "string", "object", "array", "number", "boolean", "null")
    return tuple(
        kind
        for kind in dict.fromkeys(order)
        if kind in conjunction.types
        or (kind == "number" and "integer" in conjunction.types)
    )

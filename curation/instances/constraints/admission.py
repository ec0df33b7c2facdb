"""Plain assertions of a conjunction: the values and types that they admit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from curation.core.json_types import Json
from curation.instances.constraints.compiled_schema import memo
from curation.instances.constraints.keyword_values import array_of
from curation.instances.values import formats
from curation.instances.values.numbers import in_bounds
from curation.instances.values.strings import matches
from curation.json.values import identity, is_multiple, type_of

if TYPE_CHECKING:
    from curation.instances.constraints.conjunction import Conjunction


def admits(conjunction: Conjunction, value: Json) -> bool:
    """Return whether types, bounds, lengths, patterns and names allow a value."""
    kind = type_of(value)
    if kind not in conjunction.types:
        return False
    if conjunction.excluded and identity(value) in map(identity, conjunction.excluded):
        return False
    if isinstance(value, dict):
        return (
            _fits(len(value), conjunction.min_properties, conjunction.max_properties)
            and conjunction.required.keys() <= value.keys()
            and conjunction.forbidden.isdisjoint(value)
        )
    if isinstance(value, list):
        return _fits(len(value), conjunction.min_items, conjunction.max_items)
    if isinstance(value, str):
        return matches(conjunction.string(""), value)
    if value is None or isinstance(value, bool):
        return True
    return in_bounds(conjunction.number("number", ""), value) and not any(
        is_multiple(value, step) for step in conjunction.not_multiples
    )


def _fits(count: int, least: int, most: int | None) -> bool:
    return least <= count and (most is None or count <= most)


@memo
def admitted_examples(conjunction: Conjunction) -> list[Json]:
    """Return the values of `examples` and `default` that a conjunction admits."""
    return [
        value
        for part in conjunction.parts
        for value in _examples(part.schema)
        if admits(conjunction, value) and _is_of_formats(conjunction, value)
    ]


def _is_of_formats(conjunction: Conjunction, value: Json) -> bool:
    """Return whether a text is of its formats to who knows those of all drafts."""
    return not isinstance(value, str) or all(
        formats.accepts_twice(name, value) for name in conjunction.formats
    )


def _examples(schema: Mapping[str, Json]) -> list[Json]:
    values = [*array_of(schema, "examples"), schema.get("default")]
    return [value for value in values if value not in (None, "", [], {})]


def conflicts(conjunction: Conjunction, kind: str) -> bool:
    """Return whether no value of a type can meet the plain assertions."""
    if kind == "object":
        return _object_conflicts(conjunction)
    if kind == "array":
        most = conjunction.max_items
        return most is not None and most < conjunction.min_items
    if kind == "string":
        most = conjunction.max_length
        return most is not None and most < conjunction.min_length
    if kind in ("integer", "number"):
        return _is_empty_range(conjunction)
    return False


def _object_conflicts(conjunction: Conjunction) -> bool:
    least = max(conjunction.min_properties, len(conjunction.required))
    if conjunction.max_properties is not None and least > conjunction.max_properties:
        return True
    return any(conjunction.member_goals(name) is None for name in conjunction.required)


def _is_empty_range(conjunction: Conjunction) -> bool:
    lows = (conjunction.minimum, conjunction.exclusive_minimum)
    highs = (conjunction.maximum, conjunction.exclusive_maximum)
    known_lows = [bound for bound in lows if bound is not None]
    known_highs = [bound for bound in highs if bound is not None]
    if not known_lows or not known_highs:
        return False
    low, high = max(known_lows), min(known_highs)
    return low > high or (low == high and (lows[1] == low or highs[1] == high))


_ITEMS: Final = ("items", "prefixItems")
_MEMBERS: Final = ("properties", "patternProperties", "additionalProperties")


@memo
def likely_types(conjunction: Conjunction) -> tuple[str, ...]:
    """Return the types of a conjunction as the schema names them, else as it hints.

    null comes last where there is a choice, and "number" stands for integers too.
    """
    return (_named if conjunction.typed else _hinted)(conjunction)


def _named(conjunction: Conjunction) -> tuple[str, ...]:
    types = list(conjunction.types)
    if "integer" in types and "number" in types:
        types.remove("integer")
    if len(types) > 1 and "null" in types:
        types.remove("null")
        types.append("null")
    return tuple(types)


def _hinted(conjunction: Conjunction) -> tuple[str, ...]:
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

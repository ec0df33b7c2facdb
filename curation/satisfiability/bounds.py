"""Lower bounds above upper bounds, over several schemas at once."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from curation.core.json_types import Json
    from curation.satisfiability.schema_view import SchemaView
    from curation.schema.locations import SchemaLocation

_SIZED: dict[str, type[str | list[Json] | dict[str, Json]]] = {
    "Length": str,
    "Items": list,
    "Properties": dict,
}


class Bound(NamedTuple):
    """One end of a range of numbers, and the keyword that sets it."""

    value: int | float
    #: Whether the end itself is left out.
    strict: bool
    location: SchemaLocation
    keyword: str


def number(value: Json) -> int | float | None:
    """Return the value if it is a finite number, else None; a boolean is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isfinite(value) else None


def _bounds(location: SchemaLocation, side: str, view: SchemaView) -> Iterable[Bound]:
    """Yield the bounds of numbers on one side (`min` or `max`) of one schema."""
    schema = location.schema
    plain, exclusive = f"{side}imum", f"exclusive{side.capitalize()}imum"
    flagged = view.exclusive_flags and schema.get(exclusive) is True
    value = number(schema.get(plain))
    if value is not None:
        yield Bound(value=value, strict=flagged, location=location, keyword=plain)
    value = number(schema.get(exclusive))
    if value is not None and not view.exclusive_flags:
        yield Bound(value=value, strict=True, location=location, keyword=exclusive)


def lowest(locations: Iterable[SchemaLocation], view: SchemaView) -> Bound | None:
    """Return the lower bound of numbers that says most."""
    found = [
        bound for location in locations for bound in _bounds(location, "min", view)
    ]
    return max(found, key=lambda bound: (bound.value, bound.strict), default=None)


def highest(locations: Iterable[SchemaLocation], view: SchemaView) -> Bound | None:
    """Return the upper bound of numbers that says most."""
    found = [
        bound for location in locations for bound in _bounds(location, "max", view)
    ]
    return min(found, key=lambda bound: (bound.value, not bound.strict), default=None)


def no_number_between(low: Bound, high: Bound) -> bool:
    """Return whether no number lies between."""
    strict = low.strict or high.strict
    return low.value > high.value or (strict and low.value == high.value)


def no_multiple_between(low: Bound, high: Bound, step: int) -> bool:
    """Return whether no multiple of a whole step lies between."""
    least, most = Fraction(low.value) / step, Fraction(high.value) / step
    first, last = ceil(least), floor(most)
    if low.strict and first == least:
        first += 1
    if high.strict and last == most:
        last -= 1
    return first > last


def sizes(
    locations: Iterable[SchemaLocation], what: str
) -> tuple[tuple[int | float, SchemaLocation | None], int | float]:
    """Return the greatest `min` of a size with its schema, and the least `max`.

    Args:
        locations: Schemas that one value must meet, all at once.
        what: The size: `Length`, `Items` or `Properties`.
    """
    least: tuple[int | float, SchemaLocation | None] = (0, None)
    most: int | float = float("inf")
    for location in locations:
        low, high = (
            number(location.schema.get("min" + what)),
            number(location.schema.get("max" + what)),
        )
        if low is not None and low > least[0]:
            least = (low, location)
        if high is not None and high < most:
            most = high
    return least, most


def crosses(
    keyword: str, value: Json, schema: Mapping[str, Json], view: SchemaView
) -> bool:
    """Return whether a value lies beyond the bound that a keyword sets."""
    bound = number(schema[keyword])
    if bound is None:
        return False
    for what, sized in _SIZED.items():
        if keyword.endswith(what):
            if not isinstance(value, sized):
                return False
            length = len(value)
            return length < bound if keyword.startswith("min") else length > bound
    given = number(value)
    if given is None:
        return False
    exclusive = "exclusive" + keyword[0].upper() + keyword[1:]
    flagged = view.exclusive_flags and schema.get(exclusive) is True
    if given == bound:
        return flagged or keyword.startswith("exclusive")
    return given < bound if keyword.lower().endswith("minimum") else given > bound

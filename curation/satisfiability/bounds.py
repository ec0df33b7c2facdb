"""Lower bounds above upper bounds, over several schemas at once."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.core.json_types import UntypedJson
    from curation.satisfiability.schema_view import Ground, Node

_SIZES: dict[str, type[Any]] = {"Length": str, "Items": list, "Properties": dict}


class Bound(NamedTuple):
    """One end of a range, whether it is left out, and who says so."""

    value: int | float
    strict: bool
    node: Node
    word: str


def number(value: UntypedJson) -> int | float | None:
    """Return the value if it is a finite number, not a boolean."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isfinite(value) else None


def _bounds(node: Node, side: str, ground: Ground) -> Iterable[Bound]:
    """Yield the bounds of numbers on one side (`min` or `max`) of one schema."""
    schema = node.schema
    plain, exclusive = f"{side}imum", f"exclusive{side.capitalize()}imum"
    flagged = ground.exclusive_flags and schema.get(exclusive) is True
    value = number(schema.get(plain))
    if value is not None:
        yield Bound(value=value, strict=flagged, node=node, word=plain)
    value = number(schema.get(exclusive))
    if value is not None and not ground.exclusive_flags:
        yield Bound(value=value, strict=True, node=node, word=exclusive)


def lowest(nodes: Iterable[Node], ground: Ground) -> Bound | None:
    """Return the lower bound of numbers that says most."""
    found = [each for node in nodes for each in _bounds(node, "min", ground)]
    return max(found, key=lambda each: (each.value, each.strict), default=None)


def highest(nodes: Iterable[Node], ground: Ground) -> Bound | None:
    """Return the upper bound of numbers that says most."""
    found = [each for node in nodes for each in _bounds(node, "max", ground)]
    return min(found, key=lambda each: (each.value, not each.strict), default=None)


def empty_range(low: Bound, high: Bound) -> bool:
    """Tell whether no number lies between."""
    strict = low.strict or high.strict
    return low.value > high.value or (strict and low.value == high.value)


def gap(low: Bound, high: Bound, step: int) -> bool:
    """Tell whether no multiple of a whole step lies between."""
    least, most = Fraction(low.value) / step, Fraction(high.value) / step
    first, last = ceil(least), floor(most)
    if low.strict and first == least:
        first += 1
    if high.strict and last == most:
        last -= 1
    return first > last


def sizes(
    nodes: Iterable[Node], what: str
) -> tuple[tuple[int | float, Node | None], int | float]:
    """Return the greatest `min` of a size with its schema, and the least `max`."""
    least: tuple[int | float, Node | None] = (0, None)
    most: int | float = float("inf")
    for node in nodes:
        low, high = (
            number(node.schema.get("min" + what)),
            number(node.schema.get("max" + what)),
        )
        if low is not None and low > least[0]:
            least = (low, node)
        if high is not None and high < most:
            most = high
    return least, most


def crosses(
    word: str, value: UntypedJson, schema: dict[str, UntypedJson], ground: Ground
) -> bool:
    """Tell whether a value lies beyond the bound that a word sets."""
    bound = number(schema[word])
    if bound is None:
        return False
    for what, kind in _SIZES.items():
        if word.endswith(what):
            if not isinstance(value, kind):
                return False
            length = len(value)
            return length < bound if word.startswith("min") else length > bound
    given = number(value)
    if given is None:
        return False
    exclusive = "exclusive" + word[0].upper() + word[1:]
    flagged = ground.exclusive_flags and schema.get(exclusive) is True
    if given == bound:
        return flagged or word.startswith("exclusive")
    return given < bound if word.lower().endswith("minimum") else given > bound

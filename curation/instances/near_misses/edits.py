"""Edits of one value that should fail one keyword: quick ones, judged later.

Each keyword has a function that yields replacements, the most natural first. They
mind little of what else applies; the validator decides what they violate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.keyword_values import names_of, number_of
from curation.instances.near_misses import string_edits
from curation.instances.near_misses.edit_target import ANY
from curation.json.values import is_number, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.instances.near_misses.edit_target import (
        Edit,
        EditFunction,
        EditTarget,
    )

#: From here on not every integer is a double.
_DOUBLES_STEP_BY_ONE: Final = 2**53
#: Larger bounds are floats, of which one step is as good as another.
_LARGEST_INTEGER: Final = 2**128
#: Steps from a multiple within which doubles may take a number for one.
_NEARLY: Final = 1e-6
#: Properties of an object that are left out, one at a time.
_MOST_LEFT_OUT: Final = 12
#: Values to replace another one of the same type.
_UNLISTED: Final[dict[str, tuple[Json, ...]]] = {
    "string": ("other", "unlisted", ""),
    "integer": (0, 1, -1, 99_991),
    "number": (0.5,),
    "boolean": (True, False),
    "null": (None,),
    "array": ([], ["other"]),
    "object": ({}, {"other": 1}),
}


def of_another_type(target: EditTarget) -> Iterator[Edit]:
    """Yield values of a type that is not allowed."""
    names = set(names_of(target.operand))
    if "number" in names:
        names.add("integer")
    if target.schema.get("nullable") is True:
        # OpenAPI's word, which some validators know.
        names.add("null")
    wrong = [value for value in ANY if type_of(value) not in names]
    target.rng.shuffle(wrong)
    value = target.value
    if "integer" in names and is_number(value) and "number" not in names:
        wrong.insert(target.rng.randrange(len(wrong) + 1), value + 0.5)
    yield from wrong


def unlisted(target: EditTarget) -> Iterator[Edit]:
    """Yield values that enum or const do not list, first of the same type."""
    value = target.value
    if isinstance(value, str):
        yield from string_edits.altered(value)
    if isinstance(value, bool):
        yield not value
    elif is_number(value):
        yield from (value + 1, value - 1, value * 10 + 7, value + 0.5)
    if isinstance(value, list):
        yield from ([*value, *value[:1]], value[:-1], [*value, "other"])
    if isinstance(value, dict):
        yield {**value, "other": True}
        yield {name: value[name] for name in list(value)[:-1]}
    for kind in target.conjunction.types:
        yield from _UNLISTED[kind]
    yield from ANY


def _step(target: EditTarget) -> float:
    """Return the least step from one allowed number to the next that is tried."""
    for multiple in target.conjunction.multiples:
        if multiple >= 1:
            return multiple
    return 1


def _beyond_doubles(bound: float, sign: int) -> Iterator[float]:
    """Yield the next number past a bound where one step is lost in a double.

    Many parsers of JSON read every number as a double (RFC 8259 section 6), and would
    take one step more for the bound itself.
    """
    if _DOUBLES_STEP_BY_ONE <= abs(bound) <= _LARGEST_INTEGER:
        yield int(math.nextafter(float(bound), sign * math.inf))


def below(target: EditTarget) -> Iterator[Edit]:
    """Yield numbers below `minimum`, by one step first."""
    bound, step = target.bound, _step(target)
    yield from _beyond_doubles(bound, -1)
    yield from (bound - step, bound - 1, bound - 0.5)
    for multiple in target.conjunction.multiples:
        yield (bound // multiple - (bound % multiple == 0)) * multiple
    yield from (bound - 0.001, bound - abs(bound) - 1)


def above(target: EditTarget) -> Iterator[Edit]:
    """Yield numbers above `maximum`, by one step first."""
    bound, step = target.bound, _step(target)
    yield from _beyond_doubles(bound, 1)
    yield from (bound + step, bound + 1, bound + 0.5)
    for multiple in target.conjunction.multiples:
        yield (bound // multiple + 1) * multiple
    yield from (bound + 0.001, bound + abs(bound) + 1)


def at_bound(name: str, sign: int) -> EditFunction:
    """Return the edit that crosses an exclusive bound by standing on it.

    Args:
        name: The keyword that holds the bound where draft-04 has a flag.
        sign: 1 to go on upwards, -1 to go on downwards.
    """

    def edit(target: EditTarget) -> Iterator[Edit]:
        bound = number_of(
            target.schema, name if target.operand is True else target.keyword
        )
        yield bound
        yield bound + sign
        yield bound + sign * _step(target)
        for multiple in target.conjunction.multiples:
            yield bound // multiple * multiple
            yield (bound // multiple + sign) * multiple

    return edit


def off_step(target: EditTarget) -> Iterator[Edit]:
    """Yield numbers that are no multiple."""
    step, conjunction = target.bound, target.conjunction
    bases: list[float] = [target.value] if is_number(target.value) else []
    bounds = (conjunction.minimum, conjunction.maximum)
    bases += [bound for bound in bounds if bound is not None]
    for base in (*bases, 0):
        for delta in (1, step / 2, step / 3, step / 10):
            for number in (base + delta, base - delta):
                if not _is_nearly_multiple(number, step):
                    yield number


def _is_nearly_multiple(number: float, step: float) -> bool:
    """Return whether doubles may round a number to a multiple."""
    try:
        quotient = number / step
        return abs(quotient - round(quotient)) < _NEARLY
    except (OverflowError, ZeroDivisionError):
        return False


def anything(_: EditTarget) -> Iterator[Edit]:
    """Yield a value of each type, to stand where nothing may."""
    yield from ANY


def replaced(target: EditTarget) -> Iterator[Edit]:
    """Yield plain values, and the value without one of its members."""
    value = target.value
    if isinstance(value, dict):
        for left_out in list(value)[:_MOST_LEFT_OUT]:
            yield {name: value[name] for name in value if name != left_out}
        yield {}
    if isinstance(value, list):
        yield []
        yield value[:-1]
    if isinstance(value, str):
        yield from string_edits.altered(value)
    if is_number(value):
        yield from (value + 1, value - 1, -value, value * 1000, value + 0.5)
    yield from ANY

"""Edits of one value that should fail one keyword: quick ones, judged later.

Each keyword has a function that yields replacements, the most natural first. They
mind little of what else applies; the validator decides what they violate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from curation.instances.constraints.admission import type_of
from curation.instances.constraints.merging import is_number
from curation.instances.near_misses import string_edits

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.conjunction import Conjunction
    from curation.instances.constraints.goals import Goals
    from curation.instances.witnesses.context import Nothing

    _Edit = Callable[["EditTarget"], Iterator[UntypedJson]]

#: More elements or properties than this are not made to cross a bound.
MOST_MEMBERS: Final = 2_000
ANY: Final[tuple[UntypedJson, ...]] = (7, "text", None, True, [], {}, 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class EditTarget:
    """One value to edit, and what applies to it."""

    value: UntypedJson
    #: The schema object whose keyword is to fail.
    schema: dict[str, UntypedJson]
    keyword: str
    #: Everything that applies there.
    shape: Conjunction
    rng: random.Random
    #: Make a value for goals.
    fill: Callable[[Goals], UntypedJson | Nothing]

    @property
    def operand(self) -> Any:  # noqa: ANN401 - whatever the keyword holds
        """The keyword's value."""
        return self.schema[self.keyword]


def of_another_type(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield values of a type that is not allowed."""
    value, allowed = spot.value, spot.operand
    names = {allowed} if isinstance(allowed, str) else set(allowed)
    if "number" in names:
        names.add("integer")
    wrong = [each for each in ANY if type_of(each) not in names]
    spot.rng.shuffle(wrong)
    if "integer" in names and is_number(value) and "number" not in names:
        wrong.insert(spot.rng.randrange(len(wrong) + 1), value + 0.5)
    yield from wrong


def unlisted(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield values that enum or const do not list, first of the same type."""
    value = spot.value
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
    for kind in spot.shape.types:
        yield from _OF_TYPE[kind]
    yield from ANY


_OF_TYPE: Final[dict[str, tuple[UntypedJson, ...]]] = {
    "string": ("other", "unlisted", ""),
    "integer": (0, 1, -1, 99_991),
    "number": (0.5,),
    "boolean": (True, False),
    "null": (None,),
    "array": ([], ["other"]),
    "object": ({}, {"other": 1}),
}


def _step(spot: EditTarget) -> float:
    for each in spot.shape.multiples:
        if each >= 1:
            return each
    return 1


def below(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield numbers below `minimum`, by one step first."""
    bound, step = spot.schema["minimum"], _step(spot)
    yield from (bound - step, bound - 1, bound - 0.5)
    for each in spot.shape.multiples:
        yield (bound // each - (bound % each == 0)) * each
    yield from (bound - 0.001, bound - abs(bound) - 1)


def above(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield numbers above `maximum`, by one step first."""
    bound, step = spot.schema["maximum"], _step(spot)
    yield from (bound + step, bound + 1, bound + 0.5)
    for each in spot.shape.multiples:
        yield (bound // each + 1) * each
    yield from (bound + 0.001, bound + abs(bound) + 1)


def at_bound(name: str, sign: int) -> _Edit:
    """Cross an exclusive bound by standing on it."""

    def edit(spot: EditTarget) -> Iterator[UntypedJson]:
        bound = spot.operand
        if bound is True:
            bound = spot.schema[name]
        yield bound
        yield bound + sign
        yield bound + sign * _step(spot)
        for each in spot.shape.multiples:
            yield bound // each * each
            yield (bound // each + sign) * each

    return edit


def off_step(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield numbers that are no multiple."""
    step = spot.operand
    bases = [spot.value] if is_number(spot.value) else []
    shape = spot.shape
    bases += [each for each in (shape.minimum, shape.maximum) if each is not None]
    for base in (*bases, 0):
        for delta in (1, step / 2, step / 3, step / 10):
            yield base + delta
            yield base - delta


def anything(_: EditTarget) -> Iterator[UntypedJson]:
    """Yield what stands there at all, where nothing may."""
    yield from ANY


def replaced(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield plain values, and the value without one of its members."""
    value = spot.value
    if isinstance(value, dict):
        for name in list(value)[:12]:
            yield {each: value[each] for each in value if each != name}
        yield {}
    if isinstance(value, list):
        yield []
        yield value[:-1]
    if isinstance(value, str):
        yield from string_edits.altered(value)
    if is_number(value):
        yield from (value + 1, value - 1, -value, value * 1000, value + 0.5)
    yield from ANY

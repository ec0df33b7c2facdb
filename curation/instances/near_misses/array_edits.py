"""Edits of arrays: one element too many, too few, twice, unwanted or missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances.near_misses.edit_target import ANY, MOST_MEMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.instances.near_misses.edit_target import Edit, EditTarget
    from curation.instances.witnesses.context import Nothing

#: Beginnings of an array that are tried in its place.
_MOST_BEGINNINGS: Final = 8


def fewer_items(target: EditTarget) -> Iterator[Edit]:
    """Yield arrays with one element too few."""
    value, least = target.value, target.limit
    if isinstance(value, list):
        yield value[: least - 1]
        yield value[len(value) - least + 1 :]
    if least == 1:
        yield []


def more_items(target: EditTarget) -> Iterator[Edit]:
    """Yield arrays with one element too many."""
    most, unique = target.limit, target.conjunction.unique
    if most >= MOST_MEMBERS:
        return
    value = target.array
    if value and not unique:
        yield [*value, *[value[-1]] * (most + 1 - len(value))]
    longer: list[Json | Nothing] = list(value)
    known = {repr(item) for item in longer}
    for _ in range(3 * (most + 2)):
        if len(longer) > most:
            break
        goals = target.conjunction.item_goals(len(longer))
        item = target.fill(goals or ())
        if not unique or repr(item) not in known:
            longer.append(item)
            known.add(repr(item))
        elif not goals:
            longer.append(f"item {len(longer)}")
    if len(longer) == most + 1:
        yield longer


def twice(target: EditTarget) -> Iterator[Edit]:
    """Yield arrays in which an element is there twice."""
    value = target.array
    if value:
        yield [*value, value[-1]]
        yield [*value, value[0]]
    if len(value) > 1:
        yield [*value[:-1], value[0]]
        yield [*value[:-1], value[-2]]
    if len(value) <= 1:
        item = target.fill(target.conjunction.item_goals(0) or ())
        yield [item, item]


def without_contained(target: EditTarget) -> Iterator[Edit]:
    """Yield arrays without the element that must be there."""
    value = target.array
    yield []
    accepts = target.compiled.accepts
    contained = [containment.location for containment in target.conjunction.contains]
    rest = [
        item
        for item in value
        if not any(accepts(location, item) for location in contained)
    ]
    yield rest
    for count in range(1, min(len(value), _MOST_BEGINNINGS)):
        yield value[:count]
    for item in ANY:
        yield [*rest, item]
        yield [item] * max(1, target.conjunction.min_items)


def too_often(target: EditTarget) -> Iterator[Edit]:
    """Yield arrays with what `contains` asks for once too often."""
    most = target.operand
    for containment in target.conjunction.contains:
        item = target.fill((containment.location,))
        if isinstance(most, int) and most < MOST_MEMBERS:
            yield [*target.array, *[item] * (most + 1)]


def one_more_item(target: EditTarget) -> Iterator[Edit]:
    """Yield arrays with an element that no schema is for."""
    longer: list[Json | Nothing] = list(target.array)
    while len(longer) < target.conjunction.prefix_length():
        goals = target.conjunction.item_goals(len(longer))
        longer.append(target.fill(goals or ()))
    yield from ([*longer, "extra"], [*longer, 7], [*longer, None], [*longer, {}])
    if target.keyword == "items":
        alone: list[Json] = ["extra"]
        yield alone

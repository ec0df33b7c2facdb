"""Edits of arrays: one element too many, too few, twice, unwanted or missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.instances.near_misses.edits import ANY, MOST_MEMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.instances.near_misses.edits import EditTarget


def fewer_items(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield arrays with one element too few."""
    value, least = spot.value, int(spot.operand)
    if isinstance(value, list):
        yield value[: least - 1]
        yield value[len(value) - least + 1 :]
    if least == 1:
        yield []


def more_items(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield arrays with one element too many."""
    most = int(spot.operand)
    if most >= MOST_MEMBERS:
        return
    value = spot.value if isinstance(spot.value, list) else []
    if value and not spot.shape.unique:
        yield [*value, *[value[-1]] * (most + 1 - len(value))]
    longer = list(value)
    known = {repr(each) for each in longer}
    for _ in range(3 * (most + 2)):
        if len(longer) > most:
            break
        goals = spot.shape.item_goals(len(longer))
        made = spot.fill(goals or ())
        if not spot.shape.unique or repr(made) not in known:
            longer.append(made)
            known.add(repr(made))
        elif not goals:
            longer.append(f"item {len(longer)}")
    if len(longer) == most + 1:
        yield longer


def twice(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield arrays in which an element is there twice."""
    value = spot.value if isinstance(spot.value, list) else []
    if value:
        yield [*value, value[-1]]
        yield [*value, value[0]]
    if len(value) > 1:
        yield [*value[:-1], value[0]]
        yield [*value[:-1], value[-2]]
    if len(value) <= 1:
        goals = spot.shape.item_goals(0)
        made = spot.fill(goals or ())
        yield [made, made]


def without_contained(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield arrays without the element that must be there."""
    value = spot.value if isinstance(spot.value, list) else []
    yield []
    accepts = spot.shape.compiled.accepts
    places = [each.location for each in spot.shape.contains]
    rest = [
        each
        for each in value
        if not any(accepts(location, each) for location in places)
    ]
    yield rest
    for count in range(1, min(len(value), 8)):
        yield value[:count]
    for each in ANY:
        yield [*rest, each]
        yield [each] * max(1, spot.shape.min_items)


def too_often(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield arrays with what `contains` asks for once too often."""
    value = spot.value if isinstance(spot.value, list) else []
    for each in spot.shape.contains:
        made = spot.fill((each.location,))
        if isinstance(spot.operand, int) and spot.operand < MOST_MEMBERS:
            yield [*value, *[made] * (spot.operand + 1)]


def one_more_item(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield arrays with an element that no place is for."""
    value = spot.value if isinstance(spot.value, list) else []
    longer = list(value)
    while len(longer) < spot.shape.prefix_length():
        longer.append(spot.fill(spot.shape.item_goals(len(longer)) or ()))
    yield from ([*longer, "extra"], [*longer, 7], [*longer, None], [*longer, {}])
    if spot.keyword == "items":
        yield ["extra"]

"""Edits of arrays and objects, and the table of all edits by keyword."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Final

from curation.core.json_types import Json
from curation.instances.constraints.keyword_values import names_of, object_of
from curation.instances.constraints.violations import FALSE
from curation.instances.near_misses.scalar_edits import (
    ANY,
    MOST_MEMBERS,
    Edit,
    EditFunction,
    EditTarget,
    anything,
    at_bound,
    beyond,
    longer,
    malformed,
    of_another_type,
    off_step,
    replaced,
    shorter,
    unlisted,
    unmatched,
)
from curation.instances.search.context import NOTHING, Nothing

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
    texts = {repr(item) for item in longer}
    for _ in range(3 * (most + 2)):
        if len(longer) > most:
            break
        goals = target.conjunction.member_goals(len(longer))
        item = target.fill(goals or ())
        if not unique or repr(item) not in texts:
            longer.append(item)
            texts.add(repr(item))
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
        item = target.fill(target.conjunction.member_goals(0) or ())
        yield [item, item]


def without_contained(target: EditTarget) -> Iterator[Edit]:
    """Yield arrays without the element that must be there."""
    value = target.array
    yield []
    accepts = target.compiled.accepts
    contained = [containment.location for containment in target.conjunction.contains]
    remaining = [
        item
        for item in value
        if not any(accepts(location, item) for location in contained)
    ]
    yield remaining
    for count in range(1, min(len(value), _MOST_BEGINNINGS)):
        yield value[:count]
    for item in ANY:
        yield [*remaining, item]
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
        goals = target.conjunction.member_goals(len(longer))
        longer.append(target.fill(goals or ()))
    yield from ([*longer, "extra"], [*longer, 7], [*longer, None], [*longer, {}])
    if target.keyword == "items":
        alone: list[Json] = ["extra"]
        yield alone


#: Branches of which two are to accept a value.
_MOST_BRANCHES: Final = 4


def in_two_branches(target: EditTarget) -> Iterator[Edit]:
    """Yield values that two branches accept, then what `replaced` does."""
    for choice in target.conjunction.choices:
        if choice.keyword == target.keyword:
            for both in combinations(choice.branches[:_MOST_BRANCHES], 2):
                yield target.fill(both)
    yield from replaced(target)


_EXTRA: Final = ("extra", "additional", "other", "unexpected", "Extra", "", "a\nb", "0")
_BAD_NAMES: Final = ("", "!", "a b", "0", "Aa", "-", "\u00e4", "x" * 300, "a", "A_B")
_VALUES: Final[tuple[Json, ...]] = ("extra", 1, True)


def _without(members: dict[str, Json], *names: str) -> dict[str, Json]:
    return {name: members[name] for name in members if name not in names}


def extra(target: EditTarget) -> Iterator[Edit]:
    """Yield the object with one property that is not declared."""
    members = target.members
    value = target.rng.choice(_VALUES)
    declared = target.conjunction.named_members("properties")
    names = list(_EXTRA)
    if declared:
        # It shows only where the name goes on, or ends.
        near = target.rng.choice(list(declared))
        names[target.rng.randrange(2) : 0] = [near + "s", near[:-1]]
    for name in names:
        if name not in members and name not in declared:
            yield {**members, name: value}
    # Where no more may stand, the new one takes the place of another.
    for name in reversed(members):
        if name not in target.conjunction.required:
            yield {**_without(members, name), _EXTRA[0]: value}
            break
    for other in ANY:
        yield {**members, "unexpected": other}


def missing(target: EditTarget) -> Iterator[Edit]:
    """Yield the object without a required property, the last one first."""
    required = names_of(target.operand)
    for name in reversed([name for name in target.members if name in required]):
        yield _without(target.members, name)


def fewer(target: EditTarget) -> Iterator[Edit]:
    """Yield the object with one property too few."""
    members, least = target.members, target.limit
    optional = [name for name in members if name not in target.conjunction.required]
    excess = len(members) - least + 1
    if 0 < excess <= len(optional):
        yield _without(members, *optional[len(optional) - excess :])
        yield _without(members, *optional[:excess])
    if least == 1:
        yield {}


def more(target: EditTarget) -> Iterator[Edit]:
    """Yield the object with one property too many."""
    members, most = target.members, target.limit
    if most >= MOST_MEMBERS:
        return
    longer = dict(members)
    names = [
        *target.conjunction.named_members("properties"),
        *(f"extra{number}" for number in range(most + 1)),
    ]
    # The names already used show what names are wanted.
    names += [f"{name}{number}" for name in members for number in range(1, most + 2)]
    for name in names:
        if len(longer) > most:
            break
        if name not in longer:
            value = _value_of(target, name)
            if not isinstance(value, Nothing):
                longer[name] = value
    yield longer


def _is_allowed(target: EditTarget, name: str) -> bool:
    accepts = target.compiled.accepts
    locations = target.conjunction.name_locations
    return all(accepts(location, name) for location in locations)


def _value_of(target: EditTarget, name: str) -> Json | Nothing:
    """Make a value for a property, or NOTHING if it must not be there."""
    goals = target.conjunction.member_goals(name)
    if goals is None or not _is_allowed(target, name):
        return NOTHING
    return target.fill(goals)


def misnamed(target: EditTarget) -> Iterator[Edit]:
    """Yield the object with a property of a name that is refused."""
    members = target.members
    for name in (*_BAD_NAMES, *(name + "!" for name in members)):
        if _is_allowed(target, name):
            continue
        goals = target.conjunction.member_goals(name)
        value = NOTHING if goals is None else target.fill(goals)
        if not isinstance(value, Nothing):
            yield {**members, name: value}


def dependent(target: EditTarget) -> Iterator[Edit]:
    """Yield the object with a property, but without what comes with it."""
    for name, needs in object_of(target.schema, target.keyword).items():
        whole = target.members
        if name not in whole:
            value = _value_of(target, name)
            if isinstance(value, Nothing):
                continue
            whole = {**whole, name: value}
        if isinstance(needs, dict):
            yield whole
        if isinstance(needs, dict | list):
            for other in whole if isinstance(needs, dict) else names_of(needs):
                if other != name:
                    yield _without(whole, other)


#: The edits of each keyword.
EDITS: Final[Mapping[str, EditFunction]] = {
    "type": of_another_type,
    "enum": unlisted,
    "const": unlisted,
    "minimum": beyond(-1),
    "maximum": beyond(1),
    "exclusiveMinimum": at_bound("minimum", -1),
    "exclusiveMaximum": at_bound("maximum", 1),
    "multipleOf": off_step,
    "minLength": shorter,
    "maxLength": longer,
    "pattern": unmatched,
    "format": malformed,
    "minItems": fewer_items,
    "maxItems": more_items,
    "uniqueItems": twice,
    "contains": without_contained,
    "minContains": without_contained,
    "maxContains": too_often,
    "items": one_more_item,
    "additionalItems": one_more_item,
    "unevaluatedItems": one_more_item,
    "anyOf": replaced,
    "oneOf": in_two_branches,
    "not": replaced,
    "if": replaced,
    "additionalProperties": extra,
    "unevaluatedProperties": extra,
    "required": missing,
    "minProperties": fewer,
    "maxProperties": more,
    "propertyNames": misnamed,
    "dependencies": dependent,
    "dependentRequired": dependent,
    "dependentSchemas": dependent,
    FALSE: anything,
}

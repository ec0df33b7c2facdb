"""Edits of objects: one property too many, too few, unwanted or missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances.constraints.keyword_values import names_of, object_of
from curation.instances.near_misses.edit_target import ANY, MOST_MEMBERS
from curation.instances.witnesses.context import NOTHING, Nothing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from curation.instances.near_misses.edit_target import Edit, EditTarget

_EXTRA: Final = ("extra", "additional", "other", "unexpected", "Extra", "", "a\nb", "0")
_BAD_NAMES: Final = ("", "!", "a b", "0", "Aa", "-", "\u00e4", "x" * 300, "a", "A_B")
_VALUES: Final[tuple[Json, ...]] = ("extra", 1, True)


def _without(members: dict[str, Json], *names: str) -> dict[str, Json]:
    return {name: members[name] for name in members if name not in names}


def extra(target: EditTarget) -> Iterator[Edit]:
    """Yield the object with one property that is not declared."""
    members = target.members
    value = target.rng.choice(_VALUES)
    declared = _declared(target)
    for name in _EXTRA:
        if name not in members and name not in declared:
            yield {**members, name: value}
    # Where no more may stand, the new one takes the place of another.
    for name in reversed(members):
        if name not in target.conjunction.required:
            yield {**_without(members, name), _EXTRA[0]: value}
            break
    for other in ANY:
        yield {**members, "unexpected": other}


def _declared(target: EditTarget) -> dict[str, None]:
    names: dict[str, None] = {}
    for part in target.conjunction.locations:
        names.update(dict.fromkeys(object_of(part.schema, "properties")))
    return names


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
    names = [*_declared(target), *(f"extra{number}" for number in range(most + 1))]
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
    """Return whether `propertyNames` allows a name."""
    accepts = target.compiled.accepts
    locations = target.conjunction.name_locations
    return all(accepts(location, name) for location in locations)


def _value_of(target: EditTarget, name: str) -> Json | Nothing:
    """Make a value for a property, or NOTHING if it must not be there."""
    goals = target.conjunction.property_goals(name)
    if goals is None or not _is_allowed(target, name):
        return NOTHING
    return target.fill(goals)


def misnamed(target: EditTarget) -> Iterator[Edit]:
    """Yield the object with a property of a name that is refused."""
    members = target.members
    for name in (*_BAD_NAMES, *(name + "!" for name in members)):
        if _is_allowed(target, name):
            continue
        goals = target.conjunction.property_goals(name)
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

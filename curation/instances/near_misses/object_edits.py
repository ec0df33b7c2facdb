"""Edits of objects: one property too many, too few, unwanted or missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances.near_misses.edits import ANY, MOST_MEMBERS
from curation.instances.witnesses.context import NOTHING, Nothing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.instances.near_misses.edits import EditTarget

_EXTRA: Final = ("extra", "additional", "other", "unexpected", "Extra", "", "\n", "0")
_BAD_NAMES: Final = ("", "!", "a b", "0", "Aa", "-", "\u00e4", "x" * 300, "a", "A_B")
_VALUES: Final[tuple[UntypedJson, ...]] = ("extra", 1, True)


def _members(spot: EditTarget) -> dict[str, UntypedJson]:
    return spot.value if isinstance(spot.value, dict) else {}


def _without(members: dict[str, UntypedJson], *names: str) -> dict[str, UntypedJson]:
    return {name: members[name] for name in members if name not in names}


def extra(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield the object with one property that nobody declares."""
    members = _members(spot)
    value = spot.rng.choice(_VALUES)
    declared = _declared(spot)
    for name in _EXTRA:
        if name not in members and name not in declared:
            yield {**members, name: value}
    # Where no more may stand, the new one takes the place of another.
    for name in reversed(members):
        if name not in spot.shape.required:
            yield {**_without(members, name), _EXTRA[0]: value}
            break
    for each in ANY:
        yield {**members, "unexpected": each}


def _declared(spot: EditTarget) -> dict[str, None]:
    names: dict[str, None] = {}
    for part in spot.shape.locations():
        members = part.schema.get("properties")
        names.update(dict.fromkeys(members) if isinstance(members, dict) else {})
    return names


def missing(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield the object without a required property, the last one first."""
    members = _members(spot)
    present = [each for each in members if each in spot.operand]
    for name in reversed(present):
        yield _without(members, name)


def fewer(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield the object with one property too few."""
    members, least = _members(spot), int(spot.operand)
    optional = [each for each in members if each not in spot.shape.required]
    excess = len(members) - least + 1
    if 0 < excess <= len(optional):
        yield _without(members, *optional[len(optional) - excess :])
        yield _without(members, *optional[:excess])
    if least == 1:
        yield {}


def more(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield the object with one property too many."""
    members, most = _members(spot), int(spot.operand)
    if most >= MOST_MEMBERS:
        return
    longer = dict(members)
    names = [*_declared(spot), *(f"extra{each}" for each in range(most + 1))]
    # The names already used show what names are wanted.
    names += [f"{each}{end}" for each in members for end in range(1, most + 2)]
    for name in names:
        if len(longer) > most:
            break
        if name not in longer:
            made = _made(spot, name)
            if made is not NOTHING:
                longer[name] = made
    yield longer


def _made(spot: EditTarget, name: str) -> UntypedJson | Nothing:
    goals = spot.shape.property_goals(name)
    accepts = spot.shape.compiled.accepts
    if goals is None or not all(
        accepts(each, name) for each in spot.shape.name_locations
    ):
        return NOTHING
    return spot.fill(goals)


def misnamed(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield the object with a property of a name that is refused."""
    members = _members(spot)
    accepts = spot.shape.compiled.accepts
    refused = (
        each
        for each in (*_BAD_NAMES, *(name + "!" for name in members))
        if not all(accepts(location, each) for location in spot.shape.name_locations)
    )
    for name in refused:
        goals = spot.shape.property_goals(name)
        made = NOTHING if goals is None else spot.fill(goals)
        if made is not NOTHING:
            yield {**members, name: made}


def dependent(spot: EditTarget) -> Iterator[UntypedJson]:
    """Yield the object with a property, but without what comes with it."""
    members = _members(spot)
    for name, needs in spot.operand.items():
        whole = members
        if name not in whole:
            made = _made(spot, name)
            if made is NOTHING:
                continue
            whole = {**members, name: made}
        if isinstance(needs, list):
            for each in needs:
                if each != name:
                    yield _without(whole, each)
        elif isinstance(needs, dict):
            yield whole
            for each in whole:
                if each != name:
                    yield _without(whole, each)

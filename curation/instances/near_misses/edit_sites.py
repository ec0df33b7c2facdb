"""Where a witness can be edited: its values, and what applies to each."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.core.documents import ABSENT
from curation.instances.constraints.conjunction import conjoin
from curation.instances.constraints.reachable_keywords import (
    Assertion,
    Path,
    assertions_of,
    false_locations,
    goals_below,
)
from curation.instances.constraints.violations import FALSE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.constraints.goals import Goals
    from curation.instances.constraints.model import Conjunction
    from curation.schema.locations import SchemaLocation

#: Values of one witness that are looked at, the outermost first.
_MOST = 400
#: Elements of one array that are looked at.
_ELEMENTS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class EditSite:
    """One value of a witness."""

    witness: UntypedJson
    path: Path
    value: UntypedJson
    goals: Goals
    #: The keywords that apply to it.
    pairs: tuple[Assertion, ...]


def sites(
    compiled: CompiledSchema, witness: UntypedJson, *, inside: bool = False
) -> Iterator[EditSite]:
    """Yield the values of a witness to which keywords apply, the outermost first.

    With `inside`, also what applies because a branch of anyOf and the like holds.
    """
    start: tuple[Path, UntypedJson, Goals] = ((), witness, (compiled.root,))
    queue = deque([start])
    for _ in range(_MOST):
        if not queue:
            return
        path, value, goals = queue.popleft()
        if inside:
            goals = (*goals, *_branches(compiled, goals, value))
        shape = conjoin(compiled, goals)
        pairs = assertions_of(shape)
        if pairs:
            yield EditSite(
                witness=witness, path=path, value=value, goals=goals, pairs=pairs
            )
        for step, each, inner in _members(shape, value):
            if inner:
                queue.append(((*path, step), each, inner))


def _members(
    shape: Conjunction, value: UntypedJson
) -> Iterator[tuple[str | int, UntypedJson, Goals]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield name, each, goals_below(shape, name) or ()
    elif isinstance(value, list):
        for index, each in enumerate(value[:_ELEMENTS]):
            yield index, each, goals_below(shape, index) or ()


def forbidden(
    compiled: CompiledSchema, site: EditSite
) -> Iterator[tuple[Assertion, str | int]]:
    """Yield the properties that a plain `false` forbids where a site is."""
    shape = conjoin(compiled, site.goals)
    names: dict[str, None] = {}
    for part in shape.locations():
        members = part.schema.get("properties")
        if isinstance(members, dict):
            names.update(dict.fromkeys(e for e in members if members[e] is False))
    for name in names:
        for location in false_locations(shape, name):
            yield Assertion(location, FALSE), name


def member(value: UntypedJson, step: str | int) -> UntypedJson:
    """Return a property or an element, or ABSENT."""
    if isinstance(step, int):
        inside = isinstance(value, list) and step < len(value)
    else:
        inside = isinstance(value, dict) and step in value
    return value[step] if inside else ABSENT


def edited(value: UntypedJson, path: Path, new: UntypedJson) -> UntypedJson:
    """Return a copy of a value with another one at a path."""
    if not path:
        return new
    head, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(head, int):
        inner = edited(value[head], rest, new) if head < len(value) else new
        return [*value[:head], inner, *value[head + 1 :]]
    return {**value, head: edited(value.get(head), rest, new)}


def holding(compiled: CompiledSchema, witness: UntypedJson, path: Path) -> Goals:
    """Return what branches of anyOf and the like ask of a value that meets them.

    `property_goals` and `item_goals` follow what applies always; this follows what
    applies because the branch holds.
    """
    goals: Goals = (compiled.root,)
    value = witness
    for step in (*path, None):
        if value is not ABSENT:
            goals = (*goals, *_branches(compiled, goals, value))
        if step is None:
            break
        shape = conjoin(compiled, goals)
        inner = (
            shape.item_goals(step)
            if isinstance(step, int)
            else shape.property_goals(step)
        )
        goals = inner or ()
        value = member(value, step)
    return goals


def _branches(
    compiled: CompiledSchema, goals: Goals, value: UntypedJson
) -> list[SchemaLocation]:
    found: list[SchemaLocation] = []
    pending = conjoin(compiled, goals)
    for _ in range(3):
        new: list[SchemaLocation] = []
        for choice in pending.choices:
            held = [each for each in choice.branches if compiled.accepts(each, value)]
            new += held[:1]
        for holder in pending.conditionals:
            holds = compiled.accepts(compiled.child(holder, ("if",)), value)
            keyword = "then" if holds else "else"
            if keyword in holder.schema:
                new.append(compiled.child(holder, (keyword,)))
        new = [each for each in new if each not in found and each not in goals]
        if not new:
            break
        found += new
        pending = conjoin(compiled, tuple(new))
    return found

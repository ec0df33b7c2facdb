"""Where a witness can be edited: its values, and what applies to each."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from curation.core.documents import ABSENT
from curation.instances.constraints.conjunction import Shape, conjunction
from curation.instances.constraints.reachable_keywords import (
    Pair,
    Path,
    below,
    false_places,
    pairs_of,
)
from curation.instances.constraints.violations import FALSE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import Node, Subject
    from curation.instances.constraints.goals import Goals

#: Values of one witness that are looked at, the outermost first.
_MOST = 400
#: Elements of one array that are looked at.
_ELEMENTS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One value of a witness."""

    witness: UntypedJson
    path: Path
    value: UntypedJson
    goals: Goals
    #: The keywords that apply to it.
    pairs: tuple[Pair, ...]


def sites(
    subject: Subject, witness: UntypedJson, *, inside: bool = False
) -> Iterator[Site]:
    """Yield the values of a witness to which keywords apply, the outermost first.

    With `inside`, also what applies because a branch of anyOf and the like holds.
    """
    start: tuple[Path, UntypedJson, Goals] = ((), witness, (subject.root,))
    queue = deque([start])
    for _ in range(_MOST):
        if not queue:
            return
        path, value, goals = queue.popleft()
        if inside:
            goals = (*goals, *_branches(subject, goals, value))
        shape = conjunction(subject, goals)
        pairs = pairs_of(shape)
        if pairs:
            yield Site(
                witness=witness, path=path, value=value, goals=goals, pairs=pairs
            )
        for step, each, inner in _members(shape, value):
            if inner:
                queue.append(((*path, step), each, inner))


def _members(
    shape: Shape, value: UntypedJson
) -> Iterator[tuple[str | int, UntypedJson, Goals]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield name, each, below(shape, name) or ()
    elif isinstance(value, list):
        for index, each in enumerate(value[:_ELEMENTS]):
            yield index, each, below(shape, index) or ()


def forbidden(subject: Subject, site: Site) -> Iterator[tuple[Pair, str | int]]:
    """Yield the properties that a plain `false` forbids where a site is."""
    shape = conjunction(subject, site.goals)
    names: dict[str, None] = {}
    for part in shape.places():
        members = part.schema.get("properties")
        if isinstance(members, dict):
            names.update(dict.fromkeys(e for e in members if members[e] is False))
    for name in names:
        for node in false_places(shape, name):
            yield Pair(node, FALSE), name


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


def holding(subject: Subject, witness: UntypedJson, path: Path) -> Goals:
    """Return what branches of anyOf and the like ask of a value that meets them.

    `property_nodes` and `item_nodes` follow what applies always; this follows what
    applies because the branch holds.
    """
    goals: Goals = (subject.root,)
    value = witness
    for step in (*path, None):
        if value is not ABSENT:
            goals = (*goals, *_branches(subject, goals, value))
        if step is None:
            break
        shape = conjunction(subject, goals)
        inner = (
            shape.item_nodes(step)
            if isinstance(step, int)
            else shape.property_nodes(step)
        )
        goals = inner or ()
        value = member(value, step)
    return goals


def _branches(subject: Subject, goals: Goals, value: UntypedJson) -> list[Node]:
    found: list[Node] = []
    pending = conjunction(subject, goals)
    for _ in range(3):
        new: list[Node] = []
        for choice in pending.choices:
            held = [each for each in choice.branches if subject.accepts(each, value)]
            new += held[:1]
        for holder in pending.conditionals:
            holds = subject.accepts(subject.child(holder, ("if",)), value)
            keyword = "then" if holds else "else"
            if keyword in holder.schema:
                new.append(subject.child(holder, (keyword,)))
        new = [each for each in new if each not in found and each not in goals]
        if not new:
            break
        found += new
        pending = conjunction(subject, tuple(new))
    return found

"""Values inside witnesses that a keyword can refuse."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Final

import msgspec

from curation.core.documents import ABSENT
from curation.core.json_types import Json
from curation.instances.constraints.conjunction import Goal, Goals, conjoin, with_member
from curation.instances.constraints.keyword_values import read_object
from curation.instances.judging.violations import FALSE
from curation.instances.near_misses.assertions import (
    Assertion,
    InstanceLocation,
    Path,
    goals_below,
    list_assertions,
)
from curation.json.text import canonical

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.schema.subschemas import SchemaLocation

#: Values of one witness looked at, the outermost first.
_MAX_VALUES: Final = 400
#: Elements of one array looked at.
_MAX_ELEMENTS: Final = 8
#: Branches that apply because a branch holds, and so on, are followed so far.
_DEEPEST_BRANCH: Final = 3


class EditSite(msgspec.Struct, frozen=True, kw_only=True):
    """One value of a witness."""

    witness: Json
    #: From the root of the witness to the value.
    path: Path
    value: Json
    goals: Goals
    #: The keywords that can refuse it.
    assertions: tuple[Assertion, ...]


def edit_sites(
    compiled: CompiledSchema, witness: Json, *, inside: bool = False
) -> Iterator[EditSite]:
    """Yield the values of a witness that keywords can refuse, the outermost first.

    Args:
        compiled: The schema that accepts the witness.
        witness: The value to look into.
        inside: Whether what applies because a branch of anyOf and the like holds
            counts too.
    """
    start: tuple[Path, Json, Goals] = ((), witness, (compiled.root,))
    queue = deque([start])
    for _ in range(_MAX_VALUES):
        if not queue:
            return
        path, value, goals = queue.popleft()
        if inside:
            goals = (*goals, *_held_branches(compiled, goals, value))
        conjunction = conjoin(compiled, goals)
        assertions = list_assertions(conjunction)
        if assertions:
            yield EditSite(
                witness=witness,
                path=path,
                value=value,
                goals=goals,
                assertions=assertions,
            )
        members: Iterable[tuple[str | int, Json]] = ()
        if isinstance(value, dict):
            members = value.items()
        elif isinstance(value, list):
            members = enumerate(value[:_MAX_ELEMENTS])
        for step, member in members:
            below = goals_below(conjunction, step)
            if below:
                queue.append(((*path, step), member, below))


def member_at(value: Json, step: str | int) -> Json:
    """Return a property or an element, or ABSENT."""
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    if isinstance(value, dict) and isinstance(step, str) and step in value:
        return value[step]
    return ABSENT


def with_edit(value: Json, path: Path, new: Json) -> Json:
    """Return a copy of a value with another at a path.

    Example:
        >>> with_edit({"a": [1, 2]}, ("a", 1), "two")
        {'a': [1, 'two']}
    """
    if not path:
        return new
    step, remaining = path[0], path[1:]
    if isinstance(value, list) and isinstance(step, int):
        inner = with_edit(value[step], remaining, new) if step < len(value) else new
        return [*value[:step], inner, *value[step + 1 :]]
    if isinstance(value, dict) and isinstance(step, str):
        return {**value, step: with_edit(value.get(step), remaining, new)}
    raise LookupError(step)


def cut_behind(compiled: CompiledSchema, goals: Goals, value: Json, path: Path) -> Json:
    """Return a value without the optional parts after a path.

    Args:
        compiled: The schema.
        goals: What the value must meet.
        value: The value.
        path: From there to a value inside of it, or to a new one.

    Example:
        >>> compiled = CompiledSchema.from_json({"required": ["c"]}, "2020-12")
        >>> value = {"a": 1, "b": 2, "c": 3}
        >>> cut_behind(compiled, (compiled.root,), value, ("a",))
        {'a': 1, 'c': 3}
    """
    if not path or member_at(value, path[0]) is ABSENT:
        return value
    step, remaining = path[0], path[1:]
    conjunction = conjoin(compiled, goals)
    below = conjunction.member_goals(step) or ()
    inner = cut_behind(compiled, below, member_at(value, step), remaining)
    if isinstance(value, list):
        stop = max(int(step) + 1, conjunction.counts.get("minItems", 0))
        return with_edit(value[:stop], (step,), inner)
    if not isinstance(value, dict):
        return value
    members: dict[str, Json] = {}
    for name, member in value.items():
        if step not in members or name in conjunction.required:
            members[name] = inner if name == step else member
    return members


def goals_for_path(path: Path) -> Goals:
    """Return goals that place a value of an instance at a path."""
    goals: Goals = ()
    for step in reversed(path):
        goals = (with_member(step, goals),)
    return goals


def goals_of_held_branches(
    compiled: CompiledSchema, witness: Json, path: Path
) -> Goals:
    """Return the goals of the value at a path, branches that hold included.

    `member_goals` follows only what applies to every value.
    """
    goals: Goals = (compiled.root,)
    value = witness
    for step in (*path, None):
        if value is not ABSENT:
            goals = (*goals, *_held_branches(compiled, goals, value))
        if step is None:
            break
        goals = conjoin(compiled, goals).member_goals(step) or ()
        value = member_at(value, step)
    return goals


def _held_branches(
    compiled: CompiledSchema, goals: Goals, value: Json
) -> list[SchemaLocation]:
    """Return the branches that accept a value, and what applies because they do."""
    locations: list[SchemaLocation] = []
    pending = conjoin(compiled, goals)
    for _ in range(_DEEPEST_BRANCH):
        branches_held: list[SchemaLocation] = []
        for choice in pending.choices:
            accepting = [
                branch for branch in choice.branches if compiled.accepts(branch, value)
            ]
            branches_held += accepting[:1]
        for holder in pending.conditionals:
            holds = compiled.accepts(compiled.child(holder, ("if",)), value)
            keyword = "then" if holds else "else"
            if keyword in holder.schema:
                branches_held.append(compiled.child(holder, (keyword,)))
        visited: set[Goal] = {*locations, *goals}
        new = [location for location in branches_held if location not in visited]
        if not new:
            break
        locations += new
        pending = conjoin(compiled, tuple(new))
    return locations


#: Sites kept for one assertion.
_MAX_SITES: Final = 3
#: Bytes of a witness that cost as much again as asking the validator at all.
_COSTLY_BYTES: Final = 4_000


class KnownSites:
    """Witnesses, and for each assertion the values in them that it can refuse."""

    def __init__(self, compiled: CompiledSchema) -> None:
        """Start with a schema, without witnesses."""
        self.witnesses: list[Json] = []
        self._compiled = compiled
        self._sites: dict[Assertion, list[EditSite]] = {}
        #: What a verdict on an edited witness costs, by the identity of the object.
        self._costs: dict[int, float] = {}
        #: Witnesses cut, by the identity of the whole one and the path.
        self._cut: dict[tuple[int, Path], Json] = {}

    def __contains__(self, assertion: Assertion) -> bool:
        """Return whether a site is known for an assertion."""
        return assertion in self._sites

    def of_assertion(self, assertion: Assertion) -> list[EditSite]:
        """Return the sites known for an assertion."""
        return self._sites.get(assertion, [])

    def cost(self, site: EditSite) -> float:
        """Return the cost of a verdict on the edited witness; 1 if it is small."""
        return self._costs[id(site.witness)]

    def cut(self, site: EditSite) -> EditSite:
        """Return a site in a witness that ends soon after it, if that is valid."""
        key = (id(site.witness), site.path)
        if key not in self._cut:
            compiled = self._compiled
            witness = cut_behind(compiled, (compiled.root,), site.witness, site.path)
            if not compiled.is_valid(witness):
                witness = site.witness
            self._costs[id(witness)] = self.cost(site)
            self._cut[key] = witness
        return msgspec.structs.replace(site, witness=self._cut[key])

    def add_witness(self, value: Json) -> None:
        """Add the sites of a value that the schema accepts."""
        self.witnesses.append(value)
        self._costs[id(value)] = 1 + len(canonical(value)) / _COSTLY_BYTES
        for site in edit_sites(self._compiled, value):
            for assertion in site.assertions:
                sites = self._sites.setdefault(assertion, [])
                if len(sites) < _MAX_SITES:
                    sites.append(site)
            for part in conjoin(self._compiled, site.goals).locations:
                for name, schema in read_object(part.schema, "properties").items():
                    if schema is False:
                        location = self._compiled.child(part, ("properties", name))
                        forbidden = Assertion(location, FALSE)
                        self._add_empty(forbidden, value, (*site.path, name), ())

    def add_empty(self, assertion: Assertion, location: InstanceLocation) -> None:
        """Add a site where the first witness that can have a value there has none."""
        if not location.path:
            return
        *above, token = location.path
        for witness in self.witnesses:
            holder = reduce(member_at, above, witness)
            if isinstance(token, str):
                fits = isinstance(holder, dict)
            else:
                fits = isinstance(holder, list) and token == len(holder)
            if fits:
                self._add_empty(assertion, witness, location.path, location.goals)
                return

    def _add_empty(
        self, assertion: Assertion, witness: Json, path: Path, goals: Goals
    ) -> None:
        site = EditSite(
            witness=witness, path=path, value=None, goals=goals, assertions=(assertion,)
        )
        self._sites.setdefault(assertion, []).append(site)

"""Reach of instances: the schema as a graph, its targets, and a guide towards them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from curation.instances.constraints.compiled_schema import CompiledSchema, memo
from curation.instances.constraints.keyword_values import (
    item_keywords,
    read_array,
    read_names,
    read_object,
)
from curation.schema.keywords import REFERENCE_KEYWORDS

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.schema.subschemas import SchemaLocation

#: Keywords without which a schema leads nowhere.
_LEADING: Final = frozenset(
    {
        *REFERENCE_KEYWORDS,
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "dependencies",
        "dependentSchemas",
        "properties",
        "patternProperties",
        "additionalProperties",
        "items",
        "prefixItems",
        "additionalItems",
    }
)
#: Maximum number of visited schemas of a record.
_MAX: Final = 30_000


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Where one schema leads."""

    #: Schemas that apply wherever it does: `$ref`, `allOf`.
    always: tuple[SchemaLocation, ...] = ()
    #: The branches of each `anyOf` and `oneOf`.
    unions: tuple[tuple[SchemaLocation, ...], ...] = ()
    #: `if`, `then` and `else`; an absent one is None.
    condition: SchemaLocation | None = None
    then: SchemaLocation | None = None
    otherwise: SchemaLocation | None = None
    #: What applies to an object that has a property: its name, and the schema.
    dependent: tuple[tuple[str, SchemaLocation], ...] = ()
    #: Schemas of properties, and of elements.
    properties: tuple[SchemaLocation, ...] = ()
    elements: tuple[SchemaLocation, ...] = ()

    @cached_property
    def same_value(self) -> tuple[SchemaLocation, ...]:
        """The schemas that apply, or may, to the same value."""
        return (
            *self.always,
            *(branch for branches in self.unions for branch in branches),
            *(location for location in (self.then, self.otherwise) if location),
            *(location for _, location in self.dependent),
        )

    @cached_property
    def members(self) -> tuple[SchemaLocation, ...]:
        """The schemas of properties and elements."""
        return self.properties + self.elements

    @cached_property
    def all(self) -> tuple[SchemaLocation, ...]:
        """The schemas for the same value, and for its members."""
        return self.same_value + self.members


_NOWHERE: Final = Steps()


class SchemaGraph:
    """The steps from each schema of a record, computed on demand.

    Example:
        >>> schema = {"properties": {"a": {"anyOf": [{}, {"items": {}}]}}}
        >>> compiled = CompiledSchema.from_json(schema, "draft-07")
        >>> [target.pointer for target in SchemaGraph(compiled).targets()]
        ['/properties/a', '/properties/a/anyOf/0', '/properties/a/anyOf/1', \
'/properties/a/anyOf/1/items']
    """

    def __init__(self, compiled: CompiledSchema) -> None:
        """Take the schema."""
        self.compiled = compiled
        #: Results of its methods (`memo`).
        self.memos: dict[object, Any] = {}
        self._steps: dict[SchemaLocation, Steps] = {}

    def steps(self, location: SchemaLocation) -> Steps:
        """Return the steps from a schema."""
        steps = self._steps.get(location)
        if steps is None:
            steps = self._steps[location] = self._worked_out(location)
        return steps

    @memo
    def near(
        self, location: SchemaLocation
    ) -> tuple[frozenset[SchemaLocation], frozenset[SchemaLocation]]:
        """Return the schemas for the value that a schema is about, and its members."""
        locations = self._of_same_value((location,))
        return locations, self.members(locations)

    def members(
        self, schemas: AbstractSet[SchemaLocation]
    ) -> frozenset[SchemaLocation]:
        """Return the schemas that may apply to a member of what these apply to."""
        return self._of_same_value(
            member for schema in schemas for member in self.steps(schema).members
        )

    def _of_same_value(
        self, locations: Iterable[SchemaLocation]
    ) -> frozenset[SchemaLocation]:
        visited = set(locations)
        stack = list(visited)
        while stack:
            for inner in self.steps(stack.pop()).same_value:
                if inner not in visited:
                    visited.add(inner)
                    stack.append(inner)
        return frozenset(visited)

    def targets(self) -> dict[SchemaLocation, None]:
        """Return every site and branch on a walk from the root, in its order."""
        root = self.compiled.root
        targets: dict[SchemaLocation, None] = {}
        queue, visited = [root], {root}
        for location in queue:
            steps = self.steps(location)
            for branches in steps.unions:
                if len(branches) > 1:
                    targets.update(dict.fromkeys(branches))
            targets.update(dict.fromkeys(steps.members))
            for inner in steps.all:
                if inner not in visited and len(visited) < _MAX:
                    visited.add(inner)
                    queue.append(inner)
        return targets

    def _worked_out(self, location: SchemaLocation) -> Steps:
        schema, compiled = location.schema, self.compiled
        if (
            not isinstance(schema, dict)
            or location.document
            or _LEADING.isdisjoint(schema)
        ):
            return _NOWHERE
        active, dialect = compiled.dialect.applicators, compiled.dialect
        targets = compiled.targets(location)
        always = [target for target in targets if not target.document]
        if "$ref" in schema and dialect.ref_hides_siblings:
            return Steps(always=tuple(always))

        def conditional(keyword: str) -> SchemaLocation | None:
            if "if" not in active or not {"if", keyword} <= schema.keys():
                return None
            branch = compiled.child(location, (keyword,))
            return None if branch.schema is False else branch

        return Steps(
            always=(*always, *compiled.branches(location, "allOf")),
            unions=tuple(
                compiled.branches(location, keyword)
                for keyword in ("anyOf", "oneOf")
                if read_array(schema, keyword)
            ),
            condition=conditional("if"),
            then=conditional("then"),
            otherwise=conditional("else"),
            dependent=tuple(
                (name, compiled.child(location, (keyword, name)))
                for keyword in ("dependencies", "dependentSchemas")
                if keyword in active
                for name, needs in read_object(schema, keyword).items()
                if isinstance(needs, dict)
            ),
            properties=tuple(self._properties(location)),
            elements=tuple(self._elements(location)),
        )

    def _properties(self, location: SchemaLocation) -> Iterator[SchemaLocation]:
        schema = location.schema
        if "type" in schema and "object" not in read_names(schema["type"]):
            return
        for keyword in ("properties", "patternProperties"):
            for name, member in read_object(schema, keyword).items():
                if member is not False:
                    yield self.compiled.child(location, (keyword, name))
        if isinstance(schema.get("additionalProperties"), dict):
            yield self.compiled.child(location, ("additionalProperties",))

    def _elements(self, location: SchemaLocation) -> Iterator[SchemaLocation]:
        schema, child = location.schema, self.compiled.child
        if "type" in schema and "array" not in read_names(schema["type"]):
            return
        prefix, remaining = item_keywords(schema, self.compiled.dialect)
        for index, member in enumerate(schema[prefix] if prefix else ()):
            if member is not False:
                yield child(location, (prefix, str(index)))
        if remaining and isinstance(schema[remaining], dict):
            yield child(location, (remaining,))


#: Values of one schema that may hold one another while nothing new is reached.
_NESTED: Final = 3
#: Pairs of a schema and a value looked at in one instance.
_MAX_PAIRS: Final = 50_000


def reached_by(graph: SchemaGraph, value: Json) -> set[SchemaLocation]:
    """Return the schemas that apply to a value or one inside of it, and hold.

    A branch holds where jsonschema-rs accepts the value by it.

    Args:
        graph: Of the schema.
        value: An instance that the schema accepts.
    """
    root = graph.compiled.root
    reached = {root}
    stack: list[tuple[SchemaLocation, Json]] = [(root, value)]
    visited = {(root, id(value))}
    while stack and len(visited) < _MAX_PAIRS:
        location, value = stack.pop()
        for inner, member in _applied(graph, location, value):
            key = (inner, id(member))
            if key not in visited:
                visited.add(key)
                reached.add(inner)
                stack.append((inner, member))
    return reached


def _applied(
    graph: SchemaGraph, location: SchemaLocation, value: Json
) -> Iterator[tuple[SchemaLocation, Json]]:
    """Yield the schemas that one applies, each with the value that it is about."""
    steps, accepts = graph.steps(location), graph.compiled.accepts
    same_value = [*steps.always]
    for branches in steps.unions:
        same_value += (branch for branch in branches if accepts(branch, value))
    if steps.condition is not None:
        holds = accepts(steps.condition, value)
        consequence = steps.then if holds else steps.otherwise
        same_value += () if consequence is None else (consequence,)
    members: Iterable[tuple[str | int, Json]] = ()
    if isinstance(value, dict):
        same_value += (inner for name, inner in steps.dependent if name in value)
        members = value.items() if steps.properties else ()
    elif isinstance(value, list) and steps.elements:
        members = enumerate(value)
    for inner in same_value:
        yield inner, value
    for step, member in members:
        for inner in graph.compiled.member_locations(location, step):
            yield inner, member


class Guide:
    """Choices that lead to an open target, while one value is built.

    A target that the value has reached is *claimed* and no longer open. A schema whose
    members have been chosen is *expanded*: where it recurs, only its branches count, so
    that values stay no larger than the schema. `mark` and `take_back` undo both.
    """

    def __init__(
        self,
        graph: SchemaGraph,
        targets: AbstractSet[SchemaLocation],
        limit: int,
        *,
        is_reversed: bool = False,
        turn: int = 0,
    ) -> None:
        """Take the open targets, and how many values may be made for them.

        Args:
            graph: Of the schema.
            targets: The open targets.
            limit: Values after which only required ones are made.
            is_reversed: Whether properties are chosen last first, undeclared ones
                before declared ones: each order reaches what the other does not.
            turn: By how many places the order of branches is turned.
        """
        self.turn = turn
        self.is_reversed = is_reversed
        self.graph = graph
        self.targets = targets
        self.limit = limit
        #: Claimed and expanded, in the order it happened.
        self._claimed: dict[SchemaLocation, None] = {}
        self._expanded: dict[SchemaLocation, None] = {}
        #: Schemas whose members may be chosen again.
        self._again: set[SchemaLocation] = set()
        #: Schemas of the values around the one that is being made: of each of these
        #: values the number of targets claimed when it was begun.
        self._around: dict[SchemaLocation, list[int]] = {}
        #: From each schema the next one on a way to a target, which may be closed now.
        self._next: dict[SchemaLocation, SchemaLocation] = {}
        #: Schemas from which nothing open is in reach.
        self._exhausted: set[SchemaLocation] = set()
        #: All that was ever claimed, taken back or not.
        self.tried: set[SchemaLocation] = set()

    @property
    def claimed(self) -> set[SchemaLocation]:
        """The targets claimed and not taken back."""
        return set(self._claimed)

    def is_open(self, location: SchemaLocation) -> bool:
        """Return whether a location is a target that is not claimed."""
        return location in self.targets and location not in self._claimed

    def wants(self, location: SchemaLocation) -> bool:
        """Return whether an open target is in reach from a location."""
        if location in self._exhausted:
            return False
        if self.is_open(location) or self._still_leads(location):
            return True
        queue, visited = [location], {location}
        before: dict[SchemaLocation, SchemaLocation] = {}
        # Asked of each choice: the fields are looked up once.
        exhausted, targets, claimed = self._exhausted, self.targets, self._claimed
        for current in queue:
            steps = self.graph.steps(current)
            for inner in steps.same_value if self._is_expanded(current) else steps.all:
                if inner in visited or inner in exhausted:
                    continue
                visited.add(inner)
                before[inner] = current
                queue.append(inner)
                if inner in targets and inner not in claimed:
                    target = inner
                    while target in before:
                        self._next[before[target]] = target
                        target = before[target]
                    return True
        self._exhausted |= visited
        return False

    def _still_leads(self, location: SchemaLocation) -> bool:
        """Return whether the last route from a location is still open."""
        current = location
        while current in self._next:
            inner = self._next[current]
            if self._is_expanded(current) and (
                inner not in self.graph.steps(current).same_value
            ):
                return False
            if self.is_open(inner):
                return True
            current = inner
        return False

    def wants_any(self, locations: Iterable[SchemaLocation]) -> bool:
        """Return whether an open target is in reach from one of several locations."""
        return any(map(self.wants, locations))

    def ordered(self, branches: Sequence[SchemaLocation]) -> Iterator[SchemaLocation]:
        """Yield open targets, then what leads to one, then the rest of branches."""
        offset = self.turn % len(branches) if branches else 0
        closed: list[SchemaLocation] = []
        useless: list[SchemaLocation] = []
        for branch in (*branches[offset:], *branches[:offset]):
            if self.is_open(branch):
                yield branch
            else:
                closed.append(branch)
        for branch in closed:
            if self.wants(branch):
                yield branch
            else:
                useless.append(branch)
        yield from useless

    def claim(self, locations: Iterable[SchemaLocation]) -> None:
        """Take targets for reached."""
        for location in locations:
            if self.is_open(location):
                self._claimed[location] = None
                self.tried.add(location)

    def _is_expanded(self, location: SchemaLocation) -> bool:
        """Return whether the members of a schema have been chosen by now."""
        return location in self._expanded and location not in self._again

    def expand_again(self, locations: Iterable[SchemaLocation]) -> bool:
        """Let the members of schemas be chosen again, where one of them is still open.

        Schemas for the same value count too. Values that are being built keep their
        own targets, or each would hold another of its kind.

        Returns:
            Whether there is such a member.
        """
        is_any = False
        for location in locations:
            same_value, members = self.graph.near(location)
            if not any(map(self.is_open, members)):
                continue
            schemas = same_value - self._around.keys()
            if len(schemas) == len(same_value) or any(
                map(self.is_open, self.graph.members(schemas))
            ):
                self._again |= schemas
                self._exhausted.clear()
                is_any = True
        return is_any

    @contextmanager
    def within(self, locations: Iterable[SchemaLocation]) -> Iterator[None]:
        """Know, while the members of a value are made, the schemas of that value."""
        schemas = list(locations)
        for schema in schemas:
            self._around.setdefault(schema, []).append(len(self._claimed))
        try:
            yield
        finally:
            for schema in schemas:
                self._around[schema].pop()
                if not self._around[schema]:
                    del self._around[schema]

    def affords(self, values_made: int, locations: Iterable[SchemaLocation]) -> bool:
        """Return whether a value may get more members than it must have.

        It may not once enough values are made, or if values of one of its schemas hold
        one another and nothing new was reached on the way.

        Args:
            values_made: The number of values in the whole instance so far.
            locations: Schemas of the value, which is being made (`within`).
        """
        return values_made < self.limit and not any(
            len(begun) >= _NESTED and begun[-_NESTED] == begun[-1]
            for location in locations
            if (begun := self._around.get(location))
        )

    def expand(self, locations: Iterable[SchemaLocation]) -> None:
        """Note that the members of schemas are chosen."""
        for location in locations:
            self._expanded.setdefault(location)
            self._again.discard(location)

    def mark(self) -> tuple[int, int]:
        """Return the state of the search."""
        return len(self._claimed), len(self._expanded)

    def take_back(self, mark: tuple[int, int]) -> None:
        """Forget what happened since a mark: the value was not taken."""
        if mark != self.mark():
            self._exhausted.clear()
        for entries, count in zip((self._claimed, self._expanded), mark, strict=True):
            while len(entries) > count:
                entries.popitem()


#: Where more schemas are entered for one value, no validator is asked: branches that
#: share definitions double what it does.
MAX_ENTERED: Final = 20_000
#: Schemas entered one from another; below, nothing more is counted.
_DEEPEST: Final = 200


def count_entered_schemas(compiled: CompiledSchema) -> int:
    """Return how many schemas a validator enters for one value, at most.

    Example:
        >>> schema = {"anyOf": [{"type": "string"}, {"not": {}}]}
        >>> count_entered_schemas(CompiledSchema.from_json(schema, "draft-07"))
        4
    """
    graph = SchemaGraph(compiled)
    counts: dict[SchemaLocation, int] = {}

    def count(start: SchemaLocation, depth: int) -> int:
        if start in counts or depth > _DEEPEST:
            return counts.get(start, 1)
        # What refers back to itself is counted once.
        counts[start] = 1
        entered = list(graph.steps(start).same_value)
        entered += [
            compiled.child(start, (keyword,))
            for keyword in ("if", "not")
            if keyword in start.keywords
        ]
        counts[start] += sum(count(inner, depth + 1) for inner in entered)
        return counts[start]

    return count(compiled.root, 0)

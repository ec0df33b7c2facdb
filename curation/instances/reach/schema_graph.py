"""The schemas of a record as a graph: which apply to the same value, which to members.

A *site* is a subschema of a property or an element, a *branch* a member of an `anyOf`
or `oneOf` that has two or more. Both are *targets*: what witnesses are to reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.keyword_values import (
    array_of,
    item_keywords,
    names_of,
    object_of,
)
from curation.schema.keywords import REFERENCE_KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.json.pointer import Tokens
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
#: Schemas of one record that are visited.
_MOST: Final = 30_000


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
            *(place for place in (self.then, self.otherwise) if place),
            *(place for _, place in self.dependent),
        )

    @cached_property
    def members(self) -> tuple[SchemaLocation, ...]:
        """The schemas of properties and elements."""
        return self.properties + self.elements

    @cached_property
    def all(self) -> tuple[SchemaLocation, ...]:
        """The schemas for the same value, and those of its members."""
        return self.same_value + self.members


_NOWHERE: Final = Steps()


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """What one schema says of a value and of the members of that value."""

    #: It, and the schemas that may apply to the same value.
    same_value: frozenset[SchemaLocation]
    #: Those that may apply to a member.
    members: frozenset[SchemaLocation]


class SchemaGraph:
    """The steps from each schema of a record, worked out where they are asked for.

    Example:
        >>> from curation.instances.constraints.compiled_schema import CompiledSchema
        >>> schema = {"properties": {"a": {"anyOf": [{}, {"items": {}}]}}}
        >>> compiled = CompiledSchema.from_json(schema, "draft-07")
        >>> [target.pointer for target in SchemaGraph(compiled).targets()]
        ['/properties/a', '/properties/a/anyOf/0', '/properties/a/anyOf/1', \
'/properties/a/anyOf/1/items']
    """

    def __init__(self, compiled: CompiledSchema) -> None:
        """Take the schema."""
        self.compiled = compiled
        self._steps: dict[SchemaLocation, Steps] = {}
        self._near: dict[SchemaLocation, Near] = {}

    def steps(self, location: SchemaLocation) -> Steps:
        """Return where a schema leads."""
        found = self._steps.get(location)
        if found is None:
            found = self._steps[location] = self._worked_out(location)
        return found

    def near(self, location: SchemaLocation) -> Near:
        """Return the schemas for the value that a schema is about, and its members."""
        found = self._near.get(location)
        if found is None:
            own = self._of_same_value((location,))
            found = Near(same_value=own, members=self.members(own))
            self._near[location] = found
        return found

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
        """Return schemas with all that may apply to the same values."""
        seen = set(locations)
        stack = list(seen)
        while stack:
            for inner in self.steps(stack.pop()).same_value:
                if inner not in seen:
                    seen.add(inner)
                    stack.append(inner)
        return frozenset(seen)

    def targets(self) -> dict[SchemaLocation, None]:
        """Return every site and branch that a walk from the root meets, in its order.

        What stands outside of the record, in a metaschema, is left out.
        """
        root = self.compiled.root
        found: dict[SchemaLocation, None] = {}
        queue, seen = [root], {root}
        for location in queue:
            steps = self.steps(location)
            for branches in steps.unions:
                if len(branches) > 1:
                    found.update(dict.fromkeys(branches))
            found.update(dict.fromkeys(steps.members))
            for inner in steps.all:
                if inner not in seen and len(seen) < _MOST:
                    seen.add(inner)
                    queue.append(inner)
        return found

    def _worked_out(self, location: SchemaLocation) -> Steps:
        schema, compiled = location.schema, self.compiled
        if (
            not isinstance(schema, dict)
            or location.document
            or _LEADING.isdisjoint(schema)
        ):
            return _NOWHERE
        active, dialect = compiled.dialect.applicators, compiled.dialect
        always = [
            target
            for keyword in REFERENCE_KEYWORDS
            if keyword in schema
            and (target := compiled.target(location, keyword)) is not None
            and not target.document
        ]
        if "$ref" in schema and dialect.ref_hides_siblings:
            return Steps(always=tuple(always))
        conditional = "if" in schema and "if" in active
        return Steps(
            always=(*always, *self._listed(location, "allOf")),
            unions=tuple(
                self._listed(location, keyword)
                for keyword in ("anyOf", "oneOf")
                if array_of(schema, keyword)
            ),
            condition=self._below(location, ("if",)) if conditional else None,
            then=self._below(location, ("then",)) if conditional else None,
            otherwise=self._below(location, ("else",)) if conditional else None,
            dependent=tuple(
                (name, compiled.child(location, (keyword, name)))
                for keyword in ("dependencies", "dependentSchemas")
                if keyword in active
                for name, needs in object_of(schema, keyword).items()
                if isinstance(needs, dict)
            ),
            properties=tuple(self._properties(location)),
            elements=tuple(self._elements(location)),
        )

    def _listed(
        self, location: SchemaLocation, keyword: str
    ) -> tuple[SchemaLocation, ...]:
        count = len(array_of(location.schema, keyword))
        child = self.compiled.child
        return tuple(child(location, (keyword, str(index))) for index in range(count))

    def _below(self, location: SchemaLocation, tokens: Tokens) -> SchemaLocation | None:
        """Return a subschema, or None where none stands or it is `false`."""
        if tokens[0] not in location.schema:
            return None
        found = self.compiled.child(location, tokens)
        return None if found.schema is False else found

    def _properties(self, location: SchemaLocation) -> Iterator[SchemaLocation]:
        schema = location.schema
        if "type" in schema and "object" not in names_of(schema["type"]):
            return
        for keyword in ("properties", "patternProperties"):
            for name, member in object_of(schema, keyword).items():
                if member is not False:
                    yield self.compiled.child(location, (keyword, name))
        if isinstance(schema.get("additionalProperties"), dict):
            yield self.compiled.child(location, ("additionalProperties",))

    def _elements(self, location: SchemaLocation) -> Iterator[SchemaLocation]:
        schema, child = location.schema, self.compiled.child
        if "type" in schema and "array" not in names_of(schema["type"]):
            return
        prefix, rest = item_keywords(schema, self.compiled.dialect)
        for index, member in enumerate(schema[prefix] if prefix else ()):
            if member is not False:
                yield child(location, (prefix, str(index)))
        if rest and isinstance(schema[rest], dict):
            yield child(location, (rest,))

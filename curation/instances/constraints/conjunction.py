"""Goals, and the conjunction of all that applies to one value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from curation.core.json_types import Json
from curation.instances.constraints.compiled_schema import CompiledSchema, memo
from curation.instances.constraints.keyword_values import (
    accepts_everything,
    item_keywords,
    object_of,
)
from curation.instances.values.numbers import NumberConstraints
from curation.instances.values.strings import StringConstraints
from curation.schema.subschemas import SchemaLocation

#: "integer" and "number" are disjoint here: whole numbers, and the others.
ALL_TYPES: Final = ("string", "object", "array", "integer", "number", "boolean", "null")


@dataclass(frozen=True, slots=True)
class Negation:
    """The schema at this location must refuse the value."""

    location: SchemaLocation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExtraConstraint:
    """A constraint that stands nowhere in the schema, but a search needs."""

    #: Ordinary keywords: type, required, bounds, lengths.
    schema: Mapping[str, Json] = field(default_factory=dict)
    #: The types left, of `ALL_TYPES`; None for all.
    types: tuple[str, ...] | None = None
    #: Names that the object must not have.
    forbidden: tuple[str, ...] = ()
    #: Values that it must not be.
    excluded: tuple[Json, ...] = ()
    #: Numbers that it must not be a multiple of.
    not_multiples: tuple[float, ...] = ()
    #: Whether two elements must be equal.
    duplicate: bool = False
    #: What the name of one more property must meet; empty if none is needed.
    extra_name: tuple[Goal, ...] = ()
    #: What every element must meet besides.
    every: tuple[Goal, ...] = ()
    #: Patterns that the string must not match.
    not_patterns: tuple[str, ...] = ()
    #: What single properties, by name, or elements, by index, must meet besides.
    members: Mapping[str | int, tuple[Goal, ...]] = field(default_factory=dict)


Goal = SchemaLocation | Negation | ExtraConstraint
Goals = tuple[Goal, ...]


def with_member(step: str | int, goals: Goals) -> ExtraConstraint:
    """Return a constraint that a property or an element is there and meets goals.

    Args:
        step: The name of the property, or the index of the element.
        goals: What it must meet.
    """
    kind, schema = ("object",), dict[str, Json](required=[step])
    if isinstance(step, int):
        kind, schema = ("array",), {"minItems": step + 1}
    return ExtraConstraint(types=kind, schema=schema, members={step: goals})


@dataclass(frozen=True, slots=True)
class BranchChoice:
    """An anyOf or oneOf: one branch is to be picked."""

    #: `anyOf` or `oneOf`.
    keyword: str
    branches: tuple[SchemaLocation, ...]


@dataclass(frozen=True, slots=True)
class Dependency:
    """What an object must meet if it has a property of a name."""

    name: str
    #: Names that become required, or a schema that applies.
    needs: tuple[str, ...] | SchemaLocation


@dataclass(frozen=True, slots=True)
class Containment:
    """How many elements the schema of `contains` must accept."""

    location: SchemaLocation
    least: int
    #: None if any number may.
    most: int | None


class Conjunction(msgspec.Struct, kw_only=True, eq=False):
    """What one value of an instance must meet, all at once.

    Of several bounds the tightest is kept, of several patterns all. What needs a
    decision (`choices`, `conditionals`, `dependencies`, `negations`) is listed.
    `conjoin` makes it; nothing changes it afterwards.
    """

    #: The schema that the goals are from.
    tree: CompiledSchema
    goals: Goals
    #: The schema objects and extra constraints of the goals, references followed.
    parts: list[SchemaLocation | ExtraConstraint] = msgspec.field(default_factory=list)
    #: The schema objects among them.
    locations: list[SchemaLocation] = msgspec.field(default_factory=list)
    #: Those left of `ALL_TYPES`.
    types: tuple[str, ...] = ALL_TYPES
    #: Whether some part names types.
    typed: bool = False
    #: The values of enum and const that are left; None if any may stand.
    values: list[Json] | None = None
    #: Values that it must not be.
    excluded: list[Json] = msgspec.field(default_factory=list)
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: float | None = None
    exclusive_maximum: float | None = None
    multiples: list[float] = msgspec.field(default_factory=list)
    min_length: int = 0
    max_length: int | None = None
    patterns: list[str] = msgspec.field(default_factory=list)
    not_patterns: list[str] = msgspec.field(default_factory=list)
    formats: list[str] = msgspec.field(default_factory=list)
    min_items: int = 0
    max_items: int | None = None
    #: Whether all elements must differ.
    unique: bool = False
    contains: list[Containment] = msgspec.field(default_factory=list)
    #: Names in the order they are asked for.
    required: dict[str, None] = msgspec.field(default_factory=dict)
    #: Names of properties that must not be there.
    forbidden: set[str] = msgspec.field(default_factory=set)
    min_properties: int = 0
    max_properties: int | None = None
    #: Schemas that each property name must meet.
    name_locations: list[SchemaLocation] = msgspec.field(default_factory=list)
    choices: list[BranchChoice] = msgspec.field(default_factory=list)
    #: Schemas with `if`, and `then` or `else`.
    conditionals: list[SchemaLocation] = msgspec.field(default_factory=list)
    dependencies: list[Dependency] = msgspec.field(default_factory=list)
    negations: list[Negation] = msgspec.field(default_factory=list)
    #: Schemas that must be asked about the finished value: merging lost something.
    unverified: list[SchemaLocation] = msgspec.field(default_factory=list)
    #: Schemas with `unevaluatedItems` or `unevaluatedProperties`.
    unevaluated: list[SchemaLocation] = msgspec.field(default_factory=list)
    #: Of a schema that is referred to, or stands in `allOf`, those that it applies to.
    referrers: dict[SchemaLocation, list[SchemaLocation]] = msgspec.field(
        default_factory=dict
    )
    #: Why nothing can meet it; empty where nothing is known against it.
    impossible: str = ""
    #: Numbers that it must not be a multiple of.
    not_multiples: list[float] = msgspec.field(default_factory=list)
    #: Whether two elements must be equal.
    duplicate: bool = False
    #: What the name of one more property must meet, for each that is needed.
    extra_names: list[Goals] = msgspec.field(default_factory=list)
    #: Results of functions about the conjunction (`memo`).
    memos: dict[object, Any] = msgspec.field(default_factory=dict)

    @property
    def is_decided(self) -> bool:
        """Whether nothing is left to decide, and a value need not be judged."""
        return not (
            self.choices
            or self.negations
            or self.unverified
            or self.excluded
            or self.impossible
        )

    @memo
    def number(self, kind: str, name: str) -> NumberConstraints:
        """Return what a number must meet.

        Args:
            kind: `integer` if it must be a whole number, else `number`.
            name: The name of the property, a hint for realistic values.
        """
        return NumberConstraints(
            integer=kind == "integer",
            minimum=self.minimum,
            maximum=self.maximum,
            exclusive_minimum=self.exclusive_minimum,
            exclusive_maximum=self.exclusive_maximum,
            multiples=tuple(self.multiples),
            name=name,
            format=self.formats[0] if self.formats else "",
        )

    @memo
    def string(self, name: str) -> StringConstraints:
        """Return what a string must meet.

        Args:
            name: The name of the property, a hint for realistic values.
        """
        return StringConstraints(
            min_length=self.min_length,
            max_length=self.max_length,
            patterns=tuple(self.patterns),
            formats=tuple(self.formats),
            not_patterns=tuple(self.not_patterns),
            name=name,
            dialect=self.tree.dialect.name,
        )

    @memo
    def member_goals(self, step: str | int) -> Goals | None:
        """Return what a property or an element must meet; None if it must not be.

        Args:
            step: The name of the property, or the index of the element.
        """
        if step in self.forbidden:
            return None
        goals: list[Goal] = []
        for part in self.parts:
            if isinstance(part, ExtraConstraint):
                goals.extend(part.members.get(step, ()))
                goals.extend(part.every if isinstance(step, int) else ())
            else:
                goals.extend(self.tree.member_locations(part, step))
        keyword = (
            "unevaluatedItems" if isinstance(step, int) else "unevaluatedProperties"
        )
        for holder in self.unevaluated:
            evaluated = keyword not in holder.schema or any(
                self.tree.member_locations(part, step)
                for part in self.locations
                if self.is_inside(part, holder)
            )
            if not evaluated:
                goals.append(self.tree.child(holder, (keyword,)))
        return _without_true(goals)

    @memo
    def member_sites(self, step: str | int) -> list[SchemaLocation]:
        """Return the schemas that the parts apply to a member, `true` included.

        Args:
            step: The name of the property, or the index of the element.
        """
        return [
            site
            for part in self.locations
            for site in self.tree.member_locations(part, step)
        ]

    def is_inside(
        self,
        part: SchemaLocation,
        holder: SchemaLocation,
        visited: tuple[SchemaLocation, ...] = (),
    ) -> bool:
        """Return whether a schema applies as a part of another one."""
        if part is holder:
            return True
        same = part.document == holder.document
        if same and part.tokens[: len(holder.tokens)] == holder.tokens:
            return True
        return any(
            self.is_inside(referrer, holder, (*visited, part))
            for referrer in self.referrers.get(part, ())
            if referrer not in visited
        )

    def goal_locations(self) -> Iterator[SchemaLocation]:
        """Yield the schema locations among goals and parts, some of them twice."""
        for part in (*self.goals, *self.parts):
            if isinstance(part, SchemaLocation):
                yield part

    def named_members(self, keyword: str) -> dict[str, None]:
        """Return the names in `properties` or `patternProperties`, each once."""
        return {
            name: None
            for part in self.locations
            for name in object_of(part.schema, keyword)
        }

    def is_map(self) -> bool:
        """Return whether there is a schema for properties that are not declared."""
        return any(
            isinstance(part.schema.get("additionalProperties"), dict)
            for part in self.locations
        )

    def prefix_length(self) -> int:
        """Return how many elements have a schema of their own."""
        lengths = [0]
        for part in self.parts:
            if isinstance(part, SchemaLocation):
                prefix, _ = item_keywords(part.schema, self.tree.dialect)
                lengths.append(len(part.schema[prefix]) if prefix else 0)
        return max(lengths)


def _without_true(goals: list[Goal]) -> Goals | None:
    """Return the goals that ask for something, each once; None if one is `false`."""
    distinct: dict[Goal, None] = {}
    for goal in goals:
        if isinstance(goal, SchemaLocation):
            if goal.schema is False:
                return None
            if accepts_everything(goal.schema):
                continue
        distinct[goal] = None
    return tuple(distinct)

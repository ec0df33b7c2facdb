"""What a value is to meet: schemas, their negations, and constraints of a search.

A tuple of goals means all of them at once. `conjoin` merges it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from curation.schema.subschemas import SchemaLocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json


#: "integer" and "number" are disjoint here: whole numbers, and the others.
ALL_TYPES: Final = (
    "string",
    "object",
    "array",
    "integer",
    "number",
    "boolean",
    "null",
)


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
    #: What single properties must meet besides.
    members: Mapping[str, tuple[Goal, ...]] = field(default_factory=dict)
    #: What single elements must meet besides.
    elements: Mapping[int, tuple[Goal, ...]] = field(default_factory=dict)


Goal = SchemaLocation | Negation | ExtraConstraint
Goals = tuple[Goal, ...]


@dataclass(frozen=True, slots=True)
class BranchChoice:
    """An anyOf or oneOf: one branch is to be picked."""

    #: `anyOf` or `oneOf`.
    keyword: str
    #: The schema that holds the keyword.
    holder: SchemaLocation
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
    #: None where any number may.
    most: int | None

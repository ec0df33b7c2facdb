"""What a value must meet: places, their negations, and atoms made by the search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.schema.locations import SchemaLocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson


@dataclass(frozen=True, slots=True)
class Negation:
    """The schema of this place must refuse the value."""

    location: SchemaLocation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Atom:
    """A constraint that no place spells out, but the search needs."""

    #: Ordinary keywords: type, required, bounds, lengths.
    schema: Mapping[str, UntypedJson] = field(default_factory=dict)
    #: The types left, of `merging.ALL_TYPES`; None for all.
    types: tuple[str, ...] | None = None
    #: Names that the object must not have.
    forbidden: tuple[str, ...] = ()
    #: Values that it must not be.
    excluded: tuple[UntypedJson, ...] = ()
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


Goal = SchemaLocation | Negation | Atom
Goals = tuple[Goal, ...]


@dataclass(frozen=True, slots=True)
class BranchChoice:
    """An anyOf or oneOf: one branch is to be picked."""

    keyword: str
    holder: SchemaLocation
    branches: tuple[SchemaLocation, ...]


@dataclass(frozen=True, slots=True)
class Dependency:
    """What a property brings with it."""

    name: str
    #: Names that become required, or a place that applies.
    needs: tuple[str, ...] | SchemaLocation


@dataclass(frozen=True, slots=True)
class Containment:
    """How many elements a place must accept."""

    location: SchemaLocation
    least: int
    most: int | None

"""Everything that applies at one place of an instance, as one conjunction.

`$ref`, `allOf` and sibling keywords are merged per dialect; what needs a decision
(anyOf, oneOf, not, if, dependencies) is kept as a list for `choices`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.instances.constraints.admission import admits, conflict
from curation.instances.constraints.goals import (
    Atom,
    BranchChoice,
    Containment,
    Dependency,
    Goal,
    Goals,
    Negation,
)
from curation.instances.constraints.likely_types import likely_types
from curation.instances.constraints.merging import ALL_TYPES, merge
from curation.instances.scalars.numbers import NumberShape
from curation.instances.scalars.strings import StringShape, matches
from curation.schema.dialects import DRAFT_2020_12
from curation.schema.keywords import REFERENCE_KEYWORDS
from curation.schema.locations import SchemaLocation

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.compiled_schema import CompiledSchema

#: How deep required properties are looked into for a contradiction.
_LOOK_AHEAD = 3


@dataclass(slots=True, kw_only=True, eq=False)
class Conjunction:
    """A conjunction. Nothing changes it once `conjunction` has returned it."""

    compiled: CompiledSchema
    goals: Goals
    parts: list[SchemaLocation | Atom] = field(default_factory=list)
    #: Of ALL_TYPES; "number" stands for numbers that are no integers.
    types: tuple[str, ...] = ALL_TYPES
    #: Whether some part names types.
    typed: bool = False
    #: The values of enum and const that are left; None where any may stand.
    values: list[UntypedJson] | None = None
    excluded: list[UntypedJson] = field(default_factory=list)
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: float | None = None
    exclusive_maximum: float | None = None
    multiples: list[float] = field(default_factory=list)
    min_length: int = 0
    max_length: int | None = None
    patterns: list[str] = field(default_factory=list)
    not_patterns: list[str] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)
    min_items: int = 0
    max_items: int | None = None
    unique: bool = False
    contains: list[Containment] = field(default_factory=list)
    #: Names in the order they are asked for.
    required: dict[str, None] = field(default_factory=dict)
    forbidden: set[str] = field(default_factory=set)
    min_properties: int = 0
    max_properties: int | None = None
    name_locations: list[SchemaLocation] = field(default_factory=list)
    choices: list[BranchChoice] = field(default_factory=list)
    conditionals: list[SchemaLocation] = field(default_factory=list)
    dependencies: list[Dependency] = field(default_factory=list)
    negations: list[Negation] = field(default_factory=list)
    #: Places whose verdict on the finished value must be asked for.
    risky: list[SchemaLocation] = field(default_factory=list)
    unevaluated: list[SchemaLocation] = field(default_factory=list)
    referrers: dict[SchemaLocation, list[SchemaLocation]] = field(default_factory=dict)
    #: Why nothing can meet it; empty where nothing is known against it.
    impossible: str = ""
    not_multiples: list[float] = field(default_factory=list)
    duplicate: bool = False
    extra_names: list[Goals] = field(default_factory=list)
    #: What each property must meet, as far as asked.
    members: dict[str, Goals | None] = field(default_factory=dict)
    #: What is asked for again and again.
    leaves: dict[tuple[bool | None, str], NumberShape | StringShape] = field(
        default_factory=dict
    )
    order: tuple[str, ...] | None = None
    examples: list[UntypedJson] | None = None
    #: What looking ahead has found, by depth.
    looked: dict[int, str] = field(default_factory=dict)

    @property
    def likely(self) -> tuple[str, ...]:
        """The types to try, the likely ones first."""
        if self.order is None:
            self.order = likely_types(self)
        return self.order

    @property
    def given(self) -> list[UntypedJson]:
        """What the schema gives as examples and defaults, as far as admitted."""
        if self.examples is None:
            found = [each for part in self.parts for each in _examples(part.schema)]
            self.examples = [each for each in found if admits(self, each)]
        return self.examples

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to decide, and a value need not be judged."""
        return not (
            self.choices
            or self.negations
            or self.risky
            or self.excluded
            or self.impossible
        )

    def number(self, *, integer: bool, name: str) -> NumberShape:
        """Return what a number must meet."""
        found = self.leaves.get((integer, name))
        if not isinstance(found, NumberShape):
            found = self.leaves[integer, name] = NumberShape(
                integer=integer,
                minimum=self.minimum,
                maximum=self.maximum,
                exclusive_minimum=self.exclusive_minimum,
                exclusive_maximum=self.exclusive_maximum,
                multiples=tuple(self.multiples),
                name=name,
                format=self.formats[0] if self.formats else "",
            )
        return found

    def string(self, *, name: str) -> StringShape:
        """Return what a string must meet."""
        found = self.leaves.get((None, name))
        if not isinstance(found, StringShape):
            found = self.leaves[None, name] = StringShape(
                min_length=self.min_length,
                max_length=self.max_length,
                patterns=tuple(self.patterns),
                formats=tuple(self.formats),
                not_patterns=tuple(self.not_patterns),
                name=name,
                dialect=self.compiled.dialect.name,
            )
        return found

    def property_goals(self, name: str) -> Goals | None:
        """Return what a property of that name must meet; None if it must not be."""
        if name not in self.members:
            self.members[name] = self._property_goals(name)
        return self.members[name]

    def _property_goals(self, name: str) -> Goals | None:
        if name in self.forbidden:
            return None
        goals: list[Goal] = []
        for part in self.parts:
            if isinstance(part, Atom):
                goals.extend(part.members.get(name, ()))
            else:
                goals.extend(self._of_property(part, name)[0])
        goals.extend(self._unevaluated_property(name))
        return _without_true(goals)

    def _of_property(
        self, part: SchemaLocation, name: str
    ) -> tuple[list[SchemaLocation], bool]:
        """Return what one place asks of a property, and whether it evaluates it."""
        schema, child = part.schema, self.compiled.child
        locations: list[SchemaLocation] = []
        if name in _object(schema, "properties"):
            locations.append(child(part, ("properties", name)))
        locations += [
            child(part, ("patternProperties", pattern))
            for pattern in _object(schema, "patternProperties")
            if matches(StringShape(patterns=(pattern,)), name)
        ]
        if locations:
            return locations, True
        if "additionalProperties" in schema:
            return [child(part, ("additionalProperties",))], True
        return [], False

    def _unevaluated_property(self, name: str) -> list[SchemaLocation]:
        found = []
        for holder in self.unevaluated:
            if "unevaluatedProperties" not in holder.schema:
                continue
            evaluated = any(
                self._of_property(part, name)[1]
                for part in self.locations()
                if self.is_inside(part, holder)
            )
            if not evaluated:
                found.append(self.compiled.child(holder, ("unevaluatedProperties",)))
        return found

    def is_inside(
        self,
        part: SchemaLocation,
        holder: SchemaLocation,
        seen: tuple[SchemaLocation, ...] = (),
    ) -> bool:
        """Tell whether a place applies as part of another one."""
        if part is holder:
            return True
        same = part.document == holder.document
        if same and part.tokens[: len(holder.tokens)] == holder.tokens:
            return True
        return any(
            self.is_inside(each, holder, (*seen, part))
            for each in self.referrers.get(part, ())
            if each not in seen
        )

    def item_goals(self, index: int) -> Goals | None:
        """Return what an element must meet; None if it must not be there."""
        goals: list[Goal] = []
        for part in self.parts:
            if isinstance(part, Atom):
                goals.extend(part.elements.get(index, ()))
                goals.extend(part.every)
            else:
                goals.extend(self.item_locations(part, index))
        for holder in self.unevaluated:
            evaluated = "unevaluatedItems" not in holder.schema or any(
                self.item_locations(part, index)
                for part in self.locations()
                if self.is_inside(part, holder)
            )
            if not evaluated:
                goals.append(self.compiled.child(holder, ("unevaluatedItems",)))
        return _without_true(goals)

    def item_locations(self, part: SchemaLocation, index: int) -> list[SchemaLocation]:
        """Return what one place asks of an element."""
        schema, child = part.schema, self.compiled.child
        prefix, rest = item_keywords(schema, self.compiled)
        if prefix and index < len(schema[prefix]):
            return [child(part, (prefix, str(index)))]
        return [child(part, (rest,))] if rest else []

    def locations(self) -> list[SchemaLocation]:
        """Return the places among the parts."""
        return [each for each in self.parts if isinstance(each, SchemaLocation)]

    def is_map(self) -> bool:
        """Tell whether properties that nobody declares have a schema of their own."""
        return any(
            isinstance(each.schema.get("additionalProperties"), dict)
            for each in self.locations()
        )

    def prefix_length(self) -> int:
        """Return how many elements have a schema of their own."""
        lengths = [0]
        for part in self.parts:
            if isinstance(part, SchemaLocation):
                prefix, _ = item_keywords(part.schema, self.compiled)
                lengths.append(len(part.schema[prefix]) if prefix else 0)
        return max(lengths)


def item_keywords(schema: UntypedJson, compiled: CompiledSchema) -> tuple[str, str]:
    """Return the keywords for the first elements and for the rest; empty if none."""
    if compiled.dialect is DRAFT_2020_12:
        prefix = "prefixItems" if isinstance(schema.get("prefixItems"), list) else ""
        return prefix, "items" if "items" in schema else ""
    if isinstance(schema.get("items"), list):
        return "items", "additionalItems" if "additionalItems" in schema else ""
    return "", "items" if "items" in schema else ""


def _examples(schema: UntypedJson) -> list[UntypedJson]:
    examples = schema.get("examples")
    found = list(examples) if isinstance(examples, list) else []
    found.append(schema.get("default"))
    return [each for each in found if each not in (None, "", [], {})]


def is_trivial(schema: UntypedJson) -> bool:
    """Tell whether a schema plainly accepts everything."""
    return schema is True or schema == {}


def _object(schema: UntypedJson, keyword: str) -> dict[str, UntypedJson]:
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def _without_true(goals: list[Goal]) -> Goals | None:
    kept: dict[Goal, None] = {}
    for each in goals:
        schema = each.schema if isinstance(each, SchemaLocation) else {"": None}
        if schema is False:
            return None
        if not is_trivial(schema):
            kept[each] = None
    return tuple(kept)


def conjoin(compiled: CompiledSchema, goals: Goals) -> Conjunction:
    """Return the conjunction of goals, as far as it needs no decision."""
    found = compiled.conjunctions.get(goals)
    if found is None:
        found = Conjunction(compiled=compiled, goals=goals)
        _flatten(found)
        for part in found.parts:
            merge(found, part)
        _settle(found)
        compiled.conjunctions[goals] = found
    return found


def _flatten(shape: Conjunction) -> None:
    compiled = shape.compiled
    stack = list(reversed(shape.goals))
    seen: set[Goal] = set()
    while stack:
        each = stack.pop()
        if each in seen:
            continue
        seen.add(each)
        if isinstance(each, Negation):
            shape.negations.append(each)
        elif isinstance(each, Atom):
            shape.parts.append(each)
        elif not isinstance(each.schema, dict):
            if each.schema is False:
                shape.impossible = f"{each.pointer} is false"
        else:
            inner = _included(compiled, each)
            for target in inner:
                shape.referrers.setdefault(target, []).append(each)
            if not (compiled.dialect.ref_hides_siblings and "$ref" in each.schema):
                shape.parts.append(each)
            stack.extend(reversed(inner))


def _included(
    compiled: CompiledSchema, location: SchemaLocation
) -> list[SchemaLocation]:
    """Return the places that apply wherever this one does."""
    schema = location.schema
    found = []
    for keyword in REFERENCE_KEYWORDS:
        target = compiled.target(location, keyword) if keyword in schema else None
        if target is not None:
            found.append(target)
    if "$ref" in schema and compiled.dialect.ref_hides_siblings:
        return found
    members = schema.get("allOf")
    if isinstance(members, list):
        found += [
            compiled.child(location, ("allOf", str(index)))
            for index in range(len(members))
        ]
    return found


def _settle(shape: Conjunction) -> None:
    """Drop the types and values that plainly contradict the rest."""
    shape.types = tuple(each for each in shape.types if not conflict(shape, each))
    if shape.values is not None:
        shape.values = [each for each in shape.values if admits(shape, each)]
    for each in shape.negations:
        if is_trivial(each.location.schema):
            shape.impossible = f"{each.location.pointer} accepts everything"
    if shape.impossible:
        return
    if not shape.types:
        shape.impossible = "no type is left"
    elif shape.values is not None and not shape.values:
        shape.impossible = "no value of enum or const is left"


def contradiction(shape: Conjunction, depth: int = _LOOK_AHEAD) -> str:
    """Return why nothing can meet a shape, required properties considered."""
    if shape.impossible or not depth or shape.types != ("object",):
        return shape.impossible
    found = shape.looked.get(depth)
    if found is None:
        found = shape.looked[depth] = _required_conflict(shape, depth)
    return found


def _required_conflict(shape: Conjunction, depth: int) -> str:
    for name in shape.required:
        goals = shape.property_goals(name)
        if goals:
            why = contradiction(conjoin(shape.compiled, goals), depth - 1)
            if why:
                return f"the required property {name!r}: {why}"
    return ""

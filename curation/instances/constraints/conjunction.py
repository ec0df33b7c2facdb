"""Goals, and the conjunction of all that applies to one value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from curation.core.json_types import Json
from curation.instances.constraints.compiled_schema import CompiledSchema, memo
from curation.instances.constraints.keyword_values import (
    DECIDING,
    accepts_everything,
    item_keywords,
    read_array,
    read_names,
    read_object,
)
from curation.instances.values import formats
from curation.instances.values.numbers import NumberConstraints, in_bounds
from curation.instances.values.strings import StringConstraints, matches
from curation.json.values import identity, is_multiple, is_number, json_type
from curation.schema.dialects import DRAFT_2019_09
from curation.schema.subschemas import SchemaLocation

#: "integer" and "number" are disjoint here: whole numbers, and the others.
ALL_TYPES: Final = ("string", "object", "array", "integer", "number", "boolean", "null")


@dataclass(frozen=True, slots=True)
class Negation:
    """The schema at this location must refuse the value."""

    location: SchemaLocation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExtraConstraint:
    """A constraint that a search needs, but the schema does not have."""

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
    minimum: int
    #: None if any number may.
    maximum: int | None


#: Keywords of which the greatest value counts, and of which the least does.
LOWER_BOUNDS: Final = (
    *("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"),
)
UPPER_BOUNDS: Final = (
    *("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"),
)
_BOUNDS: Final = frozenset({*LOWER_BOUNDS, *UPPER_BOUNDS})
#: Keywords without which a schema asserts nothing plain but types and values.
_PLAIN: Final = _BOUNDS | {"multipleOf", "uniqueItems", "pattern", "format", "required"}
_UNEVALUATED: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_ITEMS: Final = ("items", "prefixItems")
_MEMBERS: Final = ("properties", "patternProperties", "additionalProperties")
#: How deep required properties are looked into for a contradiction.
_LOOK_AHEAD: Final = 3


class Conjunction:
    """What one value of an instance must meet, all at once.

    The tightest of several bounds is kept, and all patterns. Whatever needs a
    decision (`choices`, `conditionals`, `dependencies`, `negations`) is listed.
    """

    def __init__(self, tree: CompiledSchema, goals: Goals) -> None:
        """Take a schema, and goals; references and `allOf` are followed."""
        self.tree, self.goals = tree, goals
        #: Results of its methods (`memo`).
        self.memos: dict[object, Any] = {}
        #: The schema objects and extra constraints of the goals, then each kind alone.
        self.parts: list[SchemaLocation | ExtraConstraint] = []
        self.locations: list[SchemaLocation] = []
        self.extras: list[ExtraConstraint] = []
        self.negations: list[Negation] = []
        #: For the target of a reference, or a branch of `allOf`: where it applies.
        self.referrers: dict[SchemaLocation, list[SchemaLocation]] = {}
        #: Why nothing can meet it; empty where nothing is known against it.
        self.impossible = ""
        self._flatten()
        #: Keyword to the tightest of its values: bounds of numbers, and of lengths.
        self.bounds: dict[str, float] = {}
        self.counts: dict[str, int] = {}
        self.multiples: list[float] = []
        self.patterns: list[str] = []
        self.formats: list[str] = []
        #: Whether all elements must differ.
        self.unique = False
        #: Names in the order they are asked for.
        self.required: dict[str, None] = {}
        for part in self.parts:
            self._assert(part.schema)
        #: Values that it must not be.
        self.excluded = [value for extra in self.extras for value in extra.excluded]
        #: Names of forbidden properties.
        self.forbidden = {name for extra in self.extras for name in extra.forbidden}
        self.choices: list[BranchChoice] = []
        #: Schemas with `if`, and `then` or `else`.
        self.conditionals: list[SchemaLocation] = []
        self.dependencies: list[Dependency] = []
        self.contains: list[Containment] = []
        #: Schemas that each property name must meet.
        self.name_locations: list[SchemaLocation] = []
        #: Schemas with `unevaluatedItems` or `unevaluatedProperties`.
        self.unevaluated: list[SchemaLocation] = []
        #: Schemas that must be asked about the finished value.
        self.unverified: list[SchemaLocation] = []
        for location in self.locations:
            if not DECIDING.isdisjoint(location.schema):
                self._decide(location)
        #: Those left of `ALL_TYPES`.
        self.types = self._types()
        #: The common values of enum and const; None if there are neither.
        self.values = self._values()
        for negation in self.negations:
            if accepts_everything(negation.location.schema):
                self.impossible = f"{negation.location.pointer} accepts everything"
        if not self.impossible and not self.types:
            self.impossible = "no type is left"
        elif not self.impossible and self.values == []:
            self.impossible = "no value of enum or const is left"

    def _flatten(self) -> None:
        """Sort the goals into parts and negations."""
        tree = self.tree
        stack = list(reversed(self.goals))
        visited: set[Goal] = set()
        while stack:
            goal = stack.pop()
            if goal in visited:
                continue
            visited.add(goal)
            if isinstance(goal, Negation):
                self.negations.append(goal)
            elif isinstance(goal, ExtraConstraint):
                self.parts.append(goal)
                self.extras.append(goal)
            elif isinstance(goal.schema, dict):
                hides = tree.dialect.ref_hides_siblings and "$ref" in goal.schema
                included = tree.targets(goal)
                if not hides:
                    self.parts.append(goal)
                    self.locations.append(goal)
                    if "allOf" in goal.schema:
                        included += tree.branches(goal, "allOf")
                for location in included:
                    self.referrers.setdefault(location, []).append(goal)
                stack.extend(reversed(included))
            elif goal.schema is False:
                self.impossible = f"{goal.pointer} is false"

    def _assert(self, schema: Mapping[str, Json]) -> None:
        """Add the plain assertions of one part."""
        if _PLAIN.isdisjoint(schema):
            return
        if not _BOUNDS.isdisjoint(schema):
            spelled = _without_flags(schema)
            for keywords, tighter in ((LOWER_BOUNDS, max), (UPPER_BOUNDS, min)):
                for keyword in keywords:
                    value = spelled.get(keyword)
                    if is_number(value):
                        if keyword.endswith("imum"):
                            bound = self.bounds.get(keyword, value)
                            self.bounds[keyword] = tighter(bound, value)
                        else:
                            # It may be spelled 2.0.
                            limit = self.counts.get(keyword, int(value))
                            self.counts[keyword] = tighter(limit, int(value))
        if is_number(step := schema.get("multipleOf")):
            self.multiples.append(step)
        self.unique = self.unique or schema.get("uniqueItems") is True
        for keyword, texts in (("pattern", self.patterns), ("format", self.formats)):
            value = schema.get(keyword)
            if isinstance(value, str) and value not in texts:
                texts.append(value)
        self.required.update(dict.fromkeys(read_names(schema.get("required"))))

    def _types(self) -> tuple[str, ...]:
        types: tuple[str, ...] = ()
        for part in self.parts:
            if part.schema.get("type") is not None:
                names = read_names(part.schema["type"])
                if "number" in names and "integer" not in names:
                    names.insert(names.index("number") + 1, "integer")
                order = types or names
                types = tuple(
                    kind for kind in order if kind in names and kind in ALL_TYPES
                )
                if not types:
                    return ()
        types = types or ALL_TYPES
        for extra in self.extras:
            if extra.types is not None:
                types = tuple(kind for kind in types if kind in extra.types)
        if not (self.bounds or self.counts or self.required):
            return types
        return tuple(kind for kind in types if not self._conflicts(kind))

    def _values(self) -> list[Json] | None:
        common: list[Json] | None = None
        for location in self.locations:
            schema = location.schema
            lists = [schema["enum"]] if isinstance(schema.get("enum"), list) else []
            if "const" in schema and "const" in self.tree.dialect.assertions:
                lists.append([schema["const"]])
            for values in lists:
                if common is None:
                    common = values
                    continue
                identities = {identity(value) for value in values}
                common = [value for value in common if identity(value) in identities]
        return common and [value for value in common if self.admits(value)]

    def _decide(self, location: SchemaLocation) -> None:
        """List what one schema leaves to be decided."""
        schema, child, dialect = location.schema, self.tree.child, self.tree.dialect
        active = dialect.applicators
        must_verify = isinstance(schema.get("oneOf"), list)
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                branches = self.tree.branches(location, keyword)
                self.choices.append(BranchChoice(keyword, branches))
        if "not" in schema:
            must_verify = True
            self.negations.append(Negation(child(location, ("not",))))
        if (
            "if" in schema
            and "if" in active
            and not {"then", "else"}.isdisjoint(schema)
        ):
            must_verify = True
            self.conditionals.append(location)
        dependencies = list(self._dependencies(location))
        self.dependencies += dependencies
        if "contains" in schema and "contains" in active:
            must_verify = True
            counted = schema if "minContains" in dialect.assertions else {}
            minimum, maximum = counted.get("minContains", 1), counted.get("maxContains")
            contained = child(location, ("contains",))
            self.contains.append(Containment(contained, int(minimum), maximum))
        if "propertyNames" in schema and "propertyNames" in active:
            self.name_locations.append(child(location, ("propertyNames",)))
        if "unevaluatedItems" in active and not _UNEVALUATED.isdisjoint(schema):
            must_verify = True
            self.unevaluated.append(location)
        if must_verify or dependencies:
            self.unverified.append(location)

    def _dependencies(self, location: SchemaLocation) -> Iterator[Dependency]:
        keywords = ["dependencies"]
        if self.tree.dialect.order >= DRAFT_2019_09.order:
            keywords += ["dependentRequired", "dependentSchemas"]
        for keyword in keywords:
            for name, needs in read_object(location.schema, keyword).items():
                if isinstance(needs, list):
                    yield Dependency(name, tuple(read_names(needs)))
                elif isinstance(needs, dict | bool):
                    applied = self.tree.child(location, (keyword, name))
                    yield Dependency(name, applied)

    def _conflicts(self, kind: str) -> bool:
        """Return whether no value of a type can meet the plain assertions."""
        bound, count = self.bounds.get, self.counts.get
        if kind == "object":
            minimum = max(count("minProperties", 0), len(self.required))
            return minimum > count("maxProperties", math.inf) or any(
                self.member_goals(name) is None for name in self.required
            )
        if kind == "array":
            return count("minItems", 0) > count("maxItems", math.inf)
        if kind == "string":
            return count("minLength", 0) > count("maxLength", math.inf)
        if kind not in ("integer", "number"):
            return False
        above = bound("exclusiveMinimum", -math.inf)
        below = bound("exclusiveMaximum", math.inf)
        low = max(bound("minimum", -math.inf), above)
        high = min(bound("maximum", math.inf), below)
        return low > high or (low == high and low in (above, below))

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

    @property
    def duplicate(self) -> bool:
        """Whether two elements must be equal."""
        return any(extra.duplicate for extra in self.extras)

    @property
    def not_multiples(self) -> list[float]:
        """Numbers that it must not be a multiple of."""
        return [step for extra in self.extras for step in extra.not_multiples]

    def number(self, kind: str, name: str) -> NumberConstraints:
        """Return the constraints of a number.

        Args:
            kind: `integer` if it must be a whole number, otherwise `number`.
            name: The name of the property, a hint for realistic values.
        """
        return NumberConstraints(
            integer=kind == "integer",
            minimum=self.bounds.get("minimum"),
            maximum=self.bounds.get("maximum"),
            exclusive_minimum=self.bounds.get("exclusiveMinimum"),
            exclusive_maximum=self.bounds.get("exclusiveMaximum"),
            multiples=tuple(self.multiples),
            name=name,
            format=self.formats[0] if self.formats else "",
        )

    @memo
    def string(self, name: str) -> StringConstraints:
        """Return the constraints of a string.

        Args:
            name: The name of the property, a hint for realistic values.
        """
        return StringConstraints(
            min_length=self.counts.get("minLength", 0),
            max_length=self.counts.get("maxLength"),
            patterns=tuple(self.patterns),
            formats=tuple(self.formats),
            not_patterns=tuple(
                pattern for extra in self.extras for pattern in extra.not_patterns
            ),
            name=name,
            dialect=self.tree.dialect.name,
        )

    @memo
    def member_goals(self, step: str | int) -> Goals | None:
        """Return the goals of a property or an element; None if it is forbidden.

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
        """Return whether a schema applies as a part of another."""
        if part is holder:
            return True
        is_local = part.document == holder.document
        if is_local and part.tokens[: len(holder.tokens)] == holder.tokens:
            return True
        return any(
            self.is_inside(referrer, holder, (*visited, part))
            for referrer in self.referrers.get(part, ())
            if referrer not in visited
        )

    def named_members(self, keyword: str) -> dict[str, None]:
        """Return the names in `properties` or `patternProperties`, each once."""
        return {
            name: None
            for part in self.locations
            for name in read_object(part.schema, keyword)
        }

    def allows_name(self, name: str) -> bool:
        """Return whether every `propertyNames` accepts a name."""
        accepts = self.tree.accepts
        return all(accepts(location, name) for location in self.name_locations)

    def is_map(self) -> bool:
        """Return whether there is a schema for properties that are not declared."""
        return any(
            isinstance(part.schema.get("additionalProperties"), dict)
            for part in self.locations
        )

    def prefix_length(self) -> int:
        """Return how many elements have a separate schema."""
        lengths = [0]
        for part in self.locations:
            prefix, _ = item_keywords(part.schema, self.tree.dialect)
            lengths.append(len(part.schema[prefix]) if prefix else 0)
        return max(lengths)

    def admits(self, value: Json) -> bool:
        """Return whether types, bounds, lengths, patterns and names allow a value."""
        kind, count = json_type(value), self.counts.get
        if kind not in self.types:
            return False
        if self.excluded and identity(value) in map(identity, self.excluded):
            return False
        if isinstance(value, dict):
            return (
                count("minProperties", 0) <= len(value)
                and len(value) <= count("maxProperties", math.inf)
                and self.required.keys() <= value.keys()
                and self.forbidden.isdisjoint(value)
            )
        if isinstance(value, list):
            return count("minItems", 0) <= len(value) <= count("maxItems", math.inf)
        if isinstance(value, str):
            return matches(self.string(""), value)
        if value is None or isinstance(value, bool):
            return True
        return in_bounds(self.number("number", ""), value) and not any(
            is_multiple(value, step) for step in self.not_multiples
        )

    @memo
    def examples(self) -> list[Json]:
        """Return the values of `examples` and `default` that it admits.

        A text is of its formats to who knows those of all drafts.
        """
        return [
            value
            for part in self.parts
            for value in (
                *read_array(part.schema, "examples"),
                part.schema.get("default"),
            )
            if value not in (None, "", [], {})
            and self.admits(value)
            and not (
                isinstance(value, str)
                and not all(formats.accepts_twice(name, value) for name in self.formats)
            )
        ]

    @memo
    def likely_types(self) -> tuple[str, ...]:
        """Return the types as the schema names them, otherwise as it hints.

        null comes last where there is a choice, and "number" represents integers too.
        """
        if any(part.schema.get("type") is not None for part in self.parts):
            types = list(self.types)
            if "integer" in types and "number" in types:
                types.remove("integer")
            return tuple(sorted(types, key=lambda kind: kind == "null"))
        keywords = {keyword for part in self.parts for keyword in part.schema}
        count = self.counts.get
        hints = {
            "object": self.required
            or count("minProperties")
            or self.dependencies
            or not keywords.isdisjoint(_MEMBERS),
            "array": count("minItems")
            or self.contains
            or self.unique
            or not keywords.isdisjoint(_ITEMS),
            "number": self.multiples
            or not {"minimum", "maximum"}.isdisjoint(self.bounds),
        }
        likely = [kind for kind, hinted in hints.items() if hinted]
        order = (*likely, "string", "object", "array", "number", "boolean", "null")
        return tuple(
            kind
            for kind in dict.fromkeys(order)
            if kind in self.types or (kind == "number" and "integer" in self.types)
        )

    @memo
    def contradiction(self, depth: int = _LOOK_AHEAD) -> str:
        """Return why nothing can meet it; empty if unknown.

        Args:
            depth: Levels of required properties to check.
        """
        if self.impossible or not depth or self.types != ("object",):
            return self.impossible
        for name in self.required:
            goals = self.member_goals(name)
            why = goals and conjoin(self.tree, goals).contradiction(depth - 1)
            if why:
                return f"the required property {name!r}: {why}"
        return ""


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


def _without_flags(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return draft-04's boolean `exclusive...` as the later drafts spell it."""
    spelled = dict(schema)
    for bound, flag in (
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ):
        if schema.get(flag) is True and is_number(schema.get(bound)):
            spelled[flag] = spelled.pop(bound)
    return spelled


@memo
def conjoin(compiled: CompiledSchema, goals: Goals) -> Conjunction:
    """Return the conjunction of goals.

    Example:
        >>> schema = {"minimum": 2, "allOf": [{"minimum": 5}, {"type": "integer"}]}
        >>> compiled = CompiledSchema.from_json(schema, "draft-07")
        >>> conjunction = conjoin(compiled, (compiled.root,))
        >>> conjunction.bounds, conjunction.types
        ({'minimum': 5}, ('integer',))
    """
    return Conjunction(compiled, goals)

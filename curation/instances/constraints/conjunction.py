"""Goals, and the conjunction of all that applies to one value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from curation.core.json_types import Json
from curation.instances.constraints.compiled_schema import CompiledSchema, memo
from curation.instances.constraints.keyword_values import (
    DECIDING,
    accepts_everything,
    array_of,
    item_keywords,
    names_of,
    object_of,
)
from curation.instances.values import formats
from curation.instances.values.numbers import NumberConstraints, in_bounds
from curation.instances.values.strings import StringConstraints, matches
from curation.json.values import identity, is_multiple, is_number, type_of
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
    parts: list[SchemaLocation | ExtraConstraint] = []
    #: The schema objects among them.
    locations: list[SchemaLocation] = []
    #: Those left of `ALL_TYPES`.
    types: tuple[str, ...] = ALL_TYPES
    #: Whether some part names types.
    typed: bool = False
    #: The values of enum and const that are left; None if any may stand.
    values: list[Json] | None = None
    #: Values that it must not be.
    excluded: list[Json] = []
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: float | None = None
    exclusive_maximum: float | None = None
    multiples: list[float] = []
    min_length: int = 0
    max_length: int | None = None
    patterns: list[str] = []
    not_patterns: list[str] = []
    formats: list[str] = []
    min_items: int = 0
    max_items: int | None = None
    #: Whether all elements must differ.
    unique: bool = False
    contains: list[Containment] = []
    #: Names in the order they are asked for.
    required: dict[str, None] = {}
    #: Names of properties that must not be there.
    forbidden: set[str] = set()
    min_properties: int = 0
    max_properties: int | None = None
    #: Schemas that each property name must meet.
    name_locations: list[SchemaLocation] = []
    choices: list[BranchChoice] = []
    #: Schemas with `if`, and `then` or `else`.
    conditionals: list[SchemaLocation] = []
    dependencies: list[Dependency] = []
    negations: list[Negation] = []
    #: Schemas that must be asked about the finished value: merging lost something.
    unverified: list[SchemaLocation] = []
    #: Schemas with `unevaluatedItems` or `unevaluatedProperties`.
    unevaluated: list[SchemaLocation] = []
    #: Of a schema that is referred to, or stands in `allOf`, those that it applies to.
    referrers: dict[SchemaLocation, list[SchemaLocation]] = {}
    #: Why nothing can meet it; empty where nothing is known against it.
    impossible: str = ""
    #: Numbers that it must not be a multiple of.
    not_multiples: list[float] = []
    #: Whether two elements must be equal.
    duplicate: bool = False
    #: What the name of one more property must meet, for each that is needed.
    extra_names: list[Goals] = []
    #: Results of functions about the conjunction (`memo`).
    memos: dict[object, Any] = {}

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


def admits(conjunction: Conjunction, value: Json) -> bool:
    """Return whether types, bounds, lengths, patterns and names allow a value."""
    kind = type_of(value)
    if kind not in conjunction.types:
        return False
    if conjunction.excluded and identity(value) in map(identity, conjunction.excluded):
        return False
    if isinstance(value, dict):
        return (
            _fits(len(value), conjunction.min_properties, conjunction.max_properties)
            and conjunction.required.keys() <= value.keys()
            and conjunction.forbidden.isdisjoint(value)
        )
    if isinstance(value, list):
        return _fits(len(value), conjunction.min_items, conjunction.max_items)
    if isinstance(value, str):
        return matches(conjunction.string(""), value)
    if value is None or isinstance(value, bool):
        return True
    return in_bounds(conjunction.number("number", ""), value) and not any(
        is_multiple(value, step) for step in conjunction.not_multiples
    )


def _fits(count: int, least: int, most: int | None) -> bool:
    return least <= count and (most is None or count <= most)


@memo
def admitted_examples(conjunction: Conjunction) -> list[Json]:
    """Return the values of `examples` and `default` that a conjunction admits."""
    return [
        value
        for part in conjunction.parts
        for value in _examples(part.schema)
        if admits(conjunction, value) and _is_of_formats(conjunction, value)
    ]


def _is_of_formats(conjunction: Conjunction, value: Json) -> bool:
    """Return whether a text is of its formats to who knows those of all drafts."""
    return not isinstance(value, str) or all(
        formats.accepts_twice(name, value) for name in conjunction.formats
    )


def _examples(schema: Mapping[str, Json]) -> list[Json]:
    values = [*array_of(schema, "examples"), schema.get("default")]
    return [value for value in values if value not in (None, "", [], {})]


def conflicts(conjunction: Conjunction, kind: str) -> bool:
    """Return whether no value of a type can meet the plain assertions."""
    if kind == "object":
        return _object_conflicts(conjunction)
    if kind == "array":
        most = conjunction.max_items
        return most is not None and most < conjunction.min_items
    if kind == "string":
        most = conjunction.max_length
        return most is not None and most < conjunction.min_length
    if kind in ("integer", "number"):
        return _is_empty_range(conjunction)
    return False


def _object_conflicts(conjunction: Conjunction) -> bool:
    least = max(conjunction.min_properties, len(conjunction.required))
    if conjunction.max_properties is not None and least > conjunction.max_properties:
        return True
    return any(conjunction.member_goals(name) is None for name in conjunction.required)


def _is_empty_range(conjunction: Conjunction) -> bool:
    lows = (conjunction.minimum, conjunction.exclusive_minimum)
    highs = (conjunction.maximum, conjunction.exclusive_maximum)
    known_lows = [bound for bound in lows if bound is not None]
    known_highs = [bound for bound in highs if bound is not None]
    if not known_lows or not known_highs:
        return False
    low, high = max(known_lows), min(known_highs)
    return low > high or (low == high and (lows[1] == low or highs[1] == high))


_ITEMS: Final = ("items", "prefixItems")
_MEMBERS: Final = ("properties", "patternProperties", "additionalProperties")


@memo
def likely_types(conjunction: Conjunction) -> tuple[str, ...]:
    """Return the types of a conjunction as the schema names them, else as it hints.

    null comes last where there is a choice, and "number" stands for integers too.
    """
    return (_named if conjunction.typed else _hinted)(conjunction)


def _named(conjunction: Conjunction) -> tuple[str, ...]:
    types = list(conjunction.types)
    if "integer" in types and "number" in types:
        types.remove("integer")
    if len(types) > 1 and "null" in types:
        types.remove("null")
        types.append("null")
    return tuple(types)


def _hinted(conjunction: Conjunction) -> tuple[str, ...]:
    keywords = {keyword for part in conjunction.parts for keyword in part.schema}
    hints = {
        "object": bool(
            conjunction.required
            or conjunction.min_properties
            or conjunction.dependencies
            or not keywords.isdisjoint(_MEMBERS)
        ),
        "array": bool(
            conjunction.min_items
            or conjunction.contains
            or conjunction.unique
            or not keywords.isdisjoint(_ITEMS)
        ),
        "number": bool(
            conjunction.multiples
            or conjunction.minimum is not None
            or conjunction.maximum is not None
        ),
    }
    likely = [kind for kind, hinted in hints.items() if hinted]
    order = (*likely, "string", "object", "array", "number", "boolean", "null")
    return tuple(
        kind
        for kind in dict.fromkeys(order)
        if kind in conjunction.types
        or (kind == "number" and "integer" in conjunction.types)
    )


#: Keywords to the fields of `Conjunction` that keep the greatest value.
_GREATEST: Final = {
    "minimum": "minimum",
    "exclusiveMinimum": "exclusive_minimum",
    "minLength": "min_length",
    "minItems": "min_items",
    "minProperties": "min_properties",
}
#: Keywords to the fields of `Conjunction` that keep the least value.
_LEAST: Final = {
    "maximum": "maximum",
    "exclusiveMaximum": "exclusive_maximum",
    "maxLength": "max_length",
    "maxItems": "max_items",
    "maxProperties": "max_properties",
}
_BOUNDS: Final = frozenset({*_GREATEST, *_LEAST, "multipleOf", "uniqueItems"})


def merge(conjunction: Conjunction, part: SchemaLocation | ExtraConstraint) -> None:
    """Add what one part asserts to a conjunction.

    Args:
        conjunction: It is changed.
        part: An extra constraint, or a schema object of which references and `allOf`
            are not followed.
    """
    schema = part.schema
    _merge_types(conjunction, schema)
    _merge_bounds(conjunction, schema)
    _merge_texts(conjunction, schema)
    conjunction.required.update(dict.fromkeys(names_of(schema.get("required"))))
    if isinstance(part, ExtraConstraint):
        _merge_extra_constraint(conjunction, part)
    else:
        _merge_values(conjunction, schema)
        if not DECIDING.isdisjoint(schema):
            _merge_decisions(conjunction, part)


def _merge_extra_constraint(
    conjunction: Conjunction, constraint: ExtraConstraint
) -> None:
    if constraint.types is not None:
        allowed = constraint.types
        conjunction.types = tuple(kind for kind in conjunction.types if kind in allowed)
    conjunction.forbidden.update(constraint.forbidden)
    conjunction.excluded.extend(constraint.excluded)
    conjunction.not_patterns.extend(constraint.not_patterns)
    conjunction.not_multiples.extend(constraint.not_multiples)
    conjunction.duplicate = conjunction.duplicate or constraint.duplicate
    if constraint.extra_name:
        conjunction.extra_names.append(constraint.extra_name)


def _merge_types(conjunction: Conjunction, schema: Mapping[str, Json]) -> None:
    if schema.get("type") is None:
        return
    names = names_of(schema["type"])
    if "number" in names and "integer" not in names:
        names.insert(names.index("number") + 1, "integer")
    order = conjunction.types if conjunction.typed else names
    conjunction.types = tuple(
        kind for kind in order if kind in names and kind in conjunction.types
    )
    conjunction.typed = True


def _merge_bounds(conjunction: Conjunction, schema: Mapping[str, Json]) -> None:
    if _BOUNDS.isdisjoint(schema):
        return
    flagged = _without_flags(schema)
    for fields, tighter in ((_GREATEST, max), (_LEAST, min)):
        for keyword, name in fields.items():
            value = flagged.get(keyword, schema.get(keyword))
            if is_number(value):
                # A count may be spelled 2.0.
                value = value if keyword.endswith("imum") else int(value)
                present = getattr(conjunction, name)
                bound = value if present is None else tighter(present, value)
                setattr(conjunction, name, bound)
    step = schema.get("multipleOf")
    if is_number(step):
        conjunction.multiples.append(step)
    conjunction.unique = conjunction.unique or schema.get("uniqueItems") is True


def _without_flags(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return draft-04's boolean `exclusive...` as the later drafts spell it."""
    bounds: dict[str, Json] = {}
    for bound, flag in (
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ):
        if schema.get(flag) is True and is_number(schema.get(bound)):
            bounds[flag], bounds[bound] = schema[bound], None
    return bounds


def _merge_texts(conjunction: Conjunction, schema: Mapping[str, Json]) -> None:
    for keyword, texts in (
        ("pattern", conjunction.patterns),
        ("format", conjunction.formats),
    ):
        value = schema.get(keyword)
        if isinstance(value, str) and value not in texts:
            texts.append(value)


def _merge_values(conjunction: Conjunction, schema: Mapping[str, Json]) -> None:
    enumerated = schema.get("enum")
    lists = [enumerated] if isinstance(enumerated, list) else []
    if "const" in schema and "const" in conjunction.tree.dialect.assertions:
        lists.append([schema["const"]])
    for values in lists:
        if conjunction.values is None:
            conjunction.values = values
        else:
            identities = {identity(value) for value in values}
            conjunction.values = [
                value for value in conjunction.values if identity(value) in identities
            ]


def _merge_decisions(conjunction: Conjunction, location: SchemaLocation) -> None:
    schema, child = location.schema, conjunction.tree.child
    active = conjunction.tree.dialect.applicators
    before = _count_undecided(conjunction)
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list):
            branches = conjunction.tree.branches(location, keyword)
            conjunction.choices.append(BranchChoice(keyword, branches))
    if "not" in schema:
        conjunction.negations.append(Negation(child(location, ("not",))))
    if "if" in schema and "if" in active and ("then" in schema or "else" in schema):
        conjunction.conditionals.append(location)
    _merge_dependencies(conjunction, location)
    if "contains" in schema and "contains" in active:
        _merge_contains(conjunction, location)
    if "propertyNames" in schema and "propertyNames" in active:
        conjunction.name_locations.append(child(location, ("propertyNames",)))
    if "unevaluatedItems" in active and (
        "unevaluatedItems" in schema or "unevaluatedProperties" in schema
    ):
        conjunction.unevaluated.append(location)
    if _count_undecided(conjunction) != before:
        conjunction.unverified.append(location)


def _merge_contains(conjunction: Conjunction, location: SchemaLocation) -> None:
    schema = location.schema
    counted = "minContains" in conjunction.tree.dialect.assertions
    least = schema.get("minContains", 1) if counted else 1
    most = schema.get("maxContains") if counted else None
    contained = conjunction.tree.child(location, ("contains",))
    conjunction.contains.append(Containment(contained, int(least), most))


def _count_undecided(conjunction: Conjunction) -> int:
    """Return how much there is that a finished value must be asked about."""
    return (
        len(conjunction.negations)
        + len(conjunction.conditionals)
        + len(conjunction.dependencies)
        + len(conjunction.contains)
        + len(conjunction.unevaluated)
        + sum(choice.keyword == "oneOf" for choice in conjunction.choices)
    )


def _merge_dependencies(conjunction: Conjunction, location: SchemaLocation) -> None:
    keywords = ["dependencies"]
    if conjunction.tree.dialect.order >= DRAFT_2019_09.order:
        keywords += ["dependentRequired", "dependentSchemas"]
    for keyword in keywords:
        for name, needs in object_of(location.schema, keyword).items():
            if isinstance(needs, list):
                dependency = Dependency(name, tuple(names_of(needs)))
            elif isinstance(needs, dict | bool):
                applied = conjunction.tree.child(location, (keyword, name))
                dependency = Dependency(name, applied)
            else:
                continue
            conjunction.dependencies.append(dependency)


#: How deep required properties are looked into for a contradiction.
_LOOK_AHEAD: Final = 3


@memo
def conjoin(compiled: CompiledSchema, goals: Goals) -> Conjunction:
    """Return the conjunction of goals.

    `$ref`, `allOf` and sibling keywords are merged as the dialect says. What needs a
    decision is listed in it.

    Example:
        >>> schema = {"minimum": 2, "allOf": [{"minimum": 5}, {"type": "integer"}]}
        >>> compiled = CompiledSchema.from_json(schema, "draft-07")
        >>> conjunction = conjoin(compiled, (compiled.root,))
        >>> conjunction.minimum, conjunction.types
        (5, ('integer',))
    """
    conjunction = Conjunction(tree=compiled, goals=goals)
    _flatten(conjunction)
    for part in conjunction.parts:
        merge(conjunction, part)
    _drop_contradictions(conjunction)
    return conjunction


def _flatten(conjunction: Conjunction) -> None:
    """Sort the goals into parts and negations, references and `allOf` followed."""
    tree = conjunction.tree
    stack = list(reversed(conjunction.goals))
    visited: set[Goal] = set()
    while stack:
        goal = stack.pop()
        if goal in visited:
            continue
        visited.add(goal)
        if isinstance(goal, Negation):
            conjunction.negations.append(goal)
        elif isinstance(goal, ExtraConstraint):
            conjunction.parts.append(goal)
        elif not isinstance(goal.schema, dict):
            if goal.schema is False:
                conjunction.impossible = f"{goal.pointer} is false"
        else:
            included = _included(tree, goal)
            for location in included:
                conjunction.referrers.setdefault(location, []).append(goal)
            if not (tree.dialect.ref_hides_siblings and "$ref" in goal.schema):
                conjunction.parts.append(goal)
                conjunction.locations.append(goal)
            stack.extend(reversed(included))


def _included(tree: CompiledSchema, location: SchemaLocation) -> list[SchemaLocation]:
    """Return the schemas that apply wherever the schema of a location does."""
    targets = tree.targets(location)
    if "$ref" in location.schema and tree.dialect.ref_hides_siblings:
        return targets
    return [*targets, *tree.branches(location, "allOf")]


def _drop_contradictions(conjunction: Conjunction) -> None:
    conjunction.types = tuple(
        kind for kind in conjunction.types if not conflicts(conjunction, kind)
    )
    if conjunction.values is not None:
        conjunction.values = [
            value for value in conjunction.values if admits(conjunction, value)
        ]
    for negation in conjunction.negations:
        if accepts_everything(negation.location.schema):
            pointer = negation.location.pointer
            conjunction.impossible = f"{pointer} accepts everything"
    if conjunction.impossible:
        return
    if not conjunction.types:
        conjunction.impossible = "no type is left"
    elif conjunction.values is not None and not conjunction.values:
        conjunction.impossible = "no value of enum or const is left"


def contradiction(
    compiled: CompiledSchema, conjunction: Conjunction, depth: int = _LOOK_AHEAD
) -> str:
    """Return why nothing can meet a conjunction; empty if unknown.

    Args:
        compiled: Its schema.
        conjunction: The conjunction.
        depth: Levels of required properties to check.
    """
    reason = conjunction.impossible
    if reason or not depth or conjunction.types != ("object",):
        return reason
    return _required_contradiction(conjunction, compiled, depth)


@memo
def _required_contradiction(
    conjunction: Conjunction, compiled: CompiledSchema, depth: int
) -> str:
    for name in conjunction.required:
        goals = conjunction.member_goals(name)
        if goals:
            why = contradiction(compiled, conjoin(compiled, goals), depth - 1)
            if why:
                return f"the required property {name!r}: {why}"
    return ""

"""Decide what a conjunction leaves open: search with backtracking.

Branches of `anyOf` and `oneOf` are picked in turn. Negations, conditionals and
dependencies are ignored at first; those that the finished value violates are added to
the goals, and the value is made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import TypeAlias

from curation.core.json_types import Json
from curation.instances.constraints.compiled_schema import CompiledSchema, memo
from curation.instances.constraints.conjunction import (
    ALL_TYPES,
    BranchChoice,
    Conjunction,
    Dependency,
    ExtraConstraint,
    Goal,
    Goals,
    Negation,
    conjoin,
    with_member,
)
from curation.instances.constraints.keyword_values import (
    accepts_everything,
    array_of,
    item_keywords,
    names_of,
    object_of,
)
from curation.instances.constraints.minimal_depth import minimal_depth
from curation.instances.search.context import (
    NOTHING,
    BuildContext,
    Nothing,
    ValueBuilder,
)
from curation.instances.values.model import SearchFailure
from curation.json.values import is_number
from curation.schema.subschemas import SchemaLocation

_NUMBERS = ("integer", "number")
#: A bound, the bound that contradicts it, the step between, and the types.
_OPPOSITES = {
    "minimum": ("exclusiveMaximum", 0, _NUMBERS),
    "maximum": ("exclusiveMinimum", 0, _NUMBERS),
    "minLength": ("maxLength", -1, ("string",)),
    "maxLength": ("minLength", 1, ("string",)),
    "minItems": ("maxItems", -1, ("array",)),
    "maxItems": ("minItems", 1, ("array",)),
    "minProperties": ("maxProperties", -1, ("object",)),
    "maxProperties": ("minProperties", 1, ("object",)),
    "exclusiveMinimum": ("maximum", 0, _NUMBERS),
    "exclusiveMaximum": ("minimum", 0, _NUMBERS),
}
#: Pairs of branches of a oneOf that are tried together.
_MOST_PAIRS = 6
#: Names for one more property; the second is short, where names must be.
_EXTRA_NAMES = ("extra", "x")


@memo
def ways_to_fail(compiled: CompiledSchema, location: SchemaLocation) -> list[Goals]:
    """Return the ways to fail the schema of a location, the most natural first."""
    return list(_ways(compiled, location))


def _ways(compiled: CompiledSchema, location: SchemaLocation) -> Iterator[Goals]:
    schema = location.schema
    if not isinstance(schema, dict):
        return
    for target in compiled.targets(location):
        yield (Negation(target),)
    if "$ref" in schema and compiled.dialect.ref_hides_siblings:
        return
    for constraint in _ways_of_objects(compiled, location, schema):
        yield (constraint,)
    yield from _ways_of_dependencies(compiled, location, schema)
    for constraint in _ways_of_scalars(schema):
        yield (constraint,)
    for constraint in _ways_of_arrays(compiled, location, schema):
        yield (constraint,)
    yield from _ways_of_choices(compiled, location, schema)
    if "type" in schema:
        allowed = names_of(schema["type"])
        if "number" in allowed:
            allowed.append("integer")
        others = tuple(name for name in ALL_TYPES if name not in allowed)
        yield (ExtraConstraint(types=others),)


def _ways_of_objects(
    compiled: CompiledSchema, location: SchemaLocation, schema: dict[str, Json]
) -> Iterator[ExtraConstraint]:
    for name in names_of(schema.get("required")):
        yield ExtraConstraint(types=("object",), forbidden=(name,))
    members = object_of(schema, "properties")
    for name, member in members.items():
        if not accepts_everything(member):
            yield with_member(
                name, (Negation(compiled.child(location, ("properties", name))),)
            )
    if not accepts_everything(schema.get("additionalProperties", True)):
        additional = Negation(compiled.child(location, ("additionalProperties",)))
        for name in _EXTRA_NAMES:
            if name not in members:
                yield with_member(name, (additional,))
    if "unevaluatedProperties" in schema:
        unevaluated = Negation(compiled.child(location, ("unevaluatedProperties",)))
        yield with_member("unevaluated", (unevaluated,))
    if "propertyNames" in schema:
        names = compiled.child(location, ("propertyNames",))
        yield ExtraConstraint(types=("object",), extra_name=(Negation(names),))


def _ways_of_dependencies(
    compiled: CompiledSchema, location: SchemaLocation, schema: dict[str, Json]
) -> Iterator[Goals]:
    for keyword in ("dependencies", "dependentRequired", "dependentSchemas"):
        for name, needs in object_of(schema, keyword).items():
            presence = ExtraConstraint(types=("object",), schema={"required": [name]})
            if isinstance(needs, list):
                for needed in names_of(needs):
                    yield presence, ExtraConstraint(forbidden=(needed,))
            else:
                yield presence, Negation(compiled.child(location, (keyword, name)))


def _ways_of_scalars(schema: dict[str, Json]) -> Iterator[ExtraConstraint]:
    values = [*array_of(schema, "enum")]
    if "const" in schema:
        values.append(schema["const"])
    if {} in values or [] in values:
        least = {"minProperties": 1, "minItems": 1}
        yield ExtraConstraint(excluded=tuple(values), schema=least)
    if values:
        yield ExtraConstraint(excluded=tuple(values))
    for keyword, (opposite, step, types) in _OPPOSITES.items():
        bound = schema.get(keyword)
        if is_number(bound) and (step == 0 or bound + step >= 0):
            yield ExtraConstraint(types=types, schema={opposite: bound + step})
    factor = schema.get("multipleOf")
    if is_number(factor):
        yield ExtraConstraint(types=_NUMBERS, not_multiples=(factor,))
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        yield ExtraConstraint(types=("string",), not_patterns=(pattern,))


def _ways_of_arrays(
    compiled: CompiledSchema, location: SchemaLocation, schema: dict[str, Json]
) -> Iterator[ExtraConstraint]:
    prefix, remaining = item_keywords(schema, compiled.dialect)
    elements = [(prefix, str(index)) for index in range(len(array_of(schema, prefix)))]
    for index, tokens in enumerate([*elements, *([(remaining,)] if remaining else [])]):
        element = compiled.child(location, tokens)
        if not accepts_everything(element.schema):
            yield with_member(index, (Negation(element),))
    if schema.get("uniqueItems") is True:
        yield ExtraConstraint(types=("array",), duplicate=True)
    if "contains" in schema:
        contained = compiled.child(location, ("contains",))
        yield ExtraConstraint(types=("array",), every=(Negation(contained),))
        most = schema.get("maxContains")
        if is_number(most):
            yield ExtraConstraint(
                types=("array",), schema={"minItems": most + 1}, every=(contained,)
            )


def _ways_of_choices(
    compiled: CompiledSchema, location: SchemaLocation, schema: dict[str, Json]
) -> Iterator[Goals]:
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list):
            yield tuple(map(Negation, compiled.branches(location, keyword)))

    def child(keyword: str) -> SchemaLocation:
        return compiled.child(location, (keyword,))

    one_of = compiled.branches(location, "oneOf")
    yield from islice(combinations(one_of, 2), _MOST_PAIRS)
    for branch in compiled.branches(location, "allOf"):
        yield (Negation(branch),)
    if "not" in schema:
        yield (child("not"),)
    if "if" in schema and "then" in schema:
        yield child("if"), Negation(child("then"))
    if "if" in schema and "else" in schema:
        yield Negation(child("if")), Negation(child("else"))


#: What is decided: choices, schemas with a condition, dependencies.
Picked: TypeAlias = "frozenset[BranchChoice | SchemaLocation | Dependency]"
#: Values made for one location before the search gives up, by depth.
_ATTEMPTS = (60, 40, 24, 16)
_FEWEST = 8
#: Times that a value for the same goals is made again, drawn at random.
_REBUILDS = 3


def solve(builder: ValueBuilder, goals: Goals, context: BuildContext) -> Json | Nothing:
    """Return a value that meets the goals and every choice in them, or NOTHING."""
    conjunction = conjoin(builder.compiled, goals)
    if conjunction.is_decided and not conjunction.contradiction():
        return next(builder.candidates(conjunction, context), NOTHING)
    depth = len(context.path)
    attempts = _ATTEMPTS[depth] if depth < len(_ATTEMPTS) else _FEWEST
    return _BranchSearch(builder, context, attempts).pick(goals, frozenset())


@dataclass(slots=True)
class _BranchSearch:
    builder: ValueBuilder
    context: BuildContext
    #: Values that may still be made.
    remaining: int
    #: The number of them at which the current branch must stop.
    least: int = 0

    def pick(self, goals: Goals, picked: Picked) -> Json | Nothing:
        """Pick a branch of the first open choice, or finish."""
        conjunction = conjoin(self.builder.compiled, goals)
        self.builder.spend(
            len(conjunction.parts) * (1 + len(conjunction.required)) // 64
        )
        why = conjunction.contradiction()
        if why:
            return self.builder.record_failure(SearchFailure.CONTRADICTION, why)
        choice = next(
            (choice for choice in conjunction.choices if choice not in picked), None
        )
        if choice is None:
            value = self._conditions(conjunction, goals, picked)
            if value is not NOTHING:
                return value
            return self._finish(conjunction, goals, picked)
        self.builder.spend()
        ways = ((branch,) for branch in self._ordered(choice))
        return self._first(ways, goals, picked | {choice})

    def _first(
        self, ways: Iterable[Goals], goals: Goals, picked: Picked
    ) -> Json | Nothing:
        least = self.least
        for way in ways:
            room = self.remaining - least
            if room <= 0:
                break
            if set(way) <= set(goals):
                continue
            self.least = self.remaining - max(_FEWEST, room // 2)
            mark = self._mark()
            value = self.pick((*goals, *way), picked)
            self.least = least
            if value is not NOTHING:
                return value
            self._take_back(mark)
        return NOTHING

    def _conditions(
        self, conjunction: Conjunction, goals: Goals, picked: Picked
    ) -> Json | Nothing:
        """Meet or fail a condition whose consequence leads to an open target."""
        guide = self.builder.guide
        if not guide or not (conjunction.conditionals or conjunction.dependencies):
            return NOTHING
        for holder in conjunction.conditionals:
            steps, ways = guide.graph.steps(holder), list[Goals]()
            if holder in picked or steps.condition is None:
                continue
            if steps.then and guide.wants(steps.then):
                ways.append((steps.condition, steps.then))
            if steps.otherwise and guide.wants(steps.otherwise):
                ways.append((Negation(steps.condition), steps.otherwise))
            if ways:
                return self._first(ways, goals, picked | {holder})
        for dependency in conjunction.dependencies:
            needs = dependency.needs
            if dependency in picked or not isinstance(needs, SchemaLocation):
                continue
            if guide.wants(needs):
                presence = ExtraConstraint(schema={"required": [dependency.name]})
                return self._first([(presence, needs)], goals, picked | {dependency})
        return NOTHING

    def _ordered(self, choice: BranchChoice) -> Iterable[SchemaLocation]:
        branches = list(choice.branches)
        if choice.keyword == "oneOf":
            trivial = [
                branch for branch in branches if accepts_everything(branch.schema)
            ]
            branches = trivial or branches
        builder, context = self.builder, self.context
        if builder.varies(context):
            builder.rng.shuffle(branches)
        if context.allowance < 1:
            branches.sort(
                key=lambda branch: minimal_depth(builder.compiled, branch, hinted=True)
            )
        return builder.guide.ordered(branches) if builder.guide else branches

    def _finish(
        self, conjunction: Conjunction, goals: Goals, picked: Picked
    ) -> Json | Nothing:
        context = self.context
        for _ in range(_REBUILDS):
            mark = self._mark()
            for value in self.builder.candidates(conjunction, context):
                self.builder.spend()
                self.remaining -= 1
                amendments = self._amendments(conjunction, value)
                if amendments is None:
                    return value
                self._take_back(mark)
                amended = self._first(amendments, goals, picked)
                if amended is not NOTHING or self.remaining <= self.least:
                    return amended
            if not (
                conjunction.unverified or conjunction.negations or conjunction.excluded
            ):
                return NOTHING
            context = context._replace(vary=True)
        places = [
            goal.pointer or "/"
            for goal in conjunction.goals
            if isinstance(goal, SchemaLocation)
        ]
        detail = "no value for " + " and ".join(places[:3])
        return self.builder.record_failure(SearchFailure.CONTRADICTION, detail)

    def _mark(self) -> tuple[int, tuple[int, int]]:
        """Return where a search stands that is guided: values made, and the guide."""
        guide = self.builder.guide
        return self.builder.values_made, guide.mark() if guide else (0, 0)

    def _take_back(self, mark: tuple[int, tuple[int, int]]) -> None:
        """Forget what a value reaches that is not taken, and that it has any size."""
        if self.builder.guide:
            self.builder.values_made, guided = mark
            self.builder.guide.take_back(guided)

    def _amendments(self, conjunction: Conjunction, value: Json) -> list[Goals] | None:
        """Return goals of which one may repair the value; None if it is right."""
        compiled = self.builder.compiled
        if conjunction.excluded and not conjunction.admits(value):
            return []
        violated = [
            negation
            for negation in conjunction.negations
            if compiled.accepts(negation.location, value)
        ]
        for negation in violated:
            # What is negated by its parts already is a matter of these parts.
            ways = ways_to_fail(compiled, negation.location)
            if not any({*way} <= {*conjunction.goals} for way in ways):
                return ways
        if violated:
            return ways_to_fail(compiled, violated[0].location)
        if all(
            compiled.accepts(location, value) for location in conjunction.unverified
        ):
            return None
        together = self._unmet(conjunction, value)
        amendments = [together] if together else []
        amendments += self._overlaps(conjunction, value)
        amendments += self._ways_out(conjunction, value)
        return amendments

    def _unmet(self, conjunction: Conjunction, value: Json) -> Goals:
        compiled, goals = self.builder.compiled, list[Goal]()
        for holder in conjunction.conditionals:
            test = compiled.child(holder, ("if",))
            holds = compiled.accepts(test, value)
            keyword = "then" if holds else "else"
            if keyword in holder.schema:
                place = compiled.child(holder, (keyword,))
                if not compiled.accepts(place, value):
                    goals += [test if holds else Negation(test), place]
        for dependency in conjunction.dependencies:
            if isinstance(value, dict) and dependency.name in value:
                if isinstance(dependency.needs, SchemaLocation):
                    if not compiled.accepts(dependency.needs, value):
                        goals.append(dependency.needs)
                elif not all(name in value for name in dependency.needs):
                    goals.append(
                        ExtraConstraint(schema={"required": list(dependency.needs)})
                    )
        return tuple(goals)

    def _overlaps(self, conjunction: Conjunction, value: Json) -> list[Goals]:
        """Return the ways to fail a second branch of a `oneOf` that the value meets."""
        compiled = self.builder.compiled
        for choice in conjunction.choices:
            if choice.keyword != "oneOf":
                continue
            accepted = [
                branch for branch in choice.branches if compiled.accepts(branch, value)
            ]
            further = [branch for branch in accepted if branch not in conjunction.goals]
            if len(accepted) > 1 and further:
                return ways_to_fail(compiled, further[0])
        return []

    def _ways_out(self, conjunction: Conjunction, value: Json) -> list[Goals]:
        """Return the ways to avoid conditions instead of meeting them."""
        compiled = self.builder.compiled
        ways: list[Goals] = [
            (ExtraConstraint(forbidden=(dependency.name,)),)
            for dependency in conjunction.dependencies
            if isinstance(value, dict) and dependency.name in value
        ]
        for holder in conjunction.conditionals:
            test = compiled.child(holder, ("if",))
            for keyword, first in (("then", test), ("else", Negation(test))):
                ways.append((first,))
                if keyword in holder.schema:
                    ways[-1] += (compiled.child(holder, (keyword,)),)
        return ways

"""Build one value that meets goals: a search with backtracking.

What a conjunction leaves open is decided first: branches of `anyOf` and `oneOf` are
picked in turn. Negations, conditionals and dependencies are ignored until the finished
value violates them; then they are added to the goals, and the value is made again.
Scalars are drawn, objects and arrays are built member by member.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from curation.core.benchmark import InstanceKind
from curation.core.json_types import Json
from curation.instances.constraints.conjunction import (
    BranchChoice,
    Conjunction,
    Dependency,
    ExtraConstraint,
    Goal,
    Goals,
    Negation,
    conjoin,
)
from curation.instances.constraints.keyword_values import accepts_everything
from curation.instances.model import SearchFailure
from curation.instances.values import numbers, strings
from curation.instances.witnesses.minimal_depth import minimal_depth
from curation.instances.witnesses.ways_to_fail import ways_to_fail
from curation.json.values import identity, is_multiple
from curation.schema.subschemas import SchemaLocation

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.instances.witnesses.reach import Guide

#: Times that a value is drawn again to be unlike its siblings.
REDRAWS: Final = 24
#: Levels of an instance below which values are as small as can be.
_DEEP: Final = 12
#: How often the same goals may recur below themselves with optional members.
_RECURRENCES: Final = 2
#: Maximum length of a string.
MAX_LENGTH: Final = 1_000_000
#: Levels of an instance below which the search ends.
DEEPEST: Final = 64
#: Share of `random` values from the schema's defaults and examples.
_GIVEN: Final = 0.3
_CONTAINERS: Final = frozenset({"object", "array"})
#: Values made for one location before the search gives up, by depth.
_ATTEMPTS: Final = (60, 40, 24, 16)
_MIN: Final = 8
#: Times that a value for the same goals is made again, drawn at random.
_REBUILDS: Final = 3
#: More elements than this are not made for a `minItems`.
MAX_ITEMS: Final = 100_000
#: Elements made one by one; where more are required, they are repeated.
_MADE: Final = 40
#: Share of arrays with a bound that are as long as it allows, and the longest of them.
_AT_BOUND: Final = 0.15
_MAX_AT_BOUND: Final = 12
#: Elements that an array, or properties that one pattern, may get for what is to be
#: reached.
_SIBLINGS: Final = 12
#: From this allowance on an array gets two elements.
_ROOM_FOR_TWO: Final = 8
#: More properties than this are not made for a `minProperties`.
MAX_PROPERTIES: Final = 10_000
_NAMES: Final = ("key", "item", "entry", "name", "value", "other")
#: Names drawn for one more property.
_DRAWS: Final = 12
_A_STRING: Final = ExtraConstraint(types=("string",))
#: What is decided: choices, schemas with a condition, dependencies.
Picked: TypeAlias = "frozenset[BranchChoice | SchemaLocation | Dependency]"


class Nothing(Enum):
    """Stands for "no value was found"; distinct from JSON's null."""

    NOTHING = "nothing"


NOTHING: Final = Nothing.NOTHING


class ExhaustedError(Exception):
    """The budget of steps is spent; caught where a search starts."""


class BuildContext(msgspec.Struct, frozen=True, eq=False):
    """Where in the instance a value is made, and how large it may become."""

    #: Reference tokens of the value in the instance.
    path: tuple[str, ...] = ()
    #: How many values may still be made inside of it; below 1, only required ones.
    allowance: float = 0
    #: The nearest property name above, a hint for realistic values.
    name: str = ""
    #: Identities that the value must not have.
    avoid: AbstractSet[bytes] = frozenset()
    #: Draw at random, also where the kind of witness does not ask for it.
    vary: bool = False
    #: Goals of the values that it is in, innermost last.
    ancestors: tuple[Goals, ...] = ()
    #: Try scalars before objects and arrays, so that the nesting ends.
    scalars_first: bool = False

    def for_goals(self, goals: Goals) -> BuildContext:
        """Return the context of a value that must meet these goals."""
        small = len(self.path) >= _DEEP or self.ancestors.count(goals) >= _RECURRENCES
        return msgspec.structs.replace(
            self,
            allowance=0 if small else self.allowance,
            ancestors=(*self.ancestors, goals),
            scalars_first=small,
        )

    def allows(self, value: Json) -> bool:
        """Return whether a value is unlike its siblings, where it must be."""
        return not self.avoid or identity(value) not in self.avoid

    def member(
        self, step: str | int, allowance: float, avoid: AbstractSet[bytes] = frozenset()
    ) -> BuildContext:
        """Return the context of a property, by its name, or of an element."""
        return BuildContext(
            path=(*self.path, str(step)),
            allowance=allowance,
            name=self.name if isinstance(step, int) else step,
            avoid=avoid,
            ancestors=self.ancestors,
        )


@dataclass(slots=True, kw_only=True, eq=False)
class WitnessBuilder:
    """Builds one value; used once."""

    compiled: CompiledSchema
    rng: random.Random
    kind: InstanceKind
    #: Steps that are left.
    steps: int
    #: Values made so far.
    values_made: int = 0
    #: Paths of the values that the validator has refused.
    refused_paths: set[tuple[str, ...]] = field(default_factory=set)
    failures: dict[SearchFailure, str] = field(default_factory=dict)
    #: What the value is to reach; None if that does not matter.
    guide: Guide | None = None

    def varies(self, context: BuildContext) -> bool:
        """Return whether values are drawn at random here, not taken in order."""
        return (
            self.kind is InstanceKind.RANDOM
            or context.vary
            or context.path in self.refused_paths
        )

    def record_failure(self, failure: SearchFailure, detail: str) -> Nothing:
        """Remember why no value was found; the first detail of each failure counts."""
        self.failures.setdefault(failure, detail[:200])
        return NOTHING

    def flip_coin(self) -> bool:
        """Return true or false, each with probability one half."""
        return self.rng.random() < 0.5  # noqa: PLR2004 - what makes it fair

    def spend(self, steps: int = 1) -> None:
        """Take steps of the budget.

        Raises:
            ExhaustedError: none is left.
        """
        self.steps -= steps
        if self.steps < 0:
            raise ExhaustedError

    def value(
        self, goals: Goals, context: BuildContext | None = None
    ) -> Json | Nothing:
        """Return a value that meets the goals, or NOTHING.

        Raises:
            ExhaustedError: the budget is spent.
        """
        context = (context or BuildContext()).for_goals(goals)
        self.spend()
        if len(context.path) > DEEPEST:
            depths = [
                minimal_depth(self.compiled, goal)
                for goal in goals
                if isinstance(goal, SchemaLocation)
            ]
            is_endless = math.inf in depths
            return self.record_failure(
                SearchFailure.ENDLESS if is_endless else SearchFailure.TOO_LARGE,
                f"deeper than {DEEPEST}: {'/'.join(context.path[:8])}",
            )
        mark = self.guide.mark() if self.guide else (0, 0)
        for redraw in range(REDRAWS):
            value = self._decided(goals, context)
            if value is not NOTHING and context.allows(value):
                self.values_made += 1
                return value
            if self.guide:
                self.guide.take_back(mark)
            if value is NOTHING:
                return value
            # Optional parts may differ where required parts do not.
            allowance = max(context.allowance, redraw)
            context = msgspec.structs.replace(context, allowance=allowance, vary=True)
        return self.record_failure(
            SearchFailure.CONTRADICTION, "no element unlike the others"
        )

    def _decided(self, goals: Goals, context: BuildContext) -> Json | Nothing:
        """Return a value that meets the goals and every choice in them, or NOTHING."""
        conjunction = conjoin(self.compiled, goals)
        if conjunction.is_decided and not conjunction.contradiction():
            return next(self.candidates(conjunction, context), NOTHING)
        depth = len(context.path)
        attempts = _ATTEMPTS[depth] if depth < len(_ATTEMPTS) else _MIN
        return _BranchSearch(self, context, attempts).pick(goals, frozenset())

    def candidates(
        self, conjunction: Conjunction, context: BuildContext
    ) -> Iterator[Json]:
        """Yield values for a conjunction whose choices are made."""
        guide = self.guide
        if guide:
            goals = conjunction.goals
            guide.claim(goal for goal in goals if isinstance(goal, SchemaLocation))
            guide.claim(conjunction.locations)
        if conjunction.values is not None:
            yield from self._enumerated(conjunction, context)
            return
        if context.allowance >= 1:
            value = self._example(conjunction, context)
            if value is not NOTHING:
                yield value
        for kind in self._types(conjunction, context):
            if kind in _CONTAINERS:
                build: type[_ObjectBuilder | _ArrayBuilder] = (
                    _ObjectBuilder if kind == "object" else _ArrayBuilder
                )
                with guide.within(conjunction.locations) if guide else nullcontext():
                    value = build(self, conjunction, context).run()
            else:
                value = self._scalar(conjunction, kind, context)
            if value is not NOTHING:
                yield value

    def _scalar(
        self, conjunction: Conjunction, kind: str, context: BuildContext
    ) -> Json | Nothing:
        watched = (
            conjunction.excluded
            or conjunction.not_multiples
            or "integer" not in conjunction.types
        )
        for redraw in range(REDRAWS):
            value = self._draw(conjunction, kind, context.name, redraw)
            if value is NOTHING:
                return value
            if context.allows(value) and not (
                watched and not conjunction.admits(value)
            ):
                return value
        return self.record_failure(
            SearchFailure.CONTRADICTION, f"no {kind} unlike the others"
        )

    def _draw(
        self, conjunction: Conjunction, kind: str, name: str, redraw: int
    ) -> Json | Nothing:
        if kind == "string":
            return self._string(conjunction.string(name))
        if kind == "boolean":
            return self.flip_coin()
        if kind == "null":
            return None
        number = conjunction.number(kind, name)
        if redraw >= REDRAWS // 2 and number.minimum is None:
            # The usual numbers are all taken.
            number = replace(number, minimum=self.rng.randint(0, 10**redraw))
        value = numbers.make_number(number, self.rng)
        if value is None:
            return self.record_failure(SearchFailure.CONTRADICTION, str(number))
        try:
            if isinstance(value, int) and "integer" not in conjunction.types:
                return value + 0.5
            for factor in conjunction.not_multiples:
                if kind == "number" and is_multiple(value, factor):
                    return value + factor / 2
        except OverflowError:  # an integer beyond doubles has no half
            return self.record_failure(SearchFailure.CONTRADICTION, str(number))
        return value

    def _string(self, constraints: strings.StringConstraints) -> Json | Nothing:
        if constraints.min_length > MAX_LENGTH:
            detail = f"{constraints.min_length} characters are required"
            return self.record_failure(SearchFailure.TOO_LARGE, detail)
        text = strings.make_string(constraints, self.rng)
        if text is None:
            return self.record_failure(SearchFailure.PATTERN, str(constraints))
        return text

    def _enumerated(
        self, conjunction: Conjunction, context: BuildContext
    ) -> Iterator[Json]:
        values = list(conjunction.values or ())
        if self.varies(context):
            self.rng.shuffle(values)
        for value in values:
            if context.allows(value) and self._passes(conjunction, value):
                yield value
        self.record_failure(SearchFailure.CONTRADICTION, "no value of an enum is left")

    def _passes(self, conjunction: Conjunction, value: Json) -> bool:
        if not isinstance(value, dict | list):
            return True
        accepts = self.compiled.accepts
        return all(accepts(location, value) for location in conjunction.locations)

    def _example(
        self, conjunction: Conjunction, context: BuildContext
    ) -> Json | Nothing:
        """Return a default or an example of the schema, or NOTHING.

        Objects and arrays are used for `random` witnesses only: a `full` one should
        have every optional property.
        """
        examples: list[Json] = conjunction.examples()
        if not examples or context.path in self.refused_paths:
            return NOTHING
        if self.varies(context):
            if self.rng.random() > _GIVEN:
                return NOTHING
            examples = [self.rng.choice(examples)]
        for value in examples:
            if (
                (self.kind is InstanceKind.RANDOM or not isinstance(value, dict | list))
                and context.allows(value)
                and self._passes(conjunction, value)
            ):
                return value
        return NOTHING

    def _types(self, conjunction: Conjunction, context: BuildContext) -> Sequence[str]:
        types = conjunction.likely_types()
        if len(types) <= 1:
            return types
        if self.guide:
            leading = set()
            for part in conjunction.locations:
                steps = self.guide.graph.steps(part)
                if self.guide.wants_any(steps.properties):
                    leading.add("object")
                elif self.guide.wants_any(steps.elements):
                    leading.add("array")
            return sorted(types, key=lambda kind: kind not in leading)
        if context.scalars_first:
            return sorted(types, key=_CONTAINERS.__contains__)
        return self.rng.sample(types, len(types)) if self.varies(context) else types


@dataclass(slots=True)
class _BranchSearch:
    builder: WitnessBuilder
    context: BuildContext
    #: Values that may still be made.
    remaining: int
    #: The number of them at which the current branch must stop.
    reserve: int = 0

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
        reserve = self.reserve
        for branch in ways:
            room = self.remaining - reserve
            if room <= 0:
                break
            if set(branch) <= set(goals):
                continue
            self.reserve = self.remaining - max(_MIN, room // 2)
            mark = self._mark()
            value = self.pick((*goals, *branch), picked)
            self.reserve = reserve
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
                if amended is not NOTHING or self.remaining <= self.reserve:
                    return amended
            if not (
                conjunction.unverified or conjunction.negations or conjunction.excluded
            ):
                return NOTHING
            context = msgspec.structs.replace(context, vary=True)
        places = [
            goal.pointer or "/"
            for goal in conjunction.goals
            if isinstance(goal, SchemaLocation)
        ]
        detail = "no value for " + " and ".join(places[:3])
        return self.builder.record_failure(SearchFailure.CONTRADICTION, detail)

    def _mark(self) -> tuple[int, tuple[int, int]]:
        """Return the state of a guided search: number of values, and the guide."""
        guide = self.builder.guide
        return self.builder.values_made, guide.mark() if guide else (0, 0)

    def _take_back(self, mark: tuple[int, tuple[int, int]]) -> None:
        """Forget the targets and the size of a rejected value."""
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
            if not any({*amendment} <= {*conjunction.goals} for amendment in ways):
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
                location = compiled.child(holder, (keyword,))
                if not compiled.accepts(location, value):
                    goals += [test if holds else Negation(test), location]
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
            for keyword, goal in (("then", test), ("else", Negation(test))):
                ways.append((goal,))
                if keyword in holder.schema:
                    ways[-1] += (compiled.child(holder, (keyword,)),)
        return ways


class _ContainerBuilder:
    def __init__(
        self, builder: WitnessBuilder, conjunction: Conjunction, context: BuildContext
    ) -> None:
        self.builder, self.conjunction, self.context = builder, conjunction, context
        self.values_before = builder.values_made
        self.begin()

    def begin(self) -> None:
        """Start with no members."""

    def share(self, remaining: int) -> float:
        """Return the allowance of the next of the members that remain."""
        spent = self.builder.values_made - self.values_before
        return max((self.context.allowance - spent) / remaining - 1, 0)

    def affords(self, guide: Guide) -> bool:
        """Return whether there may be more members than are required."""
        return guide.affords(self.builder.values_made, self.conjunction.locations)

    def claim(self, step: str | int) -> None:
        """Mark the targets of a member as reached."""
        if self.builder.guide:
            self.builder.guide.claim(self.conjunction.member_sites(step))


class _ArrayBuilder(_ContainerBuilder):
    def begin(self) -> None:
        self.prefix_length = self.conjunction.prefix_length()
        self.items: list[Json] = []
        self.identities: set[bytes] = set()
        #: Schemas of `contains` that further elements must meet.
        self.needed = [
            rule.location
            for rule in self.conjunction.contains
            for _ in range(min(rule.minimum, _MADE))
        ]

    def run(self) -> Json | Nothing:
        conjunction, guide = self.conjunction, self.builder.guide
        required = conjunction.counts.get("minItems", 0)
        if required > MAX_ITEMS:
            detail = f"{required} items are required"
            return self.builder.record_failure(SearchFailure.TOO_LARGE, detail)
        minimum = max(required, len(self.needed), 2 * conjunction.duplicate)
        count = self._count(minimum)
        if guide:
            guide.expand(conjunction.locations)
        individual = self.prefix_length + len(conjunction.contains)
        for index in range(count):
            if index >= max(_MADE, individual) and not conjunction.unique:
                free = self.items[individual:] or self.items[-1:]
                while len(self.items) < minimum:
                    self.items.append(free[len(self.items) % len(free)])
                break
            if not self._add(index, self.share(count - index)):
                break
        if guide:
            self._add_wanted(guide)
        if len(self.items) < minimum or self.needed:
            return NOTHING
        return self.items

    def _count(self, minimum: int) -> int:
        builder, allowance = self.builder, self.context.allowance
        count = minimum
        if allowance >= 1 and builder.kind is InstanceKind.RANDOM:
            count += builder.rng.randint(0, 2)
        elif allowance >= 1:
            few = 2 if allowance >= _ROOM_FOR_TWO else 1
            count = max(minimum, self.prefix_length or few)
        maximum = self.conjunction.counts.get("maxItems")
        if maximum is None:
            return count
        is_long = minimum < count < maximum <= _MAX_AT_BOUND
        return (
            maximum
            if is_long and builder.rng.random() < _AT_BOUND
            else min(count, maximum)
        )

    def _add(self, index: int, allowance: float) -> bool:
        conjunction, builder = self.conjunction, self.builder
        goals = conjunction.member_goals(index)
        if goals is None:
            return False
        if index == 1 and conjunction.duplicate:
            self.items.append(self.items[0])
            return True
        context = self.context.member(index, allowance, self.identities)
        full = tuple(
            Negation(rule.location)
            for rule in conjunction.contains
            if rule.maximum is not None and rule.location not in self.needed
        )
        extras: list[Goals] = [(self.needed[0],), full] if self.needed else [full]
        for extra in extras:
            value = builder.value((*goals, *extra), context)
            if value is not NOTHING:
                break
        else:
            return False
        for location in dict.fromkeys(self.needed):
            if builder.compiled.accepts(location, value):
                self.needed.remove(location)
        self.claim(index)
        self.items.append(value)
        if conjunction.unique:
            self.identities.add(identity(value))
        return True

    def _add_wanted(self, guide: Guide) -> None:
        """Add elements that lead to an open target."""
        sites = self.conjunction.member_sites
        for _ in range(self.prefix_length + _SIBLINGS):
            index, maximum = len(self.items), self.conjunction.counts.get("maxItems")
            if maximum is not None and index >= maximum:
                return
            # Those before the last of a prefix have to be there for those after; what
            # the elements before have chosen leaves other branches for this one.
            is_useful = any(
                guide.wants_any(sites(at))
                for at in range(index, max(self.prefix_length, index) + 1)
            ) or guide.expand_again(sites(index))
            if not (is_useful and self.affords(guide) and self._add(index, 0)):
                return


class _ObjectBuilder(_ContainerBuilder):
    def begin(self) -> None:
        self.members: dict[str, Json] = {}
        self.failed: set[str] = set()
        self.declared = self.conjunction.named_members("properties")

    def run(self) -> Json | Nothing:
        conjunction, guide = self.conjunction, self.builder.guide
        minimum = conjunction.counts.get("minProperties", 0)
        if minimum > MAX_PROPERTIES:
            detail = f"{minimum} properties are required"
            return self.builder.record_failure(SearchFailure.TOO_LARGE, detail)
        if guide:
            guide.expand(conjunction.locations)
            if guide.is_reversed:
                self._add_wanted(guide)
        self.values_before = self.builder.values_made
        names = [*conjunction.required, *self._optional()]
        for index, name in enumerate(names):
            is_required = name in conjunction.required
            is_added = (is_required or self._pays(name)) and (
                self._add(name, self.share(len(names) - index))
            )
            if is_required and not is_added:
                return NOTHING
        extra_names = [extra.extra_name for extra in conjunction.extras]
        if not all(map(self._add_named, filter(None, extra_names))):
            return NOTHING
        if guide:
            self._add_wanted(guide)
        elif self.context.allowance >= 1:
            self._add_undeclared()
        if not self._fill(minimum):
            return NOTHING
        order = dict.fromkeys((*self.declared, *self.members))
        return {name: self.members[name] for name in order if name in self.members}

    def _pays(self, name: str) -> bool:
        """Return whether an optional property is still wanted, if there is a guide."""
        guide, sites = self.builder.guide, self.conjunction.member_sites(name)
        return not guide or (self.affords(guide) and guide.wants_any(sites))

    def _optional(self) -> list[str]:
        builder, context, guide = self.builder, self.context, self.builder.guide
        required = self.conjunction.required
        names = [name for name in self.declared if name not in required]
        if not guide and context.allowance < 1:
            return []
        if not guide and builder.varies(context):
            names = [name for name in names if builder.flip_coin()]
        names = [
            name for name in names if (*context.path, name) not in builder.refused_paths
        ]
        if guide:
            sites = self.conjunction.member_sites
            names = [name for name in names if guide.wants_any(sites(name))]
            if guide.is_reversed:
                names.reverse()
        elif context.path:
            names = names[: int(context.allowance)]
        return names[: self._room(len(required))]

    def _room(self, used: int) -> int:
        maximum = self.conjunction.counts.get("maxProperties")
        return MAX_PROPERTIES if maximum is None else max(0, maximum - used)

    def _add(self, name: str, allowance: float) -> bool:
        if name in self.failed:
            return False
        goals = self.conjunction.member_goals(name)
        if goals is None or not self.conjunction.allows_name(name):
            return False
        value = self.builder.value(goals, self.context.member(name, allowance))
        if value is NOTHING:
            self.failed.add(name)
            return False
        self.members[name] = value
        self.claim(name)
        return True

    def _add_undeclared(self) -> None:
        builder = self.builder
        if builder.kind is InstanceKind.RANDOM and builder.flip_coin():
            return
        patterns = list(self.conjunction.named_members("patternProperties"))
        if self.conjunction.is_map():
            patterns.append("")
        for pattern in patterns:
            if self._room(len(self.members)) > 0:
                self._add_new(pattern)

    def _add_wanted(self, guide: Guide) -> None:
        """Add properties with undeclared names that lead to an open target."""
        for part in self.conjunction.locations:
            for site in guide.graph.steps(part).properties:
                keyword, *names = site.tokens[len(part.tokens) :]
                if keyword == "properties":
                    continue
                for _ in range(_SIBLINGS):
                    missing = self.conjunction.required.keys() - self.members.keys()
                    room = self._room(len(self.members) + len(missing)) > 0
                    if not (room and guide.wants(site) and self.affords(guide)):
                        break
                    if not self._add_new(names[0] if names else ""):
                        break

    def _fill(self, minimum: int) -> bool:
        """Add properties until there are enough; return whether there are."""
        if len(self.members) >= minimum:
            return True

        def depth(name: str) -> float:
            compiled = self.builder.compiled
            sites = self.conjunction.member_sites(name)
            depths = (minimal_depth(compiled, site, hinted=True) for site in sites)
            return max(depths, default=0)

        for name in sorted(self.declared, key=depth):
            if name not in self.members and len(self.members) < minimum:
                self._add(name, 0)
        for pattern in ("", *self.conjunction.named_members("patternProperties")):
            while len(self.members) < minimum and self._add_new(pattern):
                pass
        return len(self.members) >= minimum

    def _add_new(self, pattern: str) -> bool:
        """Add a property whose name a pattern matches, or any if it is empty."""
        share = self.context.allowance / 8
        for draw in range(_DRAWS):
            name = self._new_name(pattern, draw)
            if name is None:
                return False
            is_new = name not in self.members and name not in self.declared
            if is_new and self._add(name, share if share >= 1 else 0):
                return True
        return False

    def _add_named(self, goals: Goals) -> bool:
        """Add a property whose name meets goals."""
        for _ in range(_DRAWS):
            name = self.builder.value(
                (*goals, *self.conjunction.name_locations, _A_STRING),
                self.context.member("", 0),
            )
            if name is NOTHING:
                return False
            if isinstance(name, str) and self._add(name, 0):
                return True
        return False

    def _new_name(self, pattern: str, draw: int) -> str | None:
        goals = tuple(self.conjunction.name_locations)
        if not goals and not pattern:
            number = len(self.members) + draw
            stem = _NAMES[number % len(_NAMES)]
            return stem if draw == 0 else f"{stem}{number}"
        constraints = strings.StringConstraints(patterns=(pattern,) if pattern else ())
        if goals:
            names = conjoin(self.builder.compiled, (*goals, _A_STRING))
            if names.values is not None:
                unused = [
                    value
                    for value in names.values
                    if isinstance(value, str) and value not in self.members
                ]
                return unused[draw] if draw < len(unused) else None
            text = names.string("")
            patterns = (*constraints.patterns, *text.patterns)
            constraints = replace(text, patterns=patterns)
        name = strings.make_string(constraints, self.builder.rng)
        if name is None:
            detail = f"property name {constraints}"
            self.builder.record_failure(SearchFailure.PATTERN, detail)
        return name

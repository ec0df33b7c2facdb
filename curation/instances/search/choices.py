"""Decide what a conjunction leaves open: search with backtracking.

Branches of `anyOf` and `oneOf` are picked in turn. Negations, conditionals and
dependencies are ignored at first; those that the finished value violates are added to
the goals, and the value is made again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from curation.core.json_types import Json
from curation.instances.constraints.admission import admits
from curation.instances.constraints.conjoin import conjoin, contradiction
from curation.instances.constraints.conjunction import (
    BranchChoice,
    Conjunction,
    Dependency,
    ExtraConstraint,
    Goal,
    Goals,
    Negation,
)
from curation.instances.constraints.keyword_values import accepts_everything
from curation.instances.constraints.minimal_depth import likely_depth
from curation.instances.search.context import (
    NOTHING,
    BuildContext,
    Nothing,
    ValueBuilder,
)
from curation.instances.search.negation import ways_to_fail
from curation.instances.values.model import SearchFailure
from curation.schema.subschemas import SchemaLocation

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
    if conjunction.is_decided and not contradiction(builder.compiled, conjunction):
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
        why = contradiction(self.builder.compiled, conjunction)
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
            branches.sort(key=lambda branch: likely_depth(builder.compiled, branch))
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
        return self.builder.record_failure(
            SearchFailure.CONTRADICTION, _where(conjunction)
        )

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
        if conjunction.excluded and not admits(conjunction, value):
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
            for keyword in ("then", "else"):
                place = (
                    (compiled.child(holder, (keyword,)),)
                    if keyword in holder.schema
                    else ()
                )
                first = test if keyword == "then" else Negation(test)
                ways.append((first, *place))
        return ways


def _where(conjunction: Conjunction) -> str:
    places = [
        goal.pointer or "/"
        for goal in conjunction.goals
        if isinstance(goal, SchemaLocation)
    ]
    return "no value for " + " and ".join(places[:3])

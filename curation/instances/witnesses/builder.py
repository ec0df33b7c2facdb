"""Build a value that meets goals: the recursion over its parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.admission import admitted_examples
from curation.instances.constraints.likely_types import likely_types
from curation.instances.constraints.minimal_depth import minimal_depth
from curation.instances.model import InstanceKind, Obstacle
from curation.instances.witnesses import arrays, choices, objects, scalars
from curation.instances.witnesses.context import (
    NOTHING,
    REDRAWS,
    BuildContext,
    Nothing,
    ValueBuilder,
)
from curation.json.values import identity
from curation.schema.subschemas import SchemaLocation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from curation.core.json_types import Json
    from curation.instances.constraints.goals import Goals
    from curation.instances.constraints.model import Conjunction
    from curation.instances.reach.guide import Guide


#: Levels of an instance below which the search ends.
DEEPEST: Final = 64
#: How often a `random` value takes what the schema gives as default or example.
_GIVEN: Final = 0.3
_CONTAINERS: Final = frozenset({"object", "array"})


@dataclass(slots=True, kw_only=True, eq=False)
class WitnessBuilder(ValueBuilder):
    """Builds one value; used once."""

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
            return self._too_deep(goals, context)
        mark = self.guide.mark() if self.guide else None
        for redraw in range(REDRAWS):
            found = choices.solve(self, goals, context)
            if found is NOTHING:
                self._take_back(mark)
                return found
            if not context.avoid or identity(found) not in context.avoid:
                self.values_made += 1
                return found
            self._take_back(mark)
            # What is optional may differ where what is required does not.
            more = max(context.allowance, redraw)
            context = context._replace(allowance=more, vary=True)
        return self.record_obstacle(
            Obstacle.CONTRADICTION, "no element unlike the others"
        )

    def _take_back(self, mark: tuple[int, int] | None) -> None:
        """Forget what a value reaches that is not taken."""
        if self.guide and mark is not None:
            self.guide.take_back(mark)

    def _too_deep(self, goals: Goals, context: BuildContext) -> Nothing:
        places = [goal for goal in goals if isinstance(goal, SchemaLocation)]
        endless = any(
            math.isinf(minimal_depth(self.compiled, location)) for location in places
        )
        obstacle = Obstacle.ENDLESS if endless else Obstacle.TOO_LARGE
        return self.record_obstacle(
            obstacle, f"deeper than {DEEPEST}: {'/'.join(context.path[:8])}"
        )

    def candidates(
        self, conjunction: Conjunction, context: BuildContext
    ) -> Iterator[Json]:
        """Yield values for a conjunction whose choices are made, as long as asked."""
        if self.guide:
            self.guide.claim(conjunction.goal_locations())
        if conjunction.values is not None:
            yield from self._listed(conjunction, context)
            return
        if context.allowance >= 1:
            found = self._given(conjunction, context)
            if found is not NOTHING:
                yield found
        for kind in self._types(conjunction, context):
            found = self._of_type(conjunction, kind, context)
            if found is not NOTHING:
                yield found

    def _listed(
        self, conjunction: Conjunction, context: BuildContext
    ) -> Iterator[Json]:
        values = list(conjunction.values or ())
        if self.varies(context):
            self.rng.shuffle(values)
        for value in values:
            is_new = not context.avoid or identity(value) not in context.avoid
            if is_new and self._passes(conjunction, value):
                yield value
        self.record_obstacle(Obstacle.CONTRADICTION, "no value of an enum is left")

    def _passes(self, conjunction: Conjunction, value: Json) -> bool:
        """Return whether an object or array of an enum is accepted, by the validator.

        `admits` looks at scalars alone, so they pass.
        """
        if not isinstance(value, dict | list):
            return True
        accepts = self.compiled.accepts
        return all(accepts(location, value) for location in conjunction.locations)

    def _given(self, conjunction: Conjunction, context: BuildContext) -> Json | Nothing:
        """Return a default or an example of the schema, or NOTHING.

        Objects and arrays are used for `random` witnesses only: a `full` one should
        have every optional property.
        """
        given: list[Json] = admitted_examples(conjunction)
        if not given or context.path in self.refused_paths:
            return NOTHING
        if self.varies(context):
            if self.rng.random() > _GIVEN:
                return NOTHING
            given = [self.rng.choice(given)]
        for value in given:
            if (
                (self.kind is InstanceKind.RANDOM or not isinstance(value, dict | list))
                and identity(value) not in context.avoid
                and self._passes(conjunction, value)
            ):
                return value
        return NOTHING

    def _types(self, conjunction: Conjunction, context: BuildContext) -> Sequence[str]:
        types = likely_types(conjunction)
        if self.guide and len(types) > 1:
            wanted = self._leading_types(conjunction, self.guide)
            return sorted(types, key=lambda kind: kind not in wanted)
        if context.scalars_first and len(types) > 1:
            return sorted(types, key=_CONTAINERS.__contains__)
        if len(types) == 1 or not self.varies(context):
            return types
        return self.rng.sample(types, len(types))

    def _leading_types(self, conjunction: Conjunction, guide: Guide) -> set[str]:
        """Return the types whose members lead to an open target."""
        found = set()
        for part in conjunction.locations:
            steps = guide.graph.steps(part)
            if guide.wants_any(steps.properties):
                found.add("object")
            elif guide.wants_any(steps.elements):
                found.add("array")
        return found

    def _of_type(
        self, conjunction: Conjunction, kind: str, context: BuildContext
    ) -> Json | Nothing:
        if kind in _CONTAINERS:
            if not self.guide:
                return self._container(conjunction, kind, context)
            with self.guide.within(conjunction.locations):
                return self._container(conjunction, kind, context)
        return scalars.build_scalar(self, conjunction, kind, context)

    def _container(
        self, conjunction: Conjunction, kind: str, context: BuildContext
    ) -> Json | Nothing:
        if kind == "object":
            return objects.build_object(self, conjunction, context)
        return arrays.build_array(self, conjunction, context)

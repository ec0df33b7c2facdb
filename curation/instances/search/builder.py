"""Build one value that meets goals, validate it, and rebuild what is refused."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.minimal_depth import minimal_depth
from curation.instances.search.choices import solve
from curation.instances.search.containers import build_array, build_object
from curation.instances.search.context import (
    NOTHING,
    REDRAWS,
    BuildContext,
    Nothing,
    ValueBuilder,
)
from curation.instances.values import numbers, strings
from curation.instances.values.model import InstanceKind, SearchFailure
from curation.json.values import identity, is_multiple
from curation.schema.subschemas import SchemaLocation

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.constraints.conjunction import (
        Conjunction,
        Goals,
    )
    from curation.instances.search.reach import Guide

#: Types with enough values that drawing again is worth it.
_DRAWN = frozenset({"string", "integer", "number"})
#: Longest string that is made.
LONGEST = 1_000_000


def build_scalar(
    builder: ValueBuilder, conjunction: Conjunction, kind: str, context: BuildContext
) -> Json | Nothing:
    """Return a scalar of one type, or NOTHING."""
    watched = (
        conjunction.excluded
        or conjunction.not_multiples
        or "integer" not in conjunction.types
    )
    for redraw in range(REDRAWS):
        value = _draw(builder, conjunction, kind, context.name, redraw)
        if value is NOTHING:
            return value
        new = not context.avoid or identity(value) not in context.avoid
        if new and not (watched and not conjunction.admits(value)):
            if not watched and not context.avoid and kind in _DRAWN:
                builder.redraws[context.path] = partial(
                    _draw, builder, conjunction, kind, context.name, 0
                )
            return value
    return builder.record_failure(
        SearchFailure.CONTRADICTION, f"no {kind} unlike the others"
    )


def _draw(
    builder: ValueBuilder, conjunction: Conjunction, kind: str, name: str, redraw: int
) -> Json | Nothing:
    if kind == "string":
        return _string(builder, conjunction.string(name))
    if kind == "boolean":
        return builder.flip_coin()
    if kind == "null":
        return None
    number = conjunction.number(kind, name)
    if redraw >= REDRAWS // 2 and number.minimum is None:
        # The usual numbers are all taken.
        number = replace(number, minimum=builder.rng.randint(0, 10**redraw))
    value = numbers.make_number(number, builder.rng)
    if value is None:
        return builder.record_failure(SearchFailure.CONTRADICTION, str(number))
    try:
        if isinstance(value, int) and "integer" not in conjunction.types:
            return value + 0.5
        for factor in conjunction.not_multiples:
            if kind == "number" and is_multiple(value, factor):
                return value + factor / 2
    except OverflowError:  # an integer beyond doubles has no half
        return builder.record_failure(SearchFailure.CONTRADICTION, str(number))
    return value


def _string(
    builder: ValueBuilder, constraints: strings.StringConstraints
) -> Json | Nothing:
    if constraints.min_length > LONGEST:
        detail = f"{constraints.min_length} characters are required"
        return builder.record_failure(SearchFailure.TOO_LARGE, detail)
    text = strings.make_string(constraints, builder.rng)
    if text is None:
        return builder.record_failure(SearchFailure.PATTERN, str(constraints))
    return text


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
            value = solve(self, goals, context)
            if value is NOTHING:
                self._take_back(mark)
                return value
            if not context.avoid or identity(value) not in context.avoid:
                self.values_made += 1
                return value
            self._take_back(mark)
            # What is optional may differ where what is required does not.
            more = max(context.allowance, redraw)
            context = context._replace(allowance=more, vary=True)
        return self.record_failure(
            SearchFailure.CONTRADICTION, "no element unlike the others"
        )

    def _take_back(self, mark: tuple[int, int] | None) -> None:
        if self.guide and mark is not None:
            self.guide.take_back(mark)

    def _too_deep(self, goals: Goals, context: BuildContext) -> Nothing:
        places = [goal for goal in goals if isinstance(goal, SchemaLocation)]
        endless = any(
            math.isinf(minimal_depth(self.compiled, location)) for location in places
        )
        failure = SearchFailure.ENDLESS if endless else SearchFailure.TOO_LARGE
        return self.record_failure(
            failure, f"deeper than {DEEPEST}: {'/'.join(context.path[:8])}"
        )

    def candidates(
        self, conjunction: Conjunction, context: BuildContext
    ) -> Iterator[Json]:
        """Yield values for a conjunction whose choices are made."""
        if self.guide:
            goals = conjunction.goals
            self.guide.claim(goal for goal in goals if isinstance(goal, SchemaLocation))
            self.guide.claim(conjunction.locations)
        if conjunction.values is not None:
            yield from self._enumerated(conjunction, context)
            return
        if context.allowance >= 1:
            value = self._example(conjunction, context)
            if value is not NOTHING:
                yield value
        for kind in self._types(conjunction, context):
            value = self._of_type(conjunction, kind, context)
            if value is not NOTHING:
                yield value

    def _enumerated(
        self, conjunction: Conjunction, context: BuildContext
    ) -> Iterator[Json]:
        values = list(conjunction.values or ())
        if self.varies(context):
            self.rng.shuffle(values)
        for value in values:
            is_new = not context.avoid or identity(value) not in context.avoid
            if is_new and self._passes(conjunction, value):
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
                and identity(value) not in context.avoid
                and self._passes(conjunction, value)
            ):
                return value
        return NOTHING

    def _types(self, conjunction: Conjunction, context: BuildContext) -> Sequence[str]:
        types = conjunction.likely_types()
        if self.guide and len(types) > 1:
            leading = self._leading_types(conjunction, self.guide)
            return sorted(types, key=lambda kind: kind not in leading)
        if context.scalars_first and len(types) > 1:
            return sorted(types, key=_CONTAINERS.__contains__)
        if len(types) == 1 or not self.varies(context):
            return types
        return self.rng.sample(types, len(types))

    def _leading_types(self, conjunction: Conjunction, guide: Guide) -> set[str]:
        types = set()
        for part in conjunction.locations:
            steps = guide.graph.steps(part)
            if guide.wants_any(steps.properties):
                types.add("object")
            elif guide.wants_any(steps.elements):
                types.add("array")
        return types

    def _of_type(
        self, conjunction: Conjunction, kind: str, context: BuildContext
    ) -> Json | Nothing:
        if kind not in _CONTAINERS:
            return build_scalar(self, conjunction, kind, context)
        build = build_object if kind == "object" else build_array
        if not self.guide:
            return build(self, conjunction, context)
        with self.guide.within(conjunction.locations):
            return build(self, conjunction, context)

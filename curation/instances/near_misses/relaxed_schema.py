"""A schema without one keyword, to find values that fail it."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjunction import Goals, Negation
from curation.instances.constraints.keyword_values import COMPANIONS
from curation.instances.search.builder import WitnessBuilder
from curation.instances.search.context import NOTHING, ExhaustedError, Nothing
from curation.instances.values.model import InstanceKind
from curation.json.pointer import replaced
from curation.schema.subschemas import SchemaLocation

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.instances.constraints.assertions import Assertion


def least_value(
    compiled: CompiledSchema, goals: Goals, rng: random.Random, steps: int
) -> Json | Nothing:
    """Return a least value that meets goals, or NOTHING within so many steps."""
    builder = WitnessBuilder(
        compiled=compiled, rng=rng, kind=InstanceKind.MINIMAL, steps=steps
    )
    try:
        return builder.value(goals)
    except (ExhaustedError, RecursionError):
        return NOTHING


#: The name under which the keyword is kept.
_ASIDE: Final = "csbdata:aside"
#: Keywords that mean nothing without the one that is taken out.
_DEPENDANTS: Final[dict[str, tuple[str, ...]]] = {
    "exclusiveMinimum": ("minimum",),
    "exclusiveMaximum": ("maximum",),
    "contains": ("minContains", "maxContains"),
    "if": ("then", "else"),
}


class RelaxedSchema:
    """A schema without one keyword."""

    def __init__(self, compiled: CompiledSchema, assertion: Assertion) -> None:
        """Take the keyword out of a copy; the schema itself is left as it is."""
        location, keyword = assertion.location, assertion.keyword
        aside = {
            name: location.schema[name]
            for name in (keyword, *COMPANIONS.get(keyword, ()))
            if name in location.schema
        }
        gone = {keyword, *_DEPENDANTS.get(keyword, ())}
        relaxed = {
            name: value for name, value in location.schema.items() if name not in gone
        }
        relaxed[_ASIDE] = aside
        schema = replaced(compiled.value, location.tokens, relaxed)
        self.compiled = CompiledSchema(schema, compiled.dialect)
        self._denied = Negation(self.compiled.location_at((*location.tokens, _ASIDE)))

    def value(self, goals: Goals, rng: random.Random, steps: int) -> Json | Nothing:
        """Return a value that meets goals but for the keyword, or NOTHING.

        Args:
            goals: What the value must meet in the schema as it was.
            rng: Random source.
            steps: The budget of the search.
        """
        relaxed: Goals = (*self._relaxed(goals), self._denied)
        return least_value(self.compiled, relaxed, rng, steps)

    def _relaxed(self, goals: Goals) -> list[SchemaLocation]:
        """Return the same locations here, but for those inside the keyword."""
        locations = []
        for goal in goals:
            if isinstance(goal, SchemaLocation) and not goal.document:
                with suppress(LookupError):
                    locations.append(self.compiled.location_at(goal.tokens))
        return locations

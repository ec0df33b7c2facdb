"""A value that fails one keyword and meets all the rest: found by a search.

The keyword is taken out of its schema and kept beside it under a name that means
nothing; a value is then made that the relaxed schema accepts, and the keyword alone
refuses.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.goals import Goals, Negation
from curation.instances.constraints.keyword_values import COMPANIONS
from curation.instances.model import InstanceKind
from curation.instances.witnesses.builder import WitnessBuilder
from curation.instances.witnesses.context import (
    NOTHING,
    BuildContext,
    ExhaustedError,
    Nothing,
)
from curation.json.pointer import replaced
from curation.schema.subschemas import SchemaLocation

if TYPE_CHECKING:
    import random

    from curation.core.json_types import Json
    from curation.instances.constraints.reachable_keywords import Assertion

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
        kept = {
            name: value for name, value in location.schema.items() if name not in gone
        }
        kept[_ASIDE] = aside
        schema = replaced(compiled.schema, location.tokens, kept)
        self.compiled = CompiledSchema(schema, compiled.dialect)
        self._denied = Negation(self.compiled.location_at((*location.tokens, _ASIDE)))

    def value(self, goals: Goals, rng: random.Random, steps: int) -> Json | Nothing:
        """Return a value that meets goals but for the keyword, or NOTHING.

        Args:
            goals: What the value must meet in the schema as it was.
            rng: What choices are drawn from.
            steps: The budget of the search.
        """
        builder = WitnessBuilder(
            compiled=self.compiled, rng=rng, kind=InstanceKind.MINIMAL, steps=steps
        )
        relaxed: Goals = (*self._relaxed(goals), self._denied)
        try:
            return builder.value(relaxed, BuildContext())
        except (ExhaustedError, RecursionError):
            return NOTHING

    def _relaxed(self, goals: Goals) -> list[SchemaLocation]:
        """Return the same locations here, but for those inside the keyword."""
        found = []
        for goal in goals:
            if isinstance(goal, SchemaLocation) and not goal.document:
                with suppress(LookupError):
                    found.append(self.compiled.location_at(goal.tokens))
        return found

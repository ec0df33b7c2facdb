"""A value that fails one keyword and meets all the rest: found by a search.

The keyword is taken out of its schema and kept beside it under a word that means
nothing; a value is then made that the looser schema accepts, and the keyword alone
refuses.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.goals import Goals, Negation
from curation.instances.model import InstanceKind
from curation.instances.witnesses.builder import WitnessBuilder
from curation.instances.witnesses.context import (
    NOTHING,
    BuildContext,
    ExhaustedError,
    Nothing,
)
from curation.json.pointer import replaced
from curation.schema.locations import SchemaLocation

if TYPE_CHECKING:
    import random

    from curation.core.json_types import UntypedJson
    from curation.instances.constraints.reachable_keywords import Assertion

#: The word under which the keyword is kept.
_ASIDE: Final = "csbdata:aside"
#: What a keyword needs beside it to mean what it did.
_COMPANIONS: Final[dict[str, tuple[str, ...]]] = {
    "additionalProperties": ("properties", "patternProperties"),
    "additionalItems": ("items",),
    "items": ("prefixItems",),
    "exclusiveMinimum": ("minimum",),
    "exclusiveMaximum": ("maximum",),
    "minContains": ("contains",),
    "maxContains": ("contains", "minContains"),
    "if": ("then", "else"),
}
#: Companions that mean nothing without it.
_DEPENDANTS: Final[dict[str, tuple[str, ...]]] = {
    "exclusiveMinimum": ("minimum",),
    "exclusiveMaximum": ("maximum",),
    "contains": ("minContains", "maxContains"),
    "if": ("then", "else"),
}


class RelaxedSchema:
    """A compiled without one keyword."""

    def __init__(self, compiled: CompiledSchema, pair: Assertion) -> None:
        """Take the keyword out; the record itself is left as it is."""
        location, keyword = pair.location, pair.keyword
        aside = {
            word: location.schema[word]
            for word in (keyword, *_COMPANIONS.get(keyword, ()))
            if word in location.schema
        }
        gone = {keyword, *_DEPENDANTS.get(keyword, ())}
        kept = {
            word: each for word, each in location.schema.items() if word not in gone
        }
        kept[_ASIDE] = aside
        schema = replaced(compiled.schema, location.tokens, kept)
        self.compiled = CompiledSchema(schema, compiled.dialect)
        self._denied = Negation(self.compiled.location_at((*location.tokens, _ASIDE)))

    def value(
        self, goals: Goals, rng: random.Random, steps: int
    ) -> UntypedJson | Nothing:
        """Return a value for the goals of a site that fails the keyword alone."""
        builder = WitnessBuilder(
            compiled=self.compiled, rng=rng, kind=InstanceKind.MINIMAL, steps=steps
        )
        try:
            return builder.value((*self._same(goals), self._denied), BuildContext())
        except (ExhaustedError, RecursionError):
            return NOTHING

    def _same(self, goals: Goals) -> list[SchemaLocation]:
        """Return the places of a site, but for those inside the keyword."""
        found = []
        for each in goals:
            if isinstance(each, SchemaLocation) and not each.document:
                with suppress(LookupError):
                    found.append(self.compiled.location_at(each.tokens))
        return found

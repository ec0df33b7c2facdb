"""How much a validator does at one value: schemas entered through references.

A definition that several branches refer to is entered once for each of them. Chains
of such definitions double at every step, and so do the errors of a refused value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.schema.keywords import REFERENCE_KEYWORDS

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.schema.locations import SchemaLocation

_MANY: Final = ("allOf", "anyOf", "oneOf")
_ONE: Final = ("not", "if", "then", "else")
#: Schemas entered one from another; below, nothing more is counted.
_DEEPEST: Final = 200


def count_entered_schemas(compiled: CompiledSchema, location: SchemaLocation) -> int:
    """Return how many schemas are entered for one value at a place."""
    return _Weighing(compiled).of(location, 0)


class _Weighing:
    def __init__(self, compiled: CompiledSchema) -> None:
        self._compiled = compiled
        self._known: dict[SchemaLocation, int] = {}

    def of(self, location: SchemaLocation, depth: int) -> int:
        if location in self._known or depth > _DEEPEST:
            return self._known.get(location, 1)
        # What refers back to itself is counted once.
        self._known[location] = 1
        total = 1 + sum(self.of(each, depth + 1) for each in self._inner(location))
        self._known[location] = total
        return total

    def _inner(self, location: SchemaLocation) -> list[SchemaLocation]:
        schema, compiled = location.schema, self._compiled
        if not isinstance(schema, dict):
            return []
        targets = [
            compiled.target(location, each)
            for each in REFERENCE_KEYWORDS
            if each in schema
        ]
        found = [each for each in targets if each is not None]
        if "$ref" in schema and compiled.dialect.ref_hides_siblings:
            return found
        for word in _MANY:
            branches = schema.get(word)
            count = len(branches) if isinstance(branches, list) else 0
            found += [
                compiled.child(location, (word, str(each))) for each in range(count)
            ]
        found += [compiled.child(location, (word,)) for word in _ONE if word in schema]
        return found

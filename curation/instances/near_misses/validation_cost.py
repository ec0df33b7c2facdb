"""How much a validator does at one value: schemas entered through references.

A definition that several branches refer to is entered once for each of them. Chains
of such definitions double at every step, and so do the errors of a refused value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from curation.instances.constraints.keyword_values import array_of
from curation.schema.keywords import REFERENCE_KEYWORDS

if TYPE_CHECKING:
    from curation.instances.constraints.compiled_schema import CompiledSchema
    from curation.schema.subschemas import SchemaLocation

#: Keywords that hold several schemas for the same value.
_BRANCHES: Final = ("allOf", "anyOf", "oneOf")
#: Keywords that hold one schema for the same value.
_SINGLE: Final = ("not", "if", "then", "else")
#: Schemas entered one from another; below, nothing more is counted.
_DEEPEST: Final = 200


def count_entered_schemas(compiled: CompiledSchema, location: SchemaLocation) -> int:
    """Return how many schemas are entered for one value of a schema.

    Example:
        >>> from curation.instances.constraints.compiled_schema import CompiledSchema
        >>> schema = {"anyOf": [{"type": "string"}, {"not": {"type": "null"}}]}
        >>> compiled = CompiledSchema.from_json(schema, "draft-07")
        >>> count_entered_schemas(compiled, compiled.root)
        4
    """
    return _Counter(compiled).count(location, 0)


class _Counter:
    def __init__(self, compiled: CompiledSchema) -> None:
        self._compiled = compiled
        self._known: dict[SchemaLocation, int] = {}

    def count(self, location: SchemaLocation, depth: int) -> int:
        if location in self._known or depth > _DEEPEST:
            return self._known.get(location, 1)
        # What refers back to itself is counted once.
        self._known[location] = 1
        entered = self._entered(location)
        total = 1 + sum(self.count(below, depth + 1) for below in entered)
        self._known[location] = total
        return total

    def _entered(self, location: SchemaLocation) -> list[SchemaLocation]:
        """Return the schemas that are entered from one for the same value."""
        schema, compiled = location.schema, self._compiled
        if not isinstance(schema, dict):
            return []
        targets = (
            compiled.target(location, keyword)
            for keyword in REFERENCE_KEYWORDS
            if keyword in schema
        )
        found = [target for target in targets if target is not None]
        if "$ref" in schema and compiled.dialect.ref_hides_siblings:
            return found
        for keyword in _BRANCHES:
            count = len(array_of(schema, keyword))
            found += [
                compiled.child(location, (keyword, str(at))) for at in range(count)
            ]
        for keyword in _SINGLE:
            if keyword in schema:
                found.append(compiled.child(location, (keyword,)))
        return found

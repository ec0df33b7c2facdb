"""Positions of schemas: where a change of a part changes the whole in the same way.

Fewer values of a part in a *monotone* position never mean more values of the whole. A
part in a *plain* position is the only schema that speaks of its value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from curation.fit.shapes import SHAPE
from curation.references.schema import Schema
from curation.schema.keywords import ANNOTATIONS, CONTAINERS
from curation.schema.subschemas import children, subschema_locations

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect

#: Applicators of which more of the part may mean less of the whole.
_NOT_MONOTONE: Final = frozenset({"not", "if", "oneOf", "contains", "contentSchema"})
_SCOPED: Final = frozenset(
    {*("unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef")}
)
#: Applicators of values inside a value.
_INSIDE: Final = frozenset(
    {"properties", "items", "prefixItems", "additionalProperties", "propertyNames"}
)
_IN_PLACE: Final = frozenset(
    {
        *("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref"),
        *("dependentSchemas", "dependencies"),
    }
)
_SILENT: Final = (ANNOTATIONS - {"format"}) | CONTAINERS | {SHAPE, "$id", "id"}


class Position(NamedTuple):
    """What holds of the schema at some place, however it is reached."""

    monotone: bool
    plain: bool

    def __and__(self, other: Position) -> Position:
        """Return what holds of both."""
        return Position(self.monotone and other.monotone, self.plain and other.plain)


def positions(schema: Json, dialect: Dialect) -> dict[Tokens, Position]:
    """Return the position of each subschema; one that nothing reaches is as the root.

    Example:
        >>> found = positions({"not": {"type": "null"}}, DRAFT_2020_12)
        >>> found["not",].monotone
        False
    """
    document = Schema(schema, dialect)
    everywhere = list(subschema_locations(schema, dialect))
    scoped = any(not _SCOPED.isdisjoint(it.keywords) for it in everywhere)
    start = Position(monotone=not scoped, plain=True)
    found: dict[Tokens, Position] = {}
    pending: list[tuple[Tokens, Json, Position]] = [((), schema, start)]
    while pending:
        tokens, part, around = pending.pop()
        known = found.get(tokens)
        position = around if known is None else around & known
        if position == known:
            continue
        found[tokens] = position
        if not isinstance(part, dict):
            continue
        asserting = part.keys() - _SILENT
        alone = asserting <= {"anyOf"} or asserting <= {"$ref"}
        if not alone and asserting & _IN_PLACE:
            found[tokens] = Position(monotone=position.monotone, plain=False)
        # What a pattern names may be a property, too.
        inside = _INSIDE - (
            {"properties"} if "patternProperties" in part else frozenset()
        )
        for path, child in children(part, dialect):
            if path[0] in CONTAINERS:
                continue
            step = Position(
                path[0] not in _NOT_MONOTONE,
                path[0] in inside or (path[0] == "anyOf" and alone),
            )
            pending.append(((*tokens, *path), child, position & step))
        reference = part.get("$ref")
        if isinstance(reference, str):
            location = document.location_at(tokens)
            target = document.target(location)
            if target is not None and not target.document:
                step = Position(monotone=True, plain=alone)
                pending.append((target.tokens, target.schema, position & step))
    return {it.tokens: found.get(it.tokens, start) for it in everywhere}

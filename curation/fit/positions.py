"""Positions of schemas: where a change of a part changes the whole in the same way.

Fewer values of a part in a *monotone* position never mean more values of the whole. A
part in a *plain* position is the only schema that speaks of its value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from curation.fit.edits import asserting
from curation.fit.scan import read_properties
from curation.fit.shapes import derive_shape
from curation.references.schema import Schema
from curation.schema.keywords import CONTAINERS, IN_PLACE
from curation.schema.subschemas import children

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect
    from curation.schema.subschemas import SchemaLocation

#: Applicators of which more of the part may mean less of the whole.
_NOT_MONOTONE: Final = frozenset({"not", "if", "oneOf", "contains", "contentSchema"})
_SCOPED: Final = frozenset(
    {*("unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef")}
)
#: Applicators of values inside a value.
_INSIDE: Final = frozenset(
    {"properties", "items", "prefixItems", "additionalProperties", "propertyNames"}
)
_IN_PLACE: Final = IN_PLACE | {"$ref"}
#: Keywords that may constrain each member of a value, and more such keywords.
_OF_EACH: Final = frozenset({"enum", "const", "contains"})
_OF_OTHERS: Final = _OF_EACH | {
    *("patternProperties", "additionalProperties", "unevaluatedProperties", "items"),
    *("prefixItems", "unevaluatedItems"),
}


class Position(NamedTuple):
    """What holds of the schema at some place, however it is reached."""

    monotone: bool
    plain: bool

    def __and__(self, other: Position) -> Position:
        """Return what holds of both."""
        return Position(self.monotone and other.monotone, self.plain and other.plain)


def positions(schema: Json, dialect: Dialect) -> dict[Tokens, Position]:
    """Return the position of each subschema; the root's for unreachable ones.

    Example:
        >>> found = positions({"not": {"type": "null"}}, DRAFT_2020_12)
        >>> found["not",].monotone
        False
    """
    document = Schema(schema, dialect)
    everywhere = document.walk
    scoped = any(not _SCOPED.isdisjoint(location.keywords) for location in everywhere)
    start = Position(monotone=not scoped, plain=True)
    by_path: dict[Tokens, Position] = {}
    pending = [(document.root, start)]
    while pending:
        current, around = pending.pop()
        previous = by_path.get(current.tokens)
        position = around if previous is None else around & previous
        if position == previous:
            continue
        keywords = asserting(current.keywords)
        alone = keywords <= {"anyOf"} or keywords <= {"$ref"}
        is_unique = _is_unique(current) and not derive_shape(current.schema).distinct
        named: set[str | None] = {None} if is_unique or keywords & _OF_EACH else set()
        by_path[current.tokens] = position
        if not alone and keywords & _IN_PLACE:
            by_path[current.tokens] = Position(monotone=position.monotone, plain=False)
            named |= _said_in_place(document, current)
        # What a pattern names may be a property, too.
        inside = _INSIDE
        if "patternProperties" in current.keywords:
            inside -= {"properties"}
        for path, _ in children(current.schema, dialect):
            if path[0] in CONTAINERS:
                continue
            also = named & {path[-1], None} if path[0] == "properties" else named
            plain = path[0] in inside and not also
            step = Position(
                path[0] not in _NOT_MONOTONE, plain or (path[0] == "anyOf" and alone)
            )
            pending.append((document.child(current, path), position & step))
        target = document.target(current) if "$ref" in current.keywords else None
        if target is not None and not target.document:
            pending.append((target, position & Position(monotone=True, plain=alone)))
    return {
        location.tokens: by_path.get(location.tokens, start) for location in everywhere
    }


def _said_in_place(document: Schema, start: SchemaLocation) -> set[str | None]:
    """Return the properties that other schemas of the same value constrain.

    None is among them if they may constrain any member.
    """
    names: set[str | None] = set()
    pending, visited = [start], {start}
    while pending:
        location = pending.pop()
        neighbours = [
            document.child(location, path)
            for path, _ in children(location.schema, document.dialect)
            if path[0] in _IN_PLACE
        ]
        if "$ref" in location.keywords and (target := document.target(location)):
            neighbours.append(target)
        new = [location for location in neighbours if location not in visited]
        visited.update(new)
        pending += new
        for neighbour in new:
            named = read_properties(neighbour.keywords)
            names.update(name for name in named if _says(named[name]))
            unnamed = any(_says(neighbour.keywords.get(name)) for name in _OF_OTHERS)
            if unnamed or _is_unique(neighbour):
                names.add(None)
    return names


def _is_unique(location: SchemaLocation) -> bool:
    return location.keywords.get("uniqueItems") is True


def _says(value: Json) -> bool:
    """Return whether a schema may refuse a value; a list may, and `false` does not."""
    if isinstance(value, dict):
        return bool(asserting(value))
    return isinstance(value, list)

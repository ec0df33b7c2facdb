"""Positions of schemas: where a change of a part changes the whole in the same way.

Fewer values of a part in a *monotone* position never mean more values of the whole. A
part in a *plain* position is the only schema that speaks of its value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from curation.fit.scan import properties_of
from curation.fit.shapes import SHAPE, shape_of
from curation.references.schema import Schema
from curation.schema.keywords import ANNOTATIONS, CONTAINERS, IN_PLACE
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
#: Keywords that may say something of each member of a value, and more such keywords.
_OF_EACH: Final = frozenset({"enum", "const", "contains"})
_OF_OTHERS: Final = _OF_EACH | {
    *("patternProperties", "additionalProperties", "unevaluatedProperties", "items"),
    *("prefixItems", "unevaluatedItems"),
}
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
    everywhere = document.walk
    scoped = any(not _SCOPED.isdisjoint(it.keywords) for it in everywhere)
    start = Position(monotone=not scoped, plain=True)
    found: dict[Tokens, Position] = {}
    pending = [(document.root, start)]
    while pending:
        here, around = pending.pop()
        known = found.get(here.tokens)
        position = around if known is None else around & known
        if position == known:
            continue
        asserting = here.keywords.keys() - _SILENT
        alone = asserting <= {"anyOf"} or asserting <= {"$ref"}
        is_unique = _is_unique(here) and not shape_of(here.schema).distinct
        said: set[str | None] = {None} if is_unique or asserting & _OF_EACH else set()
        found[here.tokens] = position
        if not alone and asserting & _IN_PLACE:
            found[here.tokens] = Position(monotone=position.monotone, plain=False)
            said |= _said_in_place(document, here)
        # What a pattern names may be a property, too.
        inside = _INSIDE
        if "patternProperties" in here.keywords:
            inside -= {"properties"}
        for path, _ in children(here.schema, dialect):
            if path[0] in CONTAINERS:
                continue
            also = said & {path[-1], None} if path[0] == "properties" else said
            plain = path[0] in inside and not also
            step = Position(
                path[0] not in _NOT_MONOTONE, plain or (path[0] == "anyOf" and alone)
            )
            pending.append((document.child(here, path), position & step))
        target = document.target(here) if "$ref" in here.keywords else None
        if target is not None and not target.document:
            pending.append((target, position & Position(monotone=True, plain=alone)))
    return {it.tokens: found.get(it.tokens, start) for it in everywhere}


def _said_in_place(document: Schema, start: SchemaLocation) -> set[str | None]:
    """Return the properties of which other schemas of the same value say something.

    None is among them if they may say something of any member.
    """
    said: set[str | None] = set()
    pending, seen = [start], {start}
    while pending:
        here = pending.pop()
        others = [
            document.child(here, path)
            for path, _ in children(here.schema, document.dialect)
            if path[0] in _IN_PLACE
        ]
        if "$ref" in here.keywords and (target := document.target(here)):
            others.append(target)
        for other in others:
            if other in seen:
                continue
            seen.add(other)
            pending.append(other)
            named = properties_of(other.keywords)
            said.update(name for name in named if _says(named[name]))
            own = any(_says(other.keywords.get(name)) for name in _OF_OTHERS)
            if own or _is_unique(other):
                said.add(None)
    return said


def _is_unique(location: SchemaLocation) -> bool:
    return location.keywords.get("uniqueItems") is True


def _says(value: Json) -> bool:
    """Return whether a schema may refuse a value; a list may, and `false` does not."""
    return isinstance(value, list) or (
        isinstance(value, dict) and not value.keys() <= _SILENT
    )

"""One schema as checks of profiles look at it: each subschema once, and what it counts.

Definitions and the targets of local references are looked at, whether or not validation
would enter them: a target reads the whole text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from curation.core.json_types import Json
from curation.json.values import remembered
from curation.references.schema import Reference, Schema, scan_references
from curation.schema.dialects import ANY_DIALECT, declared
from curation.schema.keywords import CONTAINERS
from curation.schema.subschemas import SchemaLocation, subschema_locations

if TYPE_CHECKING:
    from curation.json.pointer import Tokens

#: Applicators that a schema's own type says nothing about.
_IN_PLACE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
_ABOUT_OBJECTS: Final = frozenset({"properties", "additionalProperties"})


class Scan:
    """Everything that checks ask about one schema, computed once."""

    def __init__(self, schema: Json) -> None:
        """Walk over a schema once, in the dialect that it declares."""
        stated = schema.get("$schema") if isinstance(schema, dict) else None
        dialect = declared(stated) or ANY_DIALECT
        self.document = Schema(schema, dialect)
        self.targets: dict[Tokens, Tokens | None] = {}
        references: dict[tuple[Tokens, str], Reference] = {}
        places: dict[Tokens, SchemaLocation] = {}
        # References may lead to where no keyword does, and from there further.
        starts = [self.document.root]
        while starts:
            start = starts.pop()
            if start.tokens in places or not isinstance(start.schema, dict | bool):
                continue
            for place in subschema_locations(start.schema, dialect):
                tokens = start.tokens + place.tokens
                places.setdefault(tokens, SchemaLocation(tokens, place.schema))
            scan = self.document.scanned
            if start.tokens:
                scan = scan_references(start, dialect)
            for reference in scan.references:
                key = reference.tokens, reference.keyword
                if not isinstance(reference.value, str) or key in references:
                    continue
                references[key] = reference
                target = self.document.lookup(reference.text, reference.base)
                self.targets[reference.tokens] = target.tokens if target else None
                starts += [target] if target else []
        self.places = list(places.values())
        #: Those whose value is a string.
        self.references = list(references.values())

    @cached_property
    def recursive(self) -> frozenset[Tokens]:
        """The schemas whose reference leads, by way of others, back above itself."""
        inside: dict[Tokens, set[Tokens]] = {
            target: set() for target in self.targets.values() if target is not None
        }
        above: dict[Tokens, list[Tokens]] = {}
        for tokens, target in self.targets.items():
            lengths = range(len(tokens) + 1)
            above[tokens] = [tokens[:n] for n in lengths if tokens[:n] in inside]
            if target is not None:
                for holder in above[tokens]:
                    inside[holder].add(target)
        reached = {target: _reached(target, inside) for target in inside}
        return frozenset(
            tokens
            for tokens, target in self.targets.items()
            if target is not None and not reached[target].isdisjoint(above[tokens])
        )

    @cached_property
    def depth(self) -> int:
        """The most objects and arrays inside each other, references followed."""
        depths: dict[Tokens, int] = {}
        # One pass for each reference on the way; those that come back count nothing.
        for _ in range(1 + len(self.targets)):
            before = dict(depths)
            #: Of the values inside, by the schema around.
            inner: dict[Tokens, int] = {}
            for place in reversed(self.places):
                tokens = place.tokens
                own = _is_nested(place.schema) + inner.get(tokens, 0)
                target = self.targets.get(tokens)
                if target is not None and tokens not in self.recursive:
                    own = max(own, depths.get(target, 0))
                depths[tokens] = max(own, depths.get(tokens, 0))
                holder, keyword = self.holders.get(tokens, ((), "$defs"))
                if keyword in _IN_PLACE:
                    depths[holder] = max(depths.get(holder, 0), depths[tokens])
                elif keyword not in CONTAINERS:
                    inner[holder] = max(inner.get(holder, 0), depths[tokens])
            if depths == before:
                break
        return depths.get((), 0)

    @cached_property
    def holders(self) -> dict[Tokens, tuple[Tokens, str]]:
        """The schema directly around each, and the keyword there."""
        known = {place.tokens for place in self.places}
        holders: dict[Tokens, tuple[Tokens, str]] = {}
        for tokens in known:
            for length in range(len(tokens) - 1, -1, -1):
                if tokens[:length] in known:
                    holders[tokens] = tokens[:length], tokens[length]
                    break
        return holders


def _reached(start: Tokens, inside: Mapping[Tokens, set[Tokens]]) -> set[Tokens]:
    reached, waiting = {start}, [start]
    while waiting:
        for following in inside[waiting.pop()] - reached:
            reached.add(following)
            waiting.append(following)
    return reached


@remembered
def scan_of(schema: Json) -> Scan | None:
    """Return the scan of a value; None if it is no schema. The last ones are kept."""
    return Scan(schema) if isinstance(schema, dict | bool) else None


def types_of(schema: Mapping[str, Json]) -> frozenset[str]:
    """Return the names that a schema's `type` has; none if it has no such keyword."""
    value = schema.get("type")
    names = value if isinstance(value, list) else [value]
    return frozenset(name for name in names if isinstance(name, str))


def is_of_types(schema: Mapping[str, Json], types: Sequence[str]) -> bool:
    """Return whether a schema has one of the types, the empty one for none."""
    return not types or not (types_of(schema) or {""}).isdisjoint(types)


def is_object_schema(schema: Mapping[str, Json]) -> bool:
    """Return whether a schema says that it is about objects."""
    types = types_of(schema)
    return "object" in types or (not types and not _ABOUT_OBJECTS.isdisjoint(schema))


def _is_nested(schema: Json) -> int:
    if not isinstance(schema, dict):
        return 0
    return int(is_object_schema(schema) or "array" in types_of(schema))


def properties_of(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the members of `properties`; none without it."""
    value = schema.get("properties")
    return value if isinstance(value, dict) else {}


def required_of(schema: Mapping[str, Json]) -> list[Json]:
    """Return the members of `required`; none without it."""
    value = schema.get("required")
    return value if isinstance(value, list) else []


def enumerated(schema: Mapping[str, Json]) -> Iterator[tuple[str, list[Json]]]:
    """Yield `enum` and `const` with the values that they list."""
    values = schema.get("enum")
    if isinstance(values, list):
        yield "enum", values
    if "const" in schema:
        yield "const", [schema["const"]]

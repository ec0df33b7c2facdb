"""One schema prepared for checks of profiles: each subschema once, and counts.

Definitions and the targets of local references are looked at, whether or not validation
would enter them: a target reads the whole text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

import msgspec

from curation.core.json_types import Json
from curation.instances.constraints.keyword_values import (
    read_array,
    read_names,
    read_object,
)
from curation.json.pointer import Tokens, upwards
from curation.json.values import remembered
from curation.references.schema import Reference, Schema, references_in
from curation.schema.dialects import ANY_DIALECT, declared
from curation.schema.keywords import CONTAINERS, IN_PLACE
from curation.schema.subschemas import SchemaLocation, below

_ABOUT_OBJECTS: Final = frozenset({"properties", "additionalProperties"})


class Match(msgspec.Struct, frozen=True):
    """A place where a check finds something."""

    tokens: Tokens
    keyword: str
    sentence: str


class Scan:
    """Everything that checks ask about one schema, computed once."""

    def __init__(self, schema: Json) -> None:
        """Walk over a schema once, in the dialect that it declares."""
        uri = schema.get("$schema") if isinstance(schema, dict) else None
        dialect = declared(uri) or ANY_DIALECT
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
            inside = below(start, dialect)
            for location in inside:
                places.setdefault(location.tokens, location)
            for reference in references_in(inside, dialect):
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
        #: What rules have found and counted here, by the rule and by the count.
        self.found: dict[str, Sequence[Match]] = {}
        self.causes: dict[str, set[str]] = {}
        self.counts: dict[str, int] = {}

    @cached_property
    def keywords(self) -> Mapping[str, list[int]]:
        """The names of all members of places, and the numbers of those places."""
        numbers: dict[str, list[int]] = {}
        for number, location in enumerate(self.places):
            for name in location.keywords:
                numbers.setdefault(name, []).append(number)
        return numbers

    def having(self, names: Iterable[str]) -> list[SchemaLocation]:
        """Return the places with any of some keywords, in the order of `places`."""
        numbers = {number for name in names for number in self.keywords.get(name, ())}
        return [self.places[number] for number in sorted(numbers)]

    @cached_property
    def recursive(self) -> frozenset[Tokens]:
        """The schemas whose reference leads, by way of others, back above itself."""
        inside: dict[Tokens, set[Tokens]] = {
            target: set() for target in self.targets.values() if target is not None
        }
        above: dict[Tokens, list[Tokens]] = {}
        for tokens, target in self.targets.items():
            above[tokens] = [path for path in upwards(tokens) if path in inside]
            if target is not None:
                for holder in above[tokens]:
                    inside[holder].add(target)
        circles = _circles(inside)
        return frozenset(
            tokens
            for tokens, target in self.targets.items()
            if target is not None
            and any(circles[target] == circles[ancestor] for ancestor in above[tokens])
        )

    @cached_property
    def depth(self) -> int:
        """The most objects and arrays inside each other, references followed."""
        nested = {
            location.tokens: _is_nested(location.schema) for location in self.places
        }
        #: By the schema around: the schemas of the same value, and of values inside.
        same_value: defaultdict[Tokens, list[Tokens]] = defaultdict(list)
        inner: defaultdict[Tokens, list[Tokens]] = defaultdict(list)
        for tokens, (holder, keyword) in self.holders.items():
            if keyword not in CONTAINERS:
                (same_value if keyword in IN_PLACE else inner)[holder].append(tokens)
        for tokens, target in self.targets.items():
            # References that come back count nothing.
            if target is not None and target in nested and tokens not in self.recursive:
                same_value[tokens].append(target)
        depths: dict[Tokens, int] = {}
        pending: list[Tokens] = [()]
        while pending:
            tokens = pending[-1]
            if tokens in depths:
                pending.pop()
                continue
            around = same_value[tokens] + inner[tokens]
            unknown = [path for path in around if path not in depths]
            pending += unknown
            if not unknown:
                below = [nested[tokens] + depths[path] for path in inner[tokens]]
                beside = [depths[path] for path in same_value[tokens]]
                depths[tokens] = max([nested[tokens], *below, *beside])
        return depths[()]

    @cached_property
    def holders(self) -> dict[Tokens, tuple[Tokens, str]]:
        """The schema directly around each, and the keyword there."""
        paths = {location.tokens for location in self.places}
        holders: dict[Tokens, tuple[Tokens, str]] = {}
        for tokens in paths - {()}:
            for around in upwards(tokens[:-1]):
                if around in paths:
                    holders[tokens] = around, tokens[len(around)]
                    break
        return holders

    def is_required(self, tokens: Tokens) -> bool:
        """Return whether the innermost property around a schema must be present."""
        while holder := self.holders.get(tokens):
            around, keyword = holder
            # A reference may lead to `properties` itself, which is not a property.
            if keyword == "properties" and len(tokens) > len(around) + 1:
                required = read_required(self.document.location_at(around).keywords)
                return tokens[len(around) + 1] in required
            tokens = around
        return False


def _circles(inside: Mapping[Tokens, set[Tokens]]) -> dict[Tokens, Tokens]:
    """Return for each place one of those that lead to it and back, the same for all.

    They are found by the algorithm of Kosaraju and Sharir, in linear time.
    """
    before: dict[Tokens, list[Tokens]] = {path: [] for path in inside}
    for holder, following in inside.items():
        for target in following:
            before[target].append(holder)
    order: dict[Tokens, None] = {}
    visited: set[Tokens] = set()
    pending = [*inside]
    while pending:
        holder = pending[-1]
        new: set[Tokens] = (
            set() if holder in visited else inside[holder] - visited - {holder}
        )
        visited.add(holder)
        pending += new
        if not new:
            order.setdefault(pending.pop())
    circles: dict[Tokens, Tokens] = {}
    for start in reversed(order):
        pending = [start]
        while pending:
            holder = pending.pop()
            if holder not in circles:
                circles[holder] = start
                pending += before[holder]
    return circles


@remembered
def scan_schema(schema: Json) -> Scan | None:
    """Return the scan of a value, cached; None if it is not a schema."""
    return Scan(schema) if isinstance(schema, dict | bool) else None


def list_types(schema: Mapping[str, Json]) -> frozenset[str]:
    """Return the names that a schema's `type` has; none if it has no such keyword."""
    return frozenset(read_names(schema.get("type")))


def is_of_types(schema: Mapping[str, Json], types: Sequence[str]) -> bool:
    """Return whether a schema has one of the types, the empty one for none."""
    return not types or not (list_types(schema) or {""}).isdisjoint(types)


def is_object_schema(schema: Mapping[str, Json]) -> bool:
    """Return whether a schema states that it is about objects."""
    types = list_types(schema)
    return "object" in types or (not types and not _ABOUT_OBJECTS.isdisjoint(schema))


def _is_nested(schema: Json) -> int:
    if not isinstance(schema, dict):
        return 0
    return int(is_object_schema(schema) or "array" in list_types(schema))


def read_properties(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Return the members of `properties`; none without it."""
    return read_object(schema, "properties")


def read_required(schema: Mapping[str, Json]) -> list[Json]:
    """Return the members of `required`; none without it."""
    return read_array(schema, "required")


def enumerated(schema: Mapping[str, Json]) -> Iterator[tuple[str, list[Json]]]:
    """Yield `enum` and `const` with the values that they list."""
    values = schema.get("enum")
    if isinstance(values, list):
        yield "enum", values
    if "const" in schema:
        yield "const", [schema["const"]]

"""Which types does a schema expect at a path? What Type Safety compares with."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from curation.json.pointer import at, tokens_of_fragment
from curation.json.values import type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics.leaves import Path

_EVERY: Final = frozenset(
    {"null", "boolean", "integer", "number", "string", "array", "object"}
)
# So many references and unions inside one another, at one location, are a loop.
_MOST_REFERENCES: Final = 16
# Locations that are remembered of one schema.
_MOST_KNOWN: Final = 20_000


def _accepts(expected: frozenset[str], value: Json) -> bool:
    found = type_of(value)
    return found in expected or (found == "integer" and "number" in expected)


# Schemas of which at least one holds; and what is known of a location, all of it true.
_Clause: TypeAlias = "tuple[dict[str, Json], ...]"
_Clauses: TypeAlias = "tuple[_Clause, ...]"
_ANYTHING: Final[dict[str, Json]] = {"type": [*sorted(_EVERY)]}
_NOTHING: Final[dict[str, Json]] = {"enum": []}


@dataclass(frozen=True, slots=True)
class ResolvedTypes:
    """The types of a schema, references and unions followed.

    A location is expected if a keyword of the schema names it: a property, a pattern
    of names, an item, or a schema for all others. Where it is named and no type is
    said, every type is right. A location that nothing names expects no type.
    """

    schema: Json
    #: What is known of each location that was asked for, or is above one.
    _known: dict[Path, _Clauses] = field(default_factory=dict)
    #: The types of each location that was asked for; None where nothing names it.
    _expected: dict[Path, frozenset[str] | None] = field(default_factory=dict)

    def accepts(self, path: Path, value: Json) -> bool:
        """Return whether a leaf of the answer has a type that is expected there."""
        if path in self._expected:
            expected = self._expected[path]
        else:
            clauses = self._walk(path)
            expected = _types(clauses) if clauses else None
            if len(self._expected) < _MOST_KNOWN:
                self._expected[path] = expected
        return expected is not None and _accepts(expected, value)

    def _walk(self, path: Path) -> _Clauses:
        """Return what is known of a location; nothing where no keyword names it."""
        clauses = tuple(self._expanded(self.schema, 0))
        for length, step in enumerate(path, 1):
            place = path[:length]
            known = self._known.get(place)
            clauses = self._step(clauses, step) if known is None else known
            if len(self._known) < _MOST_KNOWN:
                self._known[place] = clauses
        return clauses

    def _step(self, clauses: _Clauses, step: str | int) -> _Clauses:
        below: dict[tuple[int, ...], _Clause] = {}
        for clause in clauses:
            branches = [
                [
                    part
                    for child in _children(schema, step)
                    for part in self._expanded(child, 0)
                ]
                for schema in clause
            ]
            named = [branch for branch in branches if branch]
            if not named:
                continue
            for found in named[0] if len(clause) == 1 else [_either(named)]:
                below[tuple(map(id, found))] = found
        return tuple(below.values())

    def _expanded(self, schema: Json, hops: int) -> list[_Clause]:
        """Return a schema with what it refers to and combines, at its own location."""
        if not isinstance(schema, dict):
            return [(_ANYTHING if schema else _NOTHING,)]
        clauses: list[_Clause] = [(schema,)]
        if hops == _MOST_REFERENCES:
            return clauses
        reference = schema.get("$ref")
        if isinstance(reference, str):
            clauses += self._expanded(self._target(reference), hops + 1)
        all_of = schema.get("allOf")
        for part in all_of if isinstance(all_of, list) else ():
            clauses += self._expanded(part, hops + 1)
        unions = [schema.get(keyword) for keyword in ("anyOf", "oneOf")]
        if "if" in schema:
            unions.append([schema.get("then", True), schema.get("else", True)])
        for union in unions:
            if isinstance(union, list) and union:
                branches = [self._expanded(branch, hops + 1) for branch in union]
                clauses.append(_either(branches))
        return clauses

    def _target(self, reference: str) -> Json:
        """Return what a reference inside the document leads to; {} if it leads out."""
        if not reference.startswith("#"):
            return {}
        try:
            return at(self.schema, tokens_of_fragment(reference))
        except LookupError:
            return {}


def _either(branches: list[list[_Clause]]) -> _Clause:
    """Return one clause of several branches: what any of them says may hold."""
    merged: dict[int, dict[str, Json]] = {}
    for branch in branches:
        schemas = [schema for clause in branch for schema in clause]
        if all(_stated(schema) is None for schema in schemas):
            schemas.append(_ANYTHING)
        merged.update((id(schema), schema) for schema in schemas)
    return tuple(merged.values())


def _types(clauses: _Clauses) -> frozenset[str]:
    types = _EVERY
    for clause in clauses:
        said = [found for schema in clause if (found := _stated(schema)) is not None]
        if said:
            types &= frozenset[str]().union(*said)
    return types


def _widened(types: frozenset[str]) -> frozenset[str]:
    """Return the types with `integer` where `number` is, so that sets can be cut."""
    return types | {"integer"} if "number" in types else types


def _stated(schema: dict[str, Json]) -> frozenset[str] | None:
    """Return the types of a schema's own `type`, `enum` and `const`; None of none."""
    types: frozenset[str] | None = None
    kind = schema.get("type")
    names = [kind] if isinstance(kind, str) else kind
    if isinstance(names, list):
        types = _widened(frozenset(name for name in names if isinstance(name, str)))
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(values, list):
        found = _widened(frozenset(map(type_of, values)))
        types = found if types is None else types & found
    return types


def _children(schema: dict[str, Json], step: str | int) -> Iterator[Json]:
    """Yield the subschemas that apply to a member or an item."""
    if isinstance(step, int):
        yield from _item_schemas(schema, step)
        return
    is_named = False
    properties = schema.get("properties")
    if isinstance(properties, dict) and step in properties:
        is_named = True
        yield properties[step]
    patterns = schema.get("patternProperties")
    for pattern, child in patterns.items() if isinstance(patterns, dict) else ():
        if _matches(pattern, step):
            is_named = True
            yield child
    others = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
    if not is_named and isinstance(others, dict):
        yield others


def _item_schemas(schema: dict[str, Json], index: int) -> Iterator[Json]:
    items = schema.get("items")
    first = schema.get("prefixItems", items if isinstance(items, list) else None)
    if isinstance(first, list) and index < len(first):
        yield first[index]
    elif isinstance(items, dict):
        yield items
    elif isinstance(first, list):
        others = schema.get("additionalItems", schema.get("unevaluatedItems"))
        if isinstance(others, dict):
            yield others


def _matches(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False


@dataclass(frozen=True, slots=True)
class PublishedTypes:
    """The types as the published code looks them up: by name, and no further.

    Only `properties` and an `items` object are followed. Of a list of types the one
    that is not null is expected, so that null is wrong even where it is allowed; with
    a reference, a union, or two such types nothing is expected, and every value wrong.
    A float is never an integer, 1.0 included.
    """

    schema: Json

    def accepts(self, path: Path, value: Json) -> bool:
        """Return whether a leaf of the answer has the type that is expected there."""
        expected = self._type(path)
        if isinstance(value, float):
            return expected == "number"
        found = type_of(value)
        return found == expected or (found == "integer" and expected == "number")

    def _type(self, path: Path) -> str | None:
        schema: Json = self.schema
        for step in path:
            if not isinstance(schema, dict):
                return None
            if isinstance(step, int):
                schema = schema.get("items")
            else:
                properties = schema.get("properties")
                if not isinstance(properties, dict):
                    return None
                schema = properties.get(step)
        kind = schema.get("type") if isinstance(schema, dict) else None
        if isinstance(kind, list):
            others = [name for name in kind if name != "null"]
            kind = others[0] if len(others) == 1 else None
        return kind if isinstance(kind, str) else None

"""Which keywords can some value violate, by their own names and values?

What decides of a keyword is its name alone, its value, or the schemas that it applies
(`curation.lint.liveness`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from curation.lint.contradictions import FORMATS, named_types
from curation.schema.keywords import (
    ANNOTATIONS,
    CONTAINERS,
    KNOWN_KEYWORDS,
    TYPE_OF_KEYWORD,
    KeywordKind,
    names_of_kind,
)
from curation.schema.roots import restricts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect

_JUDGED = (
    KNOWN_KEYWORDS
    - ANNOTATIONS
    - CONTAINERS
    - names_of_kind(KeywordKind.IDENTIFIER, KeywordKind.ANCHOR)
) | {"format"}
#: Applicators that can fail though none of the schemas that they hold can.
_FAILS_BY_ITSELF = frozenset({"contains", "not"})
#: Those of which some values are such.
MAY_FAIL_BY_ITSELF = frozenset({"oneOf", "dependencies"})
_BRANCHES = frozenset({"then", "else"})
_NOTHING = frozenset[str]()


def stated_types(schema: Mapping[str, Json]) -> str | frozenset[str] | None:
    """Return the types that a schema names, or None where it allows every type."""
    stated = schema.get("type")
    return stated if isinstance(stated, str) else named_types(schema)


@lru_cache(maxsize=4096)
def _dead_names(
    names: tuple[str, ...], types: str | frozenset[str] | None
) -> frozenset[str]:
    """Return the members about values that the `type` of their schema excludes."""
    return _NOTHING if types is None else _dead_beside(types).intersection(names)


class SortedNames(NamedTuple):
    """The members of a schema, by what decides whether they can fail."""

    #: Those that some value violates, whatever they say.
    live: frozenset[str]
    #: Those of which that depends on the schemas that they apply.
    waiting: frozenset[str]
    #: Those of which it depends on their value.
    asked: frozenset[str]
    #: Those of which the schemas inside are not entered: containers, and what is about
    #: values that the `type` beside it excludes.
    passed_over: frozenset[str]
    #: Whether any applies schemas, or holds them; whether any refers to one; and
    #: whether a reference hides those inside.
    applying: bool
    refers: bool
    hidden: bool


@lru_cache(maxsize=4096)
def sorted_names(
    names: tuple[str, ...], types: str | frozenset[str] | None, dialect: Dialect
) -> SortedNames:
    """Sort the members of a schema, given what `stated_types` says of it."""
    dead = _dead_names(names, types)
    judged = _JUDGED.intersection(dialect.effective | {"format"}, names) - dead
    hidden = dialect.ref_hides_siblings and "$ref" in names
    if hidden:
        judged &= {"$ref"}
    if "if" not in names:
        judged -= _BRANCHES
    live = judged & _FAILS_BY_ITSELF
    if isinstance(types, str):
        live |= {"type"} & judged if _type_asks(types) else _NOTHING
        judged -= {"type"}
    applied = judged & dialect.applying
    waiting = applied - _FAILS_BY_ITSELF - MAY_FAIL_BY_ITSELF
    return SortedNames(
        live=live,
        waiting=waiting,
        asked=judged - live - waiting,
        passed_over=CONTAINERS | dead,
        applying=not dialect.applying.isdisjoint(names),
        refers=not set(dialect.reference_keywords).isdisjoint(names),
        hidden=hidden,
    )


def live_by_itself(names: SortedNames, schema: Mapping[str, Json]) -> AbstractSet[str]:
    """Return the keywords of a schema that some value violates, whatever it applies."""
    if not names.asked:
        return names.live
    return names.live.union(
        name for name in names.asked if fails(name, schema[name], schema)
    )


@lru_cache(maxsize=4096)
def count_judged(names: tuple[str, ...]) -> int:
    """Return how many of the members of a schema count as keywords."""
    return len(_JUDGED.intersection(names))


@lru_cache(maxsize=256)
def _dead_beside(types: str | frozenset[str]) -> frozenset[str]:
    """Return the keywords about values that none of these types lets through."""
    types = frozenset({types}) if isinstance(types, str) else types
    types = types | {"number"} if "integer" in types else types
    return frozenset(
        name for name, about in TYPE_OF_KEYWORD.items() if about not in types
    )


def fails(name: str, value: Json, schema: Mapping[str, Json]) -> bool:
    """Return whether some value violates a keyword, whatever schemas it applies.

    It does `oneOf` where more than one of its schemas may hold.
    """
    if name == "format":
        return isinstance(value, str) and value in FORMATS
    if name == "oneOf":
        return isinstance(value, list) and len(value) > 1
    if name == "dependencies":
        return isinstance(value, dict) and any(
            isinstance(needed, list) and needed for needed in value.values()
        )
    if name == "type":
        return restricts(name, value) or value == ["object"]
    if isinstance(value, bool) and name.startswith("exclusive"):
        bound = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[name]
        return value and bound in schema
    return restricts(name, value) or (name == "enum" and value == [])


@lru_cache(maxsize=256)
def _type_asks(name: str) -> bool:
    """Return whether a `type` of one name refuses any value."""
    return restricts("type", name) or name == "object"


def excluded_by_type(schema: Mapping[str, Json], dialect: Dialect) -> Iterator[Tokens]:
    """Yield the keywords of a schema that its own `type` makes dead."""
    if dialect.ref_hides_siblings and "$ref" in schema:
        return
    dead = _dead_names(tuple(schema), stated_types(schema))
    if dead:
        dead &= dialect.effective
        yield from ((name,) for name in schema if name in dead)

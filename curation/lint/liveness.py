"""Which keywords of a record can any value violate?

A keyword is *live* if some value fails because of it where it stands: validation
reaches it, the `type` beside it lets the values through of which it speaks, and it asks
something of them. `format` counts where a validator can be asked to check it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from curation.lint.contradictions import FORMATS, allows
from curation.references.applied import directly_applied
from curation.references.reachable import taking_part
from curation.references.resolution import SchemaDocument
from curation.schema.keywords import (
    ANNOTATIONS,
    CONTAINERS,
    KNOWN_KEYWORDS,
    TYPE_OF_KEYWORD,
    KeywordKind,
    Shape,
    names_of_kind,
)
from curation.schema.measures import field_count
from curation.schema.roots import restricts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect
    from curation.schema.locations import SchemaLocation

_JUDGED = (
    KNOWN_KEYWORDS
    - ANNOTATIONS
    - CONTAINERS
    - names_of_kind(KeywordKind.IDENTIFIER, KeywordKind.ANCHOR)
) | {"format"}
#: Applicators that can fail though none of the schemas that they hold can.
_FAILS_BY_ITSELF = frozenset({"contains", "not"})
_BRANCHES = frozenset({"then", "else"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Liveness:
    """What of a record can fail."""

    #: Keywords of all its schemas, those that do nothing in its dialect included.
    keywords: int
    #: Those that some value can violate.
    live: int
    #: Its fields (`field_count`), those left out that lead to no live keyword.
    fields: int
    #: Whether nothing but the type of the root can fail.
    vacuous: bool

    @property
    def share(self) -> int:
        """Per cent of the keywords that are live, rounded down; 0 without any."""
        return 100 * self.live // self.keywords if self.keywords else 0


def liveness(schema: Json, dialect: Dialect) -> Liveness:
    """Return what of a schema can fail.

    Example:
        >>> liveness({"type": "string", "items": {"minimum": 1}}, DRAFT_07)
        Liveness(keywords=3, live=1, fields=1, vacuous=True)
    """
    found = _Search(schema, dialect)
    taking = dict(taking_part(schema, dialect))
    keywords = sum(len(_JUDGED & subschema.keys()) for subschema in taking.values())
    at_root = found.live_keywords(())
    return Liveness(
        keywords=keywords,
        live=sum(len(found.live_keywords(tokens)) for tokens in found.reached),
        fields=field_count(found.pruned()),
        vacuous=at_root <= {"type"},
    )


class _Search:
    """The schemas that can fail: the least set that the keywords' meanings allow."""

    def __init__(self, schema: Json, dialect: Dialect) -> None:
        self._schema = schema
        self._dialect = dialect
        self._document = SchemaDocument(schema=schema, dialect=dialect, uri="")
        #: Where each schema stands that validation can enter.
        self.reached: dict[Tokens, SchemaLocation] = {}
        #: From a schema to those that it applies, by the keyword that holds them;
        #: those that it refers to have an empty one.
        self._applies: dict[Tokens, dict[str, list[Tokens]]] = {}
        self._reach()
        self._failing: set[Tokens] = set()
        self._find_failing()
        self._live = {tokens: self._live_keywords(tokens) for tokens in self.reached}
        self._leading = {
            tokens[:length]
            for tokens in self._failing
            for length in range(len(tokens) + 1)
        }

    def _find_failing(self) -> None:
        appliers: dict[Tokens, list[Tokens]] = {}
        for tokens, groups in self._applies.items():
            for other in chain.from_iterable(groups.values()):
                appliers.setdefault(other, []).append(tokens)
        # Inner schemas were met later: from the end, nearly all are asked once.
        waiting = deque(reversed(self.reached))
        queued = set(waiting)
        while waiting:
            tokens = waiting.popleft()
            queued.discard(tokens)
            schema = self.reached[tokens].schema
            if schema is False or self._live_keywords(tokens):
                self._failing.add(tokens)
                again = set(appliers.get(tokens, ())) - self._failing - queued
                waiting.extend(again)
                queued |= again

    def _reach(self) -> None:
        waiting = [self._document.root]
        while waiting:
            location = waiting.pop()
            if location.tokens in self.reached:
                continue
            self.reached[location.tokens] = location
            groups = self._applies[location.tokens] = {}
            for other in directly_applied(location, self._document):
                keyword = _keyword(location, other)
                if not _is_dead(keyword, location.keywords):
                    groups.setdefault(keyword, []).append(other.tokens)
                    waiting.append(other)

    def live_keywords(self, tokens: Tokens) -> set[str]:
        """Return the keywords of one schema that some value can violate."""
        return self._live.get(tokens, set())

    def _live_keywords(self, tokens: Tokens) -> set[str]:
        location = self.reached[tokens]
        schema = location.keywords
        names = schema.keys() & (self._dialect.effective | {"format"}) & _JUDGED
        if self._dialect.ref_hides_siblings and "$ref" in schema:
            names = {"$ref"}
        return {
            name
            for name in names
            if not _is_dead(name, schema) and self._can_fail(name, location)
        }

    def _can_fail(self, name: str, location: SchemaLocation) -> bool:
        value: Json = location.keywords[name]
        if name == "format":
            return value in FORMATS
        if name in self._dialect.reference_keywords:
            return bool(self._failing_below(location, ""))
        if name not in self._dialect.applicators:
            return _asks(name, value, location.keywords)
        return self._applied_fails(name, value, location)

    def _applied_fails(self, name: str, value: Json, location: SchemaLocation) -> bool:
        fails = self._failing_below(location, name)
        if name == "anyOf":
            return isinstance(value, list) and len(fails) == len(value)
        if name == "oneOf":
            return bool(fails) or (isinstance(value, list) and len(value) > 1)
        if name == "if":
            return any(self._failing_below(location, branch) for branch in _BRANCHES)
        if name in _BRANCHES:
            return bool(fails) and "if" in location.keywords
        if name == "dependencies" and isinstance(value, dict):
            return bool(fails) or any(isinstance(v, list) and v for v in value.values())
        return name in _FAILS_BY_ITSELF or bool(fails)

    def _failing_below(self, location: SchemaLocation, keyword: str) -> list[Tokens]:
        """Return the schemas of one applicator that can fail."""
        held = self._applies[location.tokens].get(keyword, ())
        return [tokens for tokens in held if tokens in self._failing]

    def pruned(self) -> Json:
        """Return the schema without what leads to no live keyword."""
        return self._pruned((), self._schema)

    def _pruned(self, tokens: Tokens, schema: Json) -> Json:
        if not isinstance(schema, dict):
            return schema
        live = self.live_keywords(tokens)
        return {
            name: self._members(name, (*tokens, name), value)
            for name, value in schema.items()
            if name in live or (name in CONTAINERS and self._leads_on((*tokens, name)))
        }

    def _members(self, name: str, tokens: Tokens, value: Json) -> Json:
        shape = self._dialect.applicators.get(name)
        if not isinstance(value, dict) or shape is None:
            return value
        if shape in (Shape.MAP, Shape.DEPENDENCIES):
            return {
                inner: self._pruned((*tokens, inner), member)
                for inner, member in value.items()
                if name not in CONTAINERS or self._leads_on((*tokens, inner))
            }
        return self._pruned(tokens, value)

    def _leads_on(self, tokens: Tokens) -> bool:
        """Return whether a schema at or below a place can fail."""
        return tokens in self._leading


def _keyword(location: SchemaLocation, other: SchemaLocation) -> str:
    """Return the keyword by which one schema holds another; empty for a reference."""
    length = len(location.tokens)
    inside = other.tokens[:length] == location.tokens and len(other.tokens) > length
    if not inside or other.tokens[length] in CONTAINERS:
        return ""
    return other.tokens[length]


def _is_dead(name: str, schema: Mapping[str, Json]) -> bool:
    """Return whether the `type` of a schema excludes the values a keyword is about."""
    about = TYPE_OF_KEYWORD.get(name)
    if about is None:
        return False
    return not (
        allows(schema, about) or (about == "number" and allows(schema, "integer"))
    )


def _asks(name: str, value: Json, schema: Mapping[str, Json]) -> bool:
    """Return whether an assertion refuses any value of its type."""
    if name == "type":
        return restricts(name, value) or value in ("object", ["object"])
    if isinstance(value, bool) and name.startswith("exclusive"):
        bound = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[name]
        return value and bound in schema
    return restricts(name, value) or (name == "enum" and value == [])


def excluded_by_type(schema: Mapping[str, Json], dialect: Dialect) -> Iterator[Tokens]:
    """Yield the keywords of a schema that its own `type` makes dead."""
    if dialect.ref_hides_siblings and "$ref" in schema:
        return
    for name in schema:
        if name in dialect.effective and _is_dead(name, schema):
            yield (name,)

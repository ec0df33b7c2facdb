"""Which keywords of a record can any value violate?

A keyword is *live* if some value fails because of it where it stands: validation
reaches it, the `type` beside it lets the values through of which it speaks, and it asks
something of them. `format` counts where a validator can be asked to check it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from curation.lint.contradictions import FORMATS, named_types
from curation.references.applied import directly_applied
from curation.references.reachable import schemas_taking_part
from curation.references.resolution import SchemaDocument
from curation.schema.keywords import (
    ANNOTATIONS,
    CONTAINERS,
    KNOWN_KEYWORDS,
    REFERENCE_KEYWORDS,
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
_NOTHING = frozenset[str]()
#: A keyword that holds schemas, to those that can fail where one of the schemas can;
#: of the others it is the same keyword, and the empty name is that of references.
_DECIDED_BY = {
    "": frozenset(REFERENCE_KEYWORDS),
    "if": frozenset[str](),
    **{name: frozenset({name, "if"}) for name in _BRANCHES},
}


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
    return Liveness(
        keywords=sum(
            len(_JUDGED.intersection(subschema))
            for subschema in schemas_taking_part(schema, dialect)
        ),
        live=sum(len(node.live) for node in found.nodes.values()),
        fields=found.live_fields(),
        vacuous=found.root.live <= {"type"},
    )


class _Node:
    """A schema that validation can enter, and what of it was found out."""

    __slots__ = ("appliers", "failing", "live", "met", "schema", "waiting")

    def __init__(self, schema: Mapping[str, Json]) -> None:
        self.schema = schema
        #: The schemas that apply it, each with the keyword that holds it; where it is
        #: referred to, with an empty one.
        self.appliers: list[tuple[_Node, str]] = []
        #: Its keywords that some value can violate.
        self.live: set[str] = set()
        #: Those of which that depends on the schemas that they apply.
        self.waiting: set[str] = set()
        #: Of `anyOf`, how many that can fail were met.
        self.met = 0
        self.failing = False

    def meet(self, keyword: str) -> None:
        """Take note that one more of the schemas that a keyword holds can fail."""
        self.met += keyword == "anyOf"
        for name in self.waiting & _DECIDED_BY.get(keyword, {keyword}):
            value = self.schema[name]
            if name == "anyOf" and (
                not isinstance(value, list) or self.met < len(value)
            ):
                continue
            self.waiting.discard(name)
            self.live.add(name)


class _Search:
    """The schemas that can fail: the least set that the keywords' meanings allow."""

    def __init__(self, schema: Json, dialect: Dialect) -> None:
        self._schema = schema
        self._dialect = dialect
        self._judged = _JUDGED & (dialect.effective | {"format"})
        self._document = SchemaDocument(schema=schema, dialect=dialect, uri="")
        #: Every schema that validation can enter, by where it stands.
        self.nodes: dict[Tokens, _Node] = {}
        self._reach()
        self.root = self.nodes[()]
        self._find_failing()
        self._leading = _leading(self.nodes)

    def _reach(self) -> None:
        """Walk through applicators and references; judge what needs no other schema."""
        applying = self._dialect.applying
        waiting: list[tuple[_Node | None, str, SchemaLocation]] = [
            (None, "", self._document.root)
        ]
        while waiting:
            parent, keyword, location = waiting.pop()
            node = self.nodes.get(location.tokens)
            if node is None:
                node = self.nodes[location.tokens] = _Node(location.keywords)
                node.failing = location.schema is False
                dead = _dead_names(node.schema)
                self._judge(node, dead)
                if not applying.isdisjoint(node.schema):
                    waiting += [
                        (node, name, other)
                        for name, other in directly_applied(location, self._document)
                        if name not in dead
                    ]
            if parent is not None:
                node.appliers.append((parent, keyword))

    def _judge(self, node: _Node, dead: frozenset[str]) -> None:
        names = self._judged.intersection(node.schema)
        if self._dialect.ref_hides_siblings and "$ref" in node.schema:
            names = frozenset({"$ref"})
        for name in names - dead:
            fails = self._fails_alone(name, node.schema)
            if fails is None:
                node.waiting.add(name)
            elif fails:
                node.live.add(name)

    def _fails_alone(self, name: str, schema: Mapping[str, Json]) -> bool | None:
        """Return whether a keyword can fail whatever it applies; None if that decides.

        `oneOf` can where more than one of its schemas may hold.
        """
        value = schema[name]
        if name == "type" and isinstance(value, str):
            return _type_asks(value)
        if name == "format":
            return isinstance(value, str) and value in FORMATS
        if name in self._dialect.reference_keywords:
            return None
        if name not in self._dialect.applicators:
            return _asks(name, value, schema)
        if name in _FAILS_BY_ITSELF or (
            name == "oneOf" and isinstance(value, list) and len(value) > 1
        ):
            return True
        if name == "dependencies" and isinstance(value, dict):
            return any(isinstance(v, list) and v for v in value.values()) or None
        return None if name not in _BRANCHES or "if" in schema else False

    def _find_failing(self) -> None:
        known = [node for node in self.nodes.values() if node.failing or node.live]
        for node in known:
            node.failing = True
        while known:
            for node, keyword in known.pop().appliers:
                node.meet(keyword)
                if node.live and not node.failing:
                    node.failing = True
                    known.append(node)

    def live_fields(self) -> int:
        """Return the fields of the schema without what leads to no live keyword."""
        return self._fields((), self._schema)

    def _fields(self, tokens: Tokens, schema: Json) -> int:
        if not isinstance(schema, dict):
            return 0
        node = self.nodes.get(tokens)
        live = node.live if node else frozenset()
        return sum(
            1 + self._fields_of(name, (*tokens, name), value)
            for name, value in schema.items()
            if name in live or (name in CONTAINERS and (*tokens, name) in self._leading)
        )

    def _fields_of(self, name: str, tokens: Tokens, value: Json) -> int:
        """Return the fields in the value of one member that stays."""
        if not isinstance(value, dict):
            return 0
        shape = self._dialect.applicators.get(name)
        if shape is None:
            return field_count(value)
        if shape not in (Shape.MAP, Shape.DEPENDENCIES):
            return self._fields(tokens, value)
        return sum(
            1 + self._fields((*tokens, inner), member)
            for inner, member in value.items()
            if name not in CONTAINERS or (*tokens, inner) in self._leading
        )


def _leading(nodes: Mapping[Tokens, _Node]) -> set[Tokens]:
    """Return where the schemas below containers stand that can fail, or lead to one."""
    found: set[Tokens] = set()
    for tokens, node in nodes.items():
        if node.failing and not CONTAINERS.isdisjoint(tokens):
            length = len(tokens)
            while length and tokens[:length] not in found:
                found.add(tokens[:length])
                length -= 1
    return found


def _dead_names(schema: Mapping[str, Json]) -> frozenset[str]:
    """Return the members about values that the `type` of a schema excludes."""
    stated = schema.get("type")
    types = stated if isinstance(stated, str) else named_types(schema)
    if types is None:
        return _NOTHING
    return _dead_beside(types).intersection(schema)


@lru_cache(maxsize=256)
def _dead_beside(types: str | frozenset[str]) -> frozenset[str]:
    """Return the keywords about values that none of these types lets through."""
    types = frozenset({types}) if isinstance(types, str) else types
    types = types | {"number"} if "integer" in types else types
    return frozenset(
        name for name, about in TYPE_OF_KEYWORD.items() if about not in types
    )


def _asks(name: str, value: Json, schema: Mapping[str, Json]) -> bool:
    """Return whether an assertion refuses any value of its type."""
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
    dead = _dead_names(schema) & dialect.effective
    for name in schema:
        if name in dead:
            yield (name,)

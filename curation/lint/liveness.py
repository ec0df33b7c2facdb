"""Keywords of a record that some value can violate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from curation.lint.contradictions import FORMATS, named_types
from curation.references.reachable import referred, taking_part
from curation.references.schema import schema_of
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
from curation.schema.subschemas import SchemaLocation, base_of, children

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.json.pointer import Tokens
    from curation.schema.dialects import Dialect

_JUDGED = (
    KNOWN_KEYWORDS
    - ANNOTATIONS
    - CONTAINERS
    - names_of_kind(KeywordKind.IDENTIFIER, KeywordKind.ANCHOR)
) | {"format"}
#: A keyword to the one without which it does nothing; `additionalItems` needs a list.
NEEDED_BESIDE: Final = {
    "then": "if",
    "else": "if",
    "minContains": "contains",
    "maxContains": "contains",
    "additionalItems": "items",
}
#: Applicators that can fail though none of the schemas that they hold can.
_FAILS_BY_ITSELF = frozenset({"contains", "not"})
#: Those of which some values are such.
MAY_FAIL_BY_ITSELF = frozenset({"oneOf", "dependencies"})
_NOTHING = frozenset[str]()


def stated_types(schema: Mapping[str, Json]) -> str | frozenset[str] | None:
    """Return the types that a schema names, or None if it allows every type."""
    types = schema.get("type")
    return types if isinstance(types, str) else named_types(schema)


def lonely_keywords(schema: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the keywords of a schema that do nothing without another one."""
    if NEEDED_BESIDE.keys().isdisjoint(schema):
        return ()
    return tuple(
        name
        for name, companion in NEEDED_BESIDE.items()
        if name in schema
        and (
            companion not in schema
            or (name == "additionalItems" and not isinstance(schema[companion], list))
        )
    )


@lru_cache(maxsize=4096)
def _dead_names(
    names: tuple[str, ...], types: str | frozenset[str] | None
) -> frozenset[str]:
    return _NOTHING if types is None else _dead_beside(types).intersection(names)


class SortedNames(NamedTuple):
    """The members of a schema, by what decides whether they can fail."""

    #: Those that some value violates by their name alone.
    live: frozenset[str]
    #: Those of which that depends on the schemas that they apply.
    waiting: frozenset[str]
    #: Those of which it depends on their value.
    by_value: frozenset[str]
    #: Those of which the schemas inside are not entered: containers, what is about
    #: values that the `type` beside it excludes, and what is lonely.
    passed_over: frozenset[str]
    #: Whether any applies schemas, or holds them; whether any refers to one; and
    #: whether a reference hides those inside.
    applying: bool
    refers: bool
    hidden: bool


@lru_cache(maxsize=4096)
def sorted_names(
    names: tuple[str, ...],
    types: str | frozenset[str] | None,
    lonely: tuple[str, ...],
    dialect: Dialect,
) -> SortedNames:
    """Sort the members of a schema.

    Args:
        names: The members.
        types: What `stated_types` says of it.
        lonely: What `lonely_keywords` says of it.
        dialect: Its dialect.
    """
    dead = _dead_names(names, types).union(lonely)
    judged = _JUDGED.intersection(dialect.effective | {"format"}, names) - dead
    hidden = dialect.ref_hides_siblings and "$ref" in names
    if hidden:
        judged &= {"$ref"}
    live = judged & _FAILS_BY_ITSELF
    if isinstance(types, str):
        live |= {"type"} & judged if _type_asks(types) else _NOTHING
        judged -= {"type"}
    applied = judged & dialect.applying
    waiting = applied - _FAILS_BY_ITSELF - MAY_FAIL_BY_ITSELF
    return SortedNames(
        live=live,
        waiting=waiting,
        by_value=judged - live - waiting,
        passed_over=CONTAINERS | dead,
        applying=not dialect.applying.isdisjoint(names),
        refers=not set(dialect.reference_keywords).isdisjoint(names),
        hidden=hidden,
    )


def live_by_itself(names: SortedNames, schema: Mapping[str, Json]) -> AbstractSet[str]:
    """Return the keywords of a schema that some value violates by themselves."""
    if not names.by_value:
        return names.live
    return names.live.union(
        name for name in names.by_value if fails(name, schema[name], schema)
    )


@lru_cache(maxsize=4096)
def count_judged(names: tuple[str, ...]) -> int:
    """Return how many of the members of a schema count as keywords."""
    return len(_JUDGED.intersection(names))


@lru_cache(maxsize=256)
def _dead_beside(types: str | frozenset[str]) -> frozenset[str]:
    types = frozenset({types}) if isinstance(types, str) else types
    types = types | {"number"} if "integer" in types else types
    return frozenset(
        name for name, about in TYPE_OF_KEYWORD.items() if about not in types
    )


def fails(name: str, value: Json, schema: Mapping[str, Json]) -> bool:
    """Return whether some value violates a keyword, applied schemas aside.

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
    return restricts("type", name) or name == "object"


def excluded_by_type(schema: Mapping[str, Json], dialect: Dialect) -> Iterator[Tokens]:
    """Yield the keywords of a schema that its own `type` makes dead."""
    if dialect.ref_hides_siblings and "$ref" in schema:
        return
    dead = _dead_names(tuple(schema), stated_types(schema))
    if dead:
        dead &= dialect.effective
        yield from ((name,) for name in schema if name in dead)


#: A keyword that holds schemas, to those that can fail where one of the schemas can;
#: of the others it is the same keyword, and the empty name is that of references.
_DECIDED_BY = {
    "": frozenset(REFERENCE_KEYWORDS),
    "if": frozenset[str](),
    **{name: frozenset({name, "if"}) for name in ("then", "else")},
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
    search = _Search(schema, dialect)
    return Liveness(
        keywords=sum(
            count_judged(tuple(each.schema)) for each in taking_part(schema, dialect)
        ),
        live=sum(map(len, search.live.values())),
        fields=search.live_fields(),
        vacuous=search.live[()] <= {"type"},
    )


class _Applier:
    __slots__ = ("appliers", "failing", "live", "schema", "waiting")

    def __init__(self, schema: Mapping[str, Json], names: SortedNames) -> None:
        self.schema = schema
        #: Its keywords that some value can violate.
        self.live = set(names.live)
        #: Those of which that depends on the schemas that they apply.
        self.waiting = set(names.waiting)
        for name in names.by_value:
            if fails(name, schema[name], schema):
                self.live.add(name)
            elif name in MAY_FAIL_BY_ITSELF:
                self.waiting.add(name)
        #: Of `anyOf`, how many that can fail were met.
        self.failing = 0
        #: The schemas that wait for this one, each with the keyword that holds it;
        #: where it is referred to, with an empty one.
        self.appliers: list[tuple[_Applier, str]] = []

    def take(self, keyword: str, inner: _Applier | Literal[True]) -> bool:
        """Take note of a schema that a keyword holds; return whether it is open."""
        if inner is True:
            self.meet(keyword)
            return False
        inner.appliers.append((self, keyword))
        return True

    def meet(self, keyword: str) -> None:
        """Take note that one more of the schemas that a keyword holds can fail."""
        self.failing += keyword == "anyOf"
        if not self.waiting:
            return
        for name in self.waiting & _DECIDED_BY.get(keyword, {keyword}):
            value = self.schema[name]
            if name == "anyOf" and (
                not isinstance(value, list) or self.failing < len(value)
            ):
                continue
            self.waiting.discard(name)
            self.live.add(name)


class _Search:
    """The schemas that can fail: the least set that the keywords' meanings allow.

    Each is judged after those inside it, targets of references last.
    """

    def __init__(self, schema: Json, dialect: Dialect) -> None:
        self._schema = schema
        self._dialect = dialect
        self._document = schema_of(schema, dialect)
        #: The live keywords of every schema that validation can enter, by where it
        #: stands.
        self.live: dict[Tokens, AbstractSet[str]] = {}
        #: Where `false` stands.
        self._refusing: set[Tokens] = set()
        #: Those of which it is not known yet whether they can fail.
        self._open: dict[Tokens, _Applier] = {}
        #: What references lead to, each with the schema that refers to it.
        self._referred: list[tuple[SchemaLocation, _Applier]] = []
        self._judge((), schema, "", is_subschema=True)
        while self._referred:
            location, applier = self._referred.pop()
            verdict = self._judge(
                location.tokens,
                location.schema,
                location.base,
                is_subschema=location.is_subschema,
            )
            if verdict is True:
                _tell([(applier, "")])
            elif verdict is not False:
                applier.take("", verdict)
        self._leading = _leading(self.live, self._refusing)

    def _judge(
        self, tokens: Tokens, schema: Json, base: str, *, is_subschema: bool
    ) -> bool | _Applier:
        """Judge a schema and those inside it; return whether it can fail.

        The schema itself is returned while that is open.
        The arguments are the fields of a `SchemaLocation`.
        """
        if not isinstance(schema, dict):
            if schema is False:
                self._refusing.add(tokens)
            return schema is False
        own_live = self.live.get(tokens)
        if own_live is not None:
            return bool(own_live) or self._open.get(tokens, False)
        names = sorted_names(
            tuple(schema), stated_types(schema), lonely_keywords(schema), self._dialect
        )
        if not names.applying:
            self.live[tokens] = live = live_by_itself(names, schema)
            return bool(live)
        own = _Applier(schema, names)
        self.live[tokens] = own.live
        inside = base_of(schema, self._dialect, base)
        is_open = names.refers and self._follow(own, inside)
        if not names.hidden:
            around = inside if is_subschema else base
            for path, member in children(schema, self._dialect):
                if path[0] not in names.passed_over:
                    verdict = self._judge(
                        tokens + path, member, around, is_subschema=is_subschema
                    )
                    if verdict is not False:
                        is_open |= own.take(path[0], verdict)
        if own.live or not is_open:
            return bool(own.live)
        self._open[tokens] = own
        return own

    def _follow(self, own: _Applier, base: str) -> bool:
        """Queue the targets of a schema's references; return whether there are any.

        Args:
            own: The schema.
            base: The base URI inside it.
        """
        targets = list(referred(own.schema, base, self._document))
        self._referred += [(target, own) for target in targets]
        return bool(targets)

    def live_fields(self) -> int:
        """Return the fields of the schema without what leads to no live keyword."""
        return self._fields((), self._schema)

    def _fields(self, tokens: Tokens, schema: Json) -> int:
        if not isinstance(schema, dict):
            return 0
        live = self.live.get(tokens, _NOTHING)
        if not CONTAINERS.isdisjoint(schema):
            live = live | {
                name for name in CONTAINERS if (*tokens, name) in self._leading
            }
        return len(live) + sum(
            self._fields_of(name, (*tokens, name), value)
            for name in live
            if isinstance(value := schema[name], dict)
        )

    def _fields_of(self, name: str, tokens: Tokens, value: dict[str, Json]) -> int:
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


def _tell(pairs: list[tuple[_Applier, str]]) -> None:
    """Tell schemas that one can fail which a keyword of theirs holds, and so on."""
    while pairs:
        applier, keyword = pairs.pop()
        could_fail = bool(applier.live)
        applier.meet(keyword)
        if applier.live and not could_fail:
            pairs += applier.appliers


def _leading(
    live: Mapping[Tokens, AbstractSet[str]], refusing: AbstractSet[Tokens]
) -> set[Tokens]:
    """Return where the schemas below containers stand that can fail, or lead to one."""
    prefixes: set[Tokens] = set()
    for tokens, names in live.items():
        if (names or tokens in refusing) and not CONTAINERS.isdisjoint(tokens):
            length = len(tokens)
            while length and tokens[:length] not in prefixes:
                prefixes.add(tokens[:length])
                length -= 1
    return prefixes

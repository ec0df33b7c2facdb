"""Keywords of a record that some value can violate."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

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
def dead_names(
    names: tuple[str, ...], types: str | frozenset[str] | None
) -> frozenset[str]:
    """Return the members of a schema about values that its `type` excludes.

    Args:
        names: The members.
        types: What `stated_types` says of it.
    """
    if types is None:
        return _NOTHING
    types = frozenset({types}) if isinstance(types, str) else types
    types = types | {"number"} if "integer" in types else types
    about = {name: TYPE_OF_KEYWORD[name] for name in names if name in TYPE_OF_KEYWORD}
    return frozenset(name for name, kind in about.items() if kind not in types)


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
    dead = dead_names(names, types).union(lonely)
    judged = _JUDGED.intersection(dialect.effective | {"format"}, names) - dead
    hidden = dialect.ref_hides_siblings and "$ref" in names
    if hidden:
        judged &= {"$ref"}
    live = judged & _FAILS_BY_ITSELF
    if isinstance(types, str):
        if restricts("type", types) or types == "object":
            live |= {"type"} & judged
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


@lru_cache(maxsize=4096)
def count_judged(names: tuple[str, ...]) -> int:
    """Return how many of the members of a schema count as keywords."""
    return len(_JUDGED.intersection(names))


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
        fields=search.live_fields(schema),
        vacuous=search.live[()] <= {"type"},
    )


@dataclass(slots=True, eq=False)
class _Applier:
    """A schema that applies others, while it is not known whether it can fail."""

    schema: Mapping[str, Json]
    #: Its keywords that some value can violate.
    live: set[str]
    #: Those of which that depends on the schemas that they apply.
    waiting: set[str]
    #: Of `anyOf`, how many that can fail were met.
    failing: int = 0
    #: The schemas that wait for this one, each with the keyword that holds it; where it
    #: is referred to, with an empty one.
    appliers: list[tuple[_Applier, str]] = field(default_factory=list)

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
        self._dialect = dialect
        self._document = schema_of(schema, dialect)
        #: The live keywords of every schema that validation can enter, by where it
        #: stands.
        self.live: dict[Tokens, set[str]] = {}
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
            if isinstance(verdict, _Applier):
                verdict.appliers.append((applier, ""))
            # What can fail lets those fail that wait for it, and so on.
            pending = [(applier, "")] if verdict is True else []
            while pending:
                waiting, keyword = pending.pop()
                could_fail = bool(waiting.live)
                waiting.meet(keyword)
                if waiting.live and not could_fail:
                    pending += waiting.appliers

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
        known = self.live.get(tokens)
        if known is not None:
            return bool(known) or self._open.get(tokens, False)
        names = sorted_names(
            tuple(schema), stated_types(schema), lonely_keywords(schema), self._dialect
        )
        live = set(names.live)
        live.update(
            name for name in names.by_value if fails(name, schema[name], schema)
        )
        self.live[tokens] = live
        if not names.applying:
            return bool(live)
        may_wait = (names.by_value & MAY_FAIL_BY_ITSELF) - live
        own = _Applier(schema, live, {*names.waiting, *may_wait})
        inside = base_of(schema, self._dialect, base)
        targets = referred(schema, inside, self._document) if names.refers else ()
        queued = len(self._referred)
        self._referred += [(target, own) for target in targets]
        is_open = len(self._referred) > queued
        around = inside if is_subschema else base
        for path, member in () if names.hidden else children(schema, self._dialect):
            if path[0] in names.passed_over:
                continue
            verdict = self._judge(
                tokens + path, member, around, is_subschema=is_subschema
            )
            if verdict is True:
                own.meet(path[0])
            elif verdict is not False:
                verdict.appliers.append((own, path[0]))
                is_open = True
        if live or not is_open:
            return bool(live)
        self._open[tokens] = own
        return own

    def live_fields(self, schema: Json) -> int:
        """Return the fields of the schema without what leads to no live keyword."""
        #: Where the schemas below containers stand that can fail, or lead to one.
        leading: set[Tokens] = set()
        for tokens, names in self.live.items():
            if (names or tokens in self._refusing) and not CONTAINERS.isdisjoint(
                tokens
            ):
                leading.update(tokens[:end] for end in range(1, len(tokens) + 1))
        return self._fields((), schema, leading)

    def _fields(self, tokens: Tokens, schema: Json, leading: set[Tokens]) -> int:
        if not isinstance(schema, dict):
            return 0
        live: AbstractSet[str] = self.live.get(tokens, _NOTHING)
        if not CONTAINERS.isdisjoint(schema):
            live = live | {name for name in CONTAINERS if (*tokens, name) in leading}
        count = len(live)
        for name in live:
            value, inside = schema[name], (*tokens, name)
            shape = self._dialect.applicators.get(name)
            if not isinstance(value, dict):
                continue
            if shape is None:
                count += field_count(value)
            elif shape not in (Shape.MAP, Shape.DEPENDENCIES):
                count += self._fields(inside, value, leading)
            else:
                count += sum(
                    1 + self._fields((*inside, inner), member, leading)
                    for inner, member in value.items()
                    if name not in CONTAINERS or (*inside, inner) in leading
                )
        return count

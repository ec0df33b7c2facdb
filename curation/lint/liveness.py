"""Keywords of a record that some value can violate."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.json.pointer import Tokens, upwards
from curation.lint.contradictions import FORMATS, named_types
from curation.references.reachable import referred, taking_part
from curation.references.schema import to_schema
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
from curation.schema.subschemas import SchemaLocation, children, inner_base

if TYPE_CHECKING:
    from curation.core.json_types import Json
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
#: Applicators that can fail though none of the schemas that they hold can; of the last
#: two it depends on their value.
_FAILS_BY_ITSELF = frozenset({"contains", "not", "oneOf", "dependencies"})
#: A member with schemas, to the keywords that can fail where one of the schemas can; of
#: others it is the same keyword, and the empty name is that of references.
_DECIDES = {
    "": frozenset(REFERENCE_KEYWORDS),
    "if": frozenset[str](),
    **{name: frozenset({name, "if"}) for name in ("then", "else")},
}


def lonely_keywords(schema: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the keywords of a schema that do nothing without another."""
    return tuple(
        name
        for name, companion in NEEDED_BESIDE.items()
        if name in schema
        and (
            companion not in schema
            or (name == "additionalItems" and not isinstance(schema[companion], list))
        )
    )


def dead_names(schema: Mapping[str, Json]) -> frozenset[str]:
    """Return the members of a schema about values that its `type` excludes."""
    types = named_types(schema)
    if types is None:
        return frozenset()
    types = types | {"number"} if "integer" in types else types
    typed = [name for name in schema if name in TYPE_OF_KEYWORD]
    return frozenset(name for name in typed if TYPE_OF_KEYWORD[name] not in types)


def _fails(name: str, schema: Mapping[str, Json]) -> bool:
    """Return whether some value violates a keyword, applied schemas aside.

    It does `oneOf` where more than one of its schemas may hold.
    """
    value = schema[name]
    if name == "format":
        return isinstance(value, str) and value in FORMATS
    if name == "oneOf":
        return isinstance(value, list) and len(value) > 1
    if name == "dependencies":
        return isinstance(value, dict) and any(
            isinstance(needed, list) and needed for needed in value.values()
        )
    if name == "type" and value in ("object", ["object"]):
        return True
    if isinstance(value, bool) and name.startswith("exclusive"):
        bound = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[name]
        return value and bound in schema
    return restricts(name, value) or (name == "enum" and value == [])


class Liveness(NamedTuple):
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
            len(_JUDGED.intersection(location.schema))
            for location in taking_part(schema, dialect)
        ),
        live=sum(map(len, search.live.values())),
        fields=search.live_fields(schema),
        vacuous=search.live[()] <= {"type"},
    )


class _Search:
    """The schemas that can fail: the least set that the keywords' meanings allow."""

    def __init__(self, schema: Json, dialect: Dialect) -> None:
        self._dialect = dialect
        #: The keywords judged in this dialect.
        self._judged = _JUDGED & (dialect.effective | {"format"})
        self._document = to_schema(schema, dialect)
        #: The live keywords of every schema that validation can enter.
        self.live: dict[Tokens, set[str]] = {}
        #: By location, the keywords that may be live by the schemas that they apply,
        #: and how many branches of `anyOf` cannot fail.
        self._waiting: dict[Tokens, frozenset[str]] = {}
        self._passing: Counter[Tokens] = Counter()
        #: By location, those of the schemas that apply it, each by a member.
        self._appliers: dict[Tokens, list[tuple[Tokens, str]]] = defaultdict(list)
        refusing: set[Tokens] = set()
        pending = [self._document.root]
        for location in pending:
            if location.schema is False:
                refusing.add(location.tokens)
            else:
                pending += self._enter(location)
        #: Locations of schemas that can fail, each once.
        self._failing = [*refusing]
        self._failing += [tokens for tokens, names in self.live.items() if names]
        for tokens in self._failing:
            for above, member in self._appliers[tokens]:
                if self._settle(above, member):
                    self._failing.append(above)

    def _enter(self, location: SchemaLocation) -> list[SchemaLocation]:
        """Note the keywords of a schema; return the schemas that it applies."""
        tokens, schema, dialect = location.tokens, location.keywords, self._dialect
        if tokens in self.live or not isinstance(location.schema, dict):
            return []
        dead = dead_names(schema).union(lonely_keywords(schema))
        judged = self._judged.intersection(schema) - dead
        hidden = dialect.ref_hides_siblings and "$ref" in schema
        if hidden:
            judged &= {"$ref"}
        applying = judged & dialect.applying
        plain = (judged - applying) | (judged & _FAILS_BY_ITSELF)
        self.live[tokens] = live = {name for name in plain if _fails(name, schema)}
        if dialect.applying.isdisjoint(schema):
            return []
        inside = inner_base(location.schema, dialect, location.base)
        members = [("", target) for target in referred(schema, inside, self._document)]
        around = inside if location.is_subschema else location.base
        for path, inner in () if hidden else children(location.schema, dialect):
            if path[0] not in CONTAINERS and path[0] not in dead:
                is_subschema = location.is_subschema
                applied = SchemaLocation(
                    tokens + path, inner, around, is_subschema=is_subschema
                )
                members.append((path[0], applied))
        self._waiting[tokens] = applying - live
        for member, applied in members if applying - live else ():
            self._appliers[applied.tokens].append((tokens, member))
            self._passing[tokens] += member == "anyOf"
        return [applied for _, applied in members]

    def _settle(self, tokens: Tokens, member: str) -> bool:
        """Note that a schema in a member can fail; return if its holder can now."""
        live = self.live[tokens]
        is_first = not live
        self._passing[tokens] -= member == "anyOf"
        decided = self._waiting[tokens] & _DECIDES.get(member, {member})
        # A value that satisfies one branch satisfies `anyOf`.
        live |= decided - {"anyOf"} if self._passing[tokens] else decided
        return is_first and bool(live)

    def live_fields(self, schema: Json) -> int:
        """Return the fields of the schema without what leads to no live keyword."""
        #: Locations of schemas that can fail, and all above them.
        leading: set[Tokens] = set()
        for tokens in self._failing:
            for above in upwards(tokens):
                if above in leading:
                    break
                leading.add(above)
        return self._fields((), schema, leading)

    def _fields(
        self, tokens: Tokens, schema: Json, leading: AbstractSet[Tokens]
    ) -> int:
        if not isinstance(schema, dict):
            return 0
        live = self.live.get(tokens, set()).union(
            name
            for name in CONTAINERS.intersection(schema)
            if (*tokens, name) in leading
        )
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

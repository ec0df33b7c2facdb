"""Where a reference leads, under one dialect, without ever fetching anything.

A base URI changes at every `$id` (draft-04: `id`) in keyword position; a pointer
is resolved against the resource of that base, an anchor within it. Sources: the
core specification of each draft, RFC 3986 section 5, RFC 6901 section 6.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urldefrag, urljoin

from curation.json.pointer import Tokens, tokens_of
from curation.schema.dialects import DRAFT_2019_09, DRAFT_2020_12, Dialect, Shape
from curation.schema.subschemas import children

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curation.core.json_types import UntypedJson


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One `$ref`, `$dynamicRef` or `$recursiveRef` in keyword position."""

    #: The schema that holds it.
    tokens: Tokens
    keyword: str
    value: UntypedJson
    #: The base URI in force there, without fragment.
    base: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A value inside a document, and the base URI in force around it."""

    tokens: Tokens
    value: UntypedJson
    #: Its own identifier is not yet considered.
    outer: str
    #: Whether the dialect reads it as a schema where it stands.
    is_place: bool


@dataclass(slots=True, kw_only=True)
class Scan:
    """What one walk over a schema finds."""

    references: list[Reference] = field(default_factory=list)
    #: Absolute URI (or as absolute as it gets) to the resource's place.
    resources: dict[str, Spot] = field(default_factory=dict)
    #: Base URI and plain name to the place that the anchor marks.
    anchors: dict[tuple[str, str], Spot] = field(default_factory=dict)
    #: Places that carry an identifier, an anchor or a `$schema`, the root too.
    marked: list[Tokens] = field(default_factory=list)
    #: Places inside that start a resource of their own.
    inner_resources: list[Tokens] = field(default_factory=list)


#: Reserved characters, and the percent sign of what is encoded already.
_LEGAL = ":/?#@!$&'()*+,;=~%"
_PLAIN = re.compile(r"[\w:/?#@!$&'()*+,;=~.-]*", re.ASCII)
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
#: The words that refer, by the order of the dialect that brought them.
_REFERRING = {
    DRAFT_2019_09.name: ("$ref", "$recursiveRef"),
    DRAFT_2020_12.name: ("$ref", "$dynamicRef"),
}
_ANCHORS = {
    DRAFT_2019_09.name: ("$anchor",),
    DRAFT_2020_12.name: ("$anchor", "$dynamicAnchor"),
}
#: Words of a place that tie it to where it stands.
MARKS = ("$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema", "$vocabulary")


def referring(dialect: Dialect) -> tuple[str, ...]:
    """Return the keywords of a dialect that refer to another schema."""
    return _REFERRING.get(dialect.name, ("$ref",))


def join(base: str, reference: str) -> tuple[str, str]:
    """Return the absolute URI without fragment, and the fragment.

    `urllib` joins nothing to a URN, but a mere fragment belongs to any base.

    Raises:
        ValueError: the reference is no URI reference.
    """
    if reference.startswith("#") or not reference:
        return base, reference[1:]
    return _split(urljoin(base, reference))


def legal(reference: str) -> str:
    """Return the reference with what RFC 3986 does not allow percent-encoded."""
    if _PLAIN.fullmatch(reference):
        return reference
    return quote(_STRAY_PERCENT.sub("%25", reference), safe=_LEGAL)


def _split(uri: str) -> tuple[str, str]:
    parts = urldefrag(uri)
    return parts.url, parts.fragment


def base_of(schema: UntypedJson, dialect: Dialect, base: str) -> str:
    """Return the base URI inside a schema that stands where `base` is in force.

    Up to draft-07 a `$ref` hides the identifier beside it, and an identifier
    that is a mere fragment is an anchor.
    """
    if not isinstance(schema, dict):
        return base
    own = schema.get(dialect.id_keyword)
    if not isinstance(own, str) or own.startswith("#"):
        return base
    if dialect.ref_hides_siblings and "$ref" in schema:
        return base
    try:
        return join(base, own)[0]
    except ValueError:
        return base


def _names(schema: UntypedJson, dialect: Dialect) -> Iterator[str]:
    """Yield the plain names that a place gives itself."""
    if dialect.name in _ANCHORS:
        for keyword in _ANCHORS[dialect.name]:
            if isinstance(schema.get(keyword), str):
                yield schema[keyword]
        return
    own = schema.get(dialect.id_keyword)
    if isinstance(own, str) and own.startswith("#") and len(own) > 1:
        yield own[1:]


def scan(
    schema: UntypedJson, dialect: Dialect, outer: str, tokens: Tokens = ()
) -> Scan:
    """Walk over a schema that stands at `tokens` where `outer` is in force."""
    result = Scan()
    refer = referring(dialect)
    ties = {dialect.id_keyword, *MARKS}
    applying = dialect.applicators.keys()
    stack: list[tuple[Tokens, UntypedJson, str]] = [(tokens, schema, outer)]
    while stack:
        at, each, around = stack.pop()
        if not isinstance(each, dict):
            continue
        inside = around
        if not ties.isdisjoint(each):
            inside = base_of(each, dialect, around)
            spot = Spot(tokens=at, value=each, outer=around, is_place=True)
            _register(result, spot, inside, dialect)
        for keyword in refer:
            if keyword in each:
                result.references.append(
                    Reference(
                        tokens=at, keyword=keyword, value=each[keyword], base=inside
                    )
                )
        if not applying.isdisjoint(each):
            inner = [(at + path, e, inside) for path, e in children(each, dialect)]
            stack.extend(reversed(inner))
    return result


def starts_resource(schema: UntypedJson, dialect: Dialect) -> bool:
    """Tell whether a schema's identifier changes the base URI."""
    own = schema.get(dialect.id_keyword)
    if not isinstance(own, str) or own.startswith("#"):
        return False
    return not (dialect.ref_hides_siblings and "$ref" in schema)


def _register(result: Scan, spot: Spot, inside: str, dialect: Dialect) -> None:
    result.marked.append(spot.tokens)
    if starts_resource(spot.value, dialect):
        result.resources.setdefault(inside, spot)
        if spot.tokens:
            result.inner_resources.append(spot.tokens)
    for name in _names(spot.value, dialect):
        result.anchors.setdefault((inside, name), spot)


def descend(start: Spot, tokens: Tokens, dialect: Dialect) -> Spot:
    """Follow pointer tokens from a spot, minding identifiers on the way.

    Raises:
        LookupError: nothing stands there.
    """
    value, outer, in_place, index = start.value, start.outer, start.is_place, 0
    while index < len(tokens):
        step = _steps(value, tokens[index:], dialect) if in_place else 0
        if step:
            outer = base_of(value, dialect, outer)
        in_place = step > 0
        for token in tokens[index : index + max(step, 1)]:
            value = member(value, token)
        index += max(step, 1)
    is_place = in_place and isinstance(value, dict | bool)
    tokens = start.tokens + tokens
    return Spot(tokens=tokens, value=value, outer=outer, is_place=is_place)


def _steps(value: UntypedJson, tokens: Tokens, dialect: Dialect) -> int:
    """Return how many tokens lead to the next place; 0 for none."""
    shape = dialect.applicators.get(tokens[0]) if isinstance(value, dict) else None
    if shape is None:
        return 0
    single = not isinstance(value.get(tokens[0]), list)
    if shape is Shape.SCHEMA or (shape is Shape.EITHER and single):
        return 1
    return 2 if len(tokens) > 1 else 0


def member(value: UntypedJson, token: str) -> UntypedJson:
    """Return the member of an object or array that one token names.

    Raises:
        LookupError: there is none.
    """
    if isinstance(value, dict):
        return value[token]
    if isinstance(value, list) and token.isascii() and token.isdigit():
        return value[int(token)]
    raise LookupError(token)


@dataclass(kw_only=True)
class SchemaDocument:
    """One document with its dialect, searched only as far as it is asked."""

    schema: UntypedJson
    dialect: Dialect
    #: The URI under which it was found; empty if nobody knows.
    uri: str

    @cached_property
    def base(self) -> str:
        """The base URI inside the root."""
        return base_of(self.schema, self.dialect, self.uri)

    @cached_property
    def root(self) -> Spot:
        """The root as a spot."""
        return Spot(tokens=(), value=self.schema, outer=self.uri, is_place=True)

    @cached_property
    def scanned(self) -> Scan:
        """The walk over the whole document, made once."""
        return scan(self.schema, self.dialect, self.uri)

    def inside(self, spot: Spot) -> str:
        """Return the base URI inside a spot, its own identifier considered."""
        return base_of(spot.value, self.dialect, spot.outer)

    def resource(self, uri: str) -> Spot | None:
        """Return the resource of that URI inside the document, or None."""
        if uri in (self.base, self.uri):
            return self.root
        return self.scanned.resources.get(uri)

    def find(self, uri: str, fragment: str) -> Spot | None:
        """Return what a URI and a fragment lead to in here, or None.

        Raises:
            LookupError: the resource is in here, but the fragment leads nowhere.
        """
        resource = self.resource(uri)
        if resource is None:
            return None
        name = unquote(fragment)
        if not name:
            return resource
        if name.startswith("/"):
            return descend(resource, tokens_of(name), self.dialect)
        return self.scanned.anchors[self.inside(resource), name]

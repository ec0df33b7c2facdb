"""A schema with its dialect: where its references lead, without fetching anything.

A base URI changes at every `$id` (draft-04: `id`) in keyword position; a pointer
is resolved against the resource of that base, an anchor within it. Sources: the
core specification of each draft, RFC 3986 section 5, RFC 6901 section 6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urldefrag, urljoin

import jsonschema_rs
import msgspec

from curation.core.json_types import Json, UntypedJson
from curation.json.pointer import Tokens, member, tokens_of
from curation.json.values import remembered
from curation.references.library import standard_document
from curation.schema.keywords import Shape
from curation.schema.subschemas import SchemaLocation, locations, walk
from curation.validation.metaschemas import RUST_VALIDATORS, refuse

if TYPE_CHECKING:
    from curation.schema.dialects import Dialect


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """One `$ref`, `$dynamicRef` or `$recursiveRef` in keyword position.

    A struct for the reason that `SchemaLocation` is one: a build makes many.
    """

    #: The schema that holds it.
    tokens: Tokens
    keyword: str
    #: A string, if the schema is valid.
    value: Json
    #: The base URI in force there, without fragment.
    base: str

    @property
    def text(self) -> str:
        """The value as text, for messages and once it is known to be a string."""
        return str(self.value)


@dataclass(slots=True, kw_only=True)
class ReferenceScan:
    """What one walk over a schema finds."""

    references: list[Reference] = field(default_factory=list)
    #: Absolute URI (or as absolute as it gets) to the root of the resource.
    resources: dict[str, SchemaLocation] = field(default_factory=dict)
    #: Base URI and plain name to the schema that the anchor marks.
    anchors: dict[tuple[str, str], SchemaLocation] = field(default_factory=dict)
    #: Schemas that carry an identifier, an anchor or a `$schema`, the root too.
    marked: list[Tokens] = field(default_factory=list)
    #: Subschemas that start a resource of their own.
    inner_resources: list[Tokens] = field(default_factory=list)


#: Reserved characters, and the percent sign of what is encoded already.
_LEGAL = ":/?#@!$&'()*+,;=~%"
_PLAIN = re.compile(r"[\w:/?#@!$&'()*+,;=~.-]*", re.ASCII)
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
#: Keywords of a schema that tie it to where it stands.
MARKS = ("$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema", "$vocabulary")


def join(base: str, reference: str) -> tuple[str, str]:
    """Return the absolute URI without fragment, and the fragment.

    `urllib` joins nothing to a URN, but a mere fragment belongs to any base.

    Raises:
        ValueError: the reference is no URI reference.
    """
    if reference.startswith("#") or not reference:
        return base, reference[1:]
    return _joined(base, reference)


@lru_cache(maxsize=1024)
def _joined(base: str, reference: str) -> tuple[str, str]:
    parts = urldefrag(urljoin(base, reference))
    return parts.url, parts.fragment


def legal(reference: str) -> str:
    """Return the reference with what RFC 3986 does not allow percent-encoded."""
    if _PLAIN.fullmatch(reference):
        return reference
    return quote(_STRAY_PERCENT.sub("%25", reference), safe=_LEGAL)


def base_of(schema: Json, dialect: Dialect, base: str) -> str:
    """Return the base URI inside a schema that stands where `base` is in force.

    Up to draft-07 a `$ref` hides the identifier beside it.
    """
    if not isinstance(schema, dict) or not starts_resource(schema, dialect):
        return base
    try:
        return join(base, str(schema[dialect.id_keyword]))[0]
    except ValueError:
        return base


def _names(schema: Mapping[str, Json], dialect: Dialect) -> Iterator[str]:
    for keyword in dialect.anchor_keywords:
        name = schema.get(keyword)
        if isinstance(name, str):
            yield name
    own = schema.get(dialect.id_keyword)
    fragment = isinstance(own, str) and own.startswith("#") and len(own) > 1
    if isinstance(own, str) and fragment and dialect.ref_hides_siblings:
        yield own[1:]


def scan_references(start: SchemaLocation, dialect: Dialect) -> ReferenceScan:
    """Return the references, resources and anchors of a schema."""
    result = ReferenceScan()
    ties = {dialect.id_keyword, *MARKS}
    referring = frozenset(dialect.reference_keywords)
    nodes = walk(start.schema, dialect)
    #: The base URI inside each schema.
    bases: list[str] = []
    for node, tokens in zip(nodes, locations(nodes, start.tokens), strict=True):
        around = bases[node.parent] if node.path else start.base
        bases.append(around)
        schema = node.schema
        if not isinstance(schema, dict):
            continue
        if not ties.isdisjoint(schema):
            bases[-1] = base_of(schema, dialect, around)
            location = SchemaLocation(tokens, schema, around, start.document)
            _register(result, location, bases[-1], dialect)
        if referring.isdisjoint(schema):
            continue
        for keyword in dialect.reference_keywords:
            if keyword in schema:
                reference = Reference(
                    tokens=tokens,
                    keyword=keyword,
                    value=schema[keyword],
                    base=bases[-1],
                )
                result.references.append(reference)
    return result


def starts_resource(schema: Mapping[str, Json], dialect: Dialect) -> bool:
    """Return whether a schema's identifier changes the base URI."""
    own = schema.get(dialect.id_keyword)
    if not isinstance(own, str) or own.startswith("#"):
        return False
    return not (dialect.ref_hides_siblings and "$ref" in schema)


def _register(
    result: ReferenceScan, location: SchemaLocation, inside: str, dialect: Dialect
) -> None:
    result.marked.append(location.tokens)
    if starts_resource(location.keywords, dialect):
        result.resources.setdefault(inside, location)
        if location.tokens:
            result.inner_resources.append(location.tokens)
    for name in _names(location.keywords, dialect):
        result.anchors.setdefault((inside, name), location)


def descend(start: SchemaLocation, tokens: Tokens, dialect: Dialect) -> SchemaLocation:
    """Follow pointer tokens from a location, minding identifiers on the way.

    Raises:
        LookupError: nothing stands there.
    """
    value: Json = start.schema
    base, in_place, index = start.base, start.is_subschema, 0
    while index < len(tokens):
        step = _steps(value, tokens[index:], dialect) if in_place else 0
        if in_place:
            base = base_of(value, dialect, base)
        in_place = step > 0
        for token in tokens[index : index + max(step, 1)]:
            value = member(value, token)
        index += max(step, 1)
    is_subschema = in_place and isinstance(value, dict | bool)
    return SchemaLocation(
        start.tokens + tokens, value, base, start.document, is_subschema
    )


def _steps(value: Json, tokens: Tokens, dialect: Dialect) -> int:
    """Return how many tokens lead to the next subschema; 0 for none."""
    if not isinstance(value, dict):
        return 0
    shape = dialect.applicators.get(tokens[0])
    if shape is None:
        return 0
    single = not isinstance(value.get(tokens[0]), list)
    if shape is Shape.SCHEMA or (shape is Shape.EITHER and single):
        return 1
    return 2 if len(tokens) > 1 else 0


class Schema:
    """A schema with its dialect: locations, references followed, a validator.

    Locations compare by `is` (`child`, `target`). Beyond the schema itself `target`
    knows the standard metaschemas only. Everything is computed on demand, once.

    Attributes:
        value: The JSON value; no one changes it.
        dialect: The dialect that it is read in.
        uri: The URI under which it was found; empty if that is unknown.

    Example:
        >>> value = {"definitions": {"n": {"minimum": 0}}, "$ref": "#/definitions/n"}
        >>> schema = Schema(value, DRAFT_07)
        >>> schema.target(schema.root).pointer
        '/definitions/n'
    """

    def __init__(self, value: UntypedJson, dialect: Dialect, uri: str = "") -> None:
        """Create the schema; nothing is computed yet."""
        self.value = value
        self.dialect = dialect
        self.uri = uri
        self.root = SchemaLocation((), value, uri, uri)
        #: URIs and fragments to the location that they lead to.
        self._fragments: dict[tuple[str, str], SchemaLocation | None] = {}
        #: Other documents by URI.
        self._documents: dict[str, Schema] = {}
        #: By the URI of the document and the tokens in it.
        self._locations: dict[tuple[str, Tokens], SchemaLocation] = {
            (uri, ()): self.root
        }
        self._targets: dict[tuple[SchemaLocation, str], SchemaLocation | None] = {}
        #: References, each with its base: most definitions are referred to many times.
        self._lookups: dict[tuple[str, str], SchemaLocation | None] = {}

    @cached_property
    def base(self) -> str:
        """The base URI inside the root."""
        return base_of(self.value, self.dialect, self.uri)

    @cached_property
    def scanned(self) -> ReferenceScan:
        """References, resources and anchors of the whole schema."""
        return scan_references(self.root, self.dialect)

    @cached_property
    def validator(self) -> jsonschema_rs.Validator:
        """jsonschema-rs's validator of the schema, formats asserted.

        Raises:
            ValueError: jsonschema-rs cannot use the schema.
        """
        return self.compile(formats=True)

    def compile(self, *, formats: bool) -> jsonschema_rs.Validator:
        """Return a new validator of the schema, whose numbers are ordinary floats.

        Args:
            formats: Whether `format` is asserted.

        Raises:
            ValueError: jsonschema-rs cannot use the schema.
        """
        validator = RUST_VALIDATORS[self.dialect.name]
        try:
            return validator(self.value, validate_formats=formats, retriever=refuse)
        except jsonschema_rs.ReferencingError as error:
            raise ValueError(str(error)) from error

    def inside(self, location: SchemaLocation) -> str:
        """Return the base URI inside a location, its own identifier considered."""
        return base_of(location.schema, self.dialect, location.base)

    def resource(self, uri: str) -> SchemaLocation | None:
        """Return the resource of that URI inside the schema, or None."""
        if uri in (self.base, self.uri):
            return self.root
        return self.scanned.resources.get(uri)

    def find(self, uri: str, fragment: str) -> SchemaLocation | None:
        """Return the location of a URI and a fragment in here, or None.

        Raises:
            LookupError: the resource is in here, but the fragment leads nowhere.
        """
        key = (uri, fragment)
        if key not in self._fragments:
            self._fragments[key] = self._search(uri, fragment)
        return self._fragments[key]

    def _search(self, uri: str, fragment: str) -> SchemaLocation | None:
        resource = self.resource(uri)
        if resource is None:
            return None
        name = unquote(fragment)
        if not name:
            return resource
        if name.startswith("/"):
            return descend(resource, tokens_of(name), self.dialect)
        return self.scanned.anchors[self.inside(resource), name]

    def lookup(self, reference: str, base: str) -> SchemaLocation | None:
        """Return the location in here that a reference leads to, or None.

        Args:
            reference: The value of `$ref`, `$dynamicRef` or `$recursiveRef`.
            base: The base URI inside the schema that holds it.
        """
        key = reference, base
        if key not in self._lookups:
            try:
                resolved = follow_reference(reference, base, [self])
            except (LookupError, ValueError):
                resolved = None
            self._lookups[key] = None if resolved is None else resolved[1]
        return self._lookups[key]

    def location_at(self, tokens: Tokens) -> SchemaLocation:
        """Return the location that tokens from the root lead to.

        Raises:
            LookupError: nothing stands there.
        """
        return self.child(self.root, tokens)

    def child(self, location: SchemaLocation, tokens: Tokens) -> SchemaLocation:
        """Return the location that tokens from another one lead to.

        Raises:
            LookupError: nothing stands there.
        """
        inner = self._locations.get((location.document, location.tokens + tokens))
        if inner is not None:
            return inner
        value, base = location.schema, location.base
        for token in tokens:
            base = base_of(value, self.dialect, base)
            value = member(value, token)
        return self._intern(location.document, location.tokens + tokens, value, base)

    def _intern(
        self, document: str, tokens: Tokens, schema: Json, base: str
    ) -> SchemaLocation:
        key = (document, tokens)
        location = self._locations.get(key)
        if location is None:
            location = SchemaLocation(tokens, schema, base, document)
            self._locations[key] = location
        return location

    def target(
        self, location: SchemaLocation, keyword: str = "$ref"
    ) -> SchemaLocation | None:
        """Return where the reference in a schema leads, or None if nowhere.

        Args:
            location: The schema object that holds the reference.
            keyword: The keyword that refers: `$ref`, `$dynamicRef`, `$recursiveRef`.
        """
        key = (location, keyword)
        if key not in self._targets:
            reference = location.schema.get(keyword)
            target = self.follow(location, reference)
            for bearer in self.bearers(keyword, reference, target):
                # Every evaluation enters the root's resource first.
                if self.inside(bearer) == self.base:
                    target = self.location_at(bearer.tokens)
            self._targets[key] = target
        return self._targets[key]

    def bearers(
        self, keyword: str, reference: Json, target: SchemaLocation | None
    ) -> list[SchemaLocation]:
        """Return the schemas in here to which a dynamic scope may turn a reference.

        Args:
            keyword: The keyword that refers.
            reference: Its value.
            target: Where it leads without regard to the scope.
        """
        if target is None or keyword == "$ref" or not isinstance(reference, str):
            return []
        locations = [self.root, *self.scanned.resources.values()]
        mark: dict[str, Json] = {"$recursiveAnchor": True}
        if keyword == "$dynamicRef":
            locations = list(self.scanned.anchors.values())
            mark = {"$dynamicAnchor": unquote(reference.partition("#")[2])}
        if not mark.items() <= target.keywords.items():
            return []
        return [it for it in locations if mark.items() <= it.keywords.items()]

    def follow(
        self, location: SchemaLocation, reference: Json
    ) -> SchemaLocation | None:
        """Return where a reference would lead if a schema held it, or None."""
        if not isinstance(reference, str):
            return None
        try:
            documents = [self._document(location.document)]
            resolved = follow_reference(
                reference, self.inside(location), documents, self._document
            )
        except (LookupError, ValueError):
            return None
        if resolved is None:
            return None
        document, target = resolved
        return self._intern(document.uri, target.tokens, target.schema, target.base)

    def _document(self, uri: str) -> Schema:
        """Return the schema itself or a standard document.

        Raises:
            LookupError: there is no standard document of that URI.
        """
        if uri == self.uri:
            return self
        document = self._documents.get(uri)
        if document is None:
            value = standard_document(uri)
            if value is None:
                raise LookupError(uri)
            document = self._documents[uri] = Schema(value, self.dialect, uri)
        return document


def schema_of(value: Json, dialect: Dialect, uri: str = "") -> Schema:
    """Return a value as a schema, one object for the values asked about last."""
    return _remembered_schema(value, dialect, uri)


_remembered_schema = remembered(Schema)


class ResolvedReference(msgspec.Struct, frozen=True):
    """A reference with the schema location that it leads to."""

    reference: Reference
    #: The document that holds the location.
    document: Schema
    location: SchemaLocation


def no_other_document(_uri: str) -> None:
    """Return None: the `load` of `follow_reference` where nothing else is known."""


def follow_reference(
    reference: str,
    base: str,
    documents: Iterable[Schema],
    load: Callable[[str], Schema | None] = no_other_document,
) -> tuple[Schema, SchemaLocation] | None:
    """Return the target of a reference with its document, or None if it is unknown.

    A dynamic reference is followed to its static target.

    Args:
        reference: The value of `$ref`, `$dynamicRef` or `$recursiveRef`.
        base: The base URI in force inside the schema that holds it.
        documents: Documents to look into first, the one that holds it before others.
        load: Returns the document of an absolute URI without fragment, or None.

    Raises:
        LookupError: the document is known, but nothing stands there.
        ValueError: the reference is no URI reference.

    Example:
        >>> schema = {"$defs": {"name": {"type": "string"}}}
        >>> document = Schema(schema, DRAFT_2020_12)
        >>> _, location = follow_reference("#/$defs/name", "", [document])
        >>> location.schema
        {'type': 'string'}
    """
    uri, fragment = join(base, reference)
    for document in documents:
        location = document.find(uri, fragment)
        if location is not None:
            return document, location
    other = load(uri)
    # By its own URI: http and https may lead to one document.
    location = None if other is None else other.find(other.uri, fragment)
    return None if other is None or location is None else (other, location)

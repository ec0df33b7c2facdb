"""A schema with its dialect: where its references lead, without fetching anything.

A pointer is resolved against the resource of the base URI in force, an anchor within
it. Sources: the core specification of each draft, RFC 6901 section 6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from urllib.parse import quote, unquote

import jsonschema_rs
import msgspec

from curation.core.json_types import Json, UntypedJson
from curation.json.pointer import Tokens, member, parse_tokens
from curation.json.values import remembered
from curation.schema.dialects import Dialect
from curation.schema.keywords import Shape
from curation.schema.subschemas import (
    SchemaLocation,
    below,
    inner_base,
    join,
    starts_resource,
    walk,
)
from curation.validation.metaschemas import RUST_VALIDATORS, refuse, standard_document


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


#: Reserved characters, and the percent sign of encoded ones.
_LEGAL = ":/?#@!$&'()*+,;=~%"
_PLAIN = re.compile(r"[\w:/?#@!$&'()*+,;=~.-]*", re.ASCII)
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


def legal(reference: str) -> str:
    """Return the reference with what RFC 3986 does not allow percent-encoded."""
    if _PLAIN.fullmatch(reference):
        return reference
    return quote(_STRAY_PERCENT.sub("%25", reference), safe=_LEGAL)


def references_in(
    locations: Iterable[SchemaLocation], dialect: Dialect
) -> list[Reference]:
    """Return the references that schemas hold, in order."""
    return [
        Reference(
            tokens=location.tokens,
            keyword=keyword,
            value=location.schema[keyword],
            base=inner_base(location.schema, dialect, location.base),
        )
        for location in locations
        for keywords in [location.keywords]
        for keyword in dialect.reference_keywords
        if keyword in keywords
    ]


def descend(start: SchemaLocation, tokens: Tokens, dialect: Dialect) -> SchemaLocation:
    """Follow pointer tokens from a location, minding identifiers on the way.

    Raises:
        LookupError: no such value exists.
    """
    value: Json = start.schema
    base, in_place, index = start.base, start.is_subschema, 0
    while index < len(tokens):
        step = _steps(value, tokens[index:], dialect) if in_place else 0
        if in_place:
            base = inner_base(value, dialect, base)
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
        return inner_base(self.value, self.dialect, self.uri)

    @cached_property
    def walk(self) -> Sequence[SchemaLocation]:
        """The schema and its subschemas, outermost first (`subschemas.walk`)."""
        if self.uri:
            return below(self.root, self.dialect)
        return walk(self.value, self.dialect)

    @cached_property
    def references(self) -> list[Reference]:
        """The references of the whole schema, in order."""
        return references_in(self.walk, self.dialect)

    @cached_property
    def resources(self) -> dict[str, SchemaLocation]:
        """Absolute URI (or as absolute as it gets) to the root of each resource."""
        roots: dict[str, SchemaLocation] = {}
        for location in self.walk:
            if starts_resource(location.schema, self.dialect):
                roots.setdefault(self.inside(location), location)
        return roots

    @cached_property
    def inner_resources(self) -> list[Tokens]:
        """The subschemas, the root aside, that start resources."""
        return [
            location.tokens
            for location in self.walk[1:]
            if starts_resource(location.schema, self.dialect)
        ]

    @cached_property
    def anchors(self) -> dict[tuple[str, str], SchemaLocation]:
        """Base URI and plain name to the schema that the anchor marks.

        Up to draft-07 an identifier that is a mere fragment is an anchor.
        """
        dialect = self.dialect
        marked: dict[tuple[str, str], SchemaLocation] = {}
        for location in self.walk:
            names = [
                location.keywords.get(keyword) for keyword in dialect.anchor_keywords
            ]
            identifier = location.keywords.get(dialect.id_keyword)
            if dialect.ref_hides_siblings and isinstance(identifier, str):
                names += [identifier[1:]] if identifier[:1] == "#" else []
            for name in names:
                if isinstance(name, str) and name:
                    marked.setdefault((self.inside(location), name), location)
        return marked

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
        return inner_base(location.schema, self.dialect, location.base)

    def find(self, uri: str, fragment: str) -> SchemaLocation | None:
        """Return the location of a URI and a fragment in here, or None.

        Raises:
            LookupError: the resource is in here, but the fragment leads nowhere.
        """
        if uri in (self.base, self.uri):
            resource = self.root
        elif uri in self.resources:
            resource = self.resources[uri]
        else:
            return None
        name = unquote(fragment)
        if not name:
            return resource
        if name.startswith("/"):
            return descend(resource, parse_tokens(name), self.dialect)
        return self.anchors[self.inside(resource), name]

    def lookup(self, reference: str, base: str) -> SchemaLocation | None:
        """Return the location in here that a reference leads to, or None.

        Args:
            reference: The value of `$ref`, `$dynamicRef` or `$recursiveRef`.
            base: The base URI inside the schema that holds it.
        """
        key = reference, base
        if key not in self._lookups:
            try:
                self._lookups[key] = self.find(*join(base, reference))
            except (LookupError, ValueError):
                self._lookups[key] = None
        return self._lookups[key]

    def location_at(self, tokens: Tokens) -> SchemaLocation:
        """Return the location that tokens from the root lead to.

        Raises:
            LookupError: no such value exists.
        """
        return self.child(self.root, tokens)

    def child(self, location: SchemaLocation, tokens: Tokens) -> SchemaLocation:
        """Return the location that tokens from another lead to.

        Raises:
            LookupError: no such value exists.
        """
        key = location.document, location.tokens + tokens
        inner = self._locations.get(key)
        if inner is None:
            inner = descend(location, tokens, self.dialect)
            self._locations[key] = inner
        return inner

    def target(
        self, location: SchemaLocation, keyword: str = "$ref"
    ) -> SchemaLocation | None:
        """Return where the reference in a schema leads, or None if nowhere.

        Args:
            location: The schema object that holds the reference.
            keyword: The keyword that refers: `$ref`, `$dynamicRef`, `$recursiveRef`.
        """
        key = (location, keyword)
        if key in self._targets:
            return self._targets[key]
        reference, target = location.schema.get(keyword), None
        with suppress(LookupError, ValueError):
            resolved = isinstance(reference, str) and follow_reference(
                reference,
                self.inside(location),
                [self._document(location.document)],
                self._document,
            )
            if resolved:
                document, target = resolved
                # Every evaluation enters the root's resource first.
                for bearer in self.bearers(keyword, reference, target):
                    if self.inside(bearer) == self.base:
                        document, target = self, bearer
                site = document.uri, target.tokens
                target = self._locations.setdefault(site, target)
        self._targets[key] = target
        return target

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
        locations = [self.root, *self.resources.values()]
        mark: dict[str, Json] = {"$recursiveAnchor": True}
        if keyword == "$dynamicRef":
            locations = list(self.anchors.values())
            mark = {"$dynamicAnchor": unquote(reference.partition("#")[2])}
        if not mark.items() <= target.keywords.items():
            return []
        return [
            location
            for location in locations
            if mark.items() <= location.keywords.items()
        ]

    def _document(self, uri: str) -> Schema:
        """Return the schema itself or a standard document.

        Raises:
            LookupError: the URI is not a standard document's.
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


def to_schema(value: Json, dialect: Dialect, uri: str = "") -> Schema:
    """Return a value as a schema, one object for the values asked about last."""
    return _remembered_schema(value, dialect, uri)


_remembered_schema = remembered(Schema)


class ResolvedReference(msgspec.Struct, frozen=True):
    """A reference with the schema location that it leads to."""

    reference: Reference
    #: The document that holds the location.
    document: Schema
    location: SchemaLocation


def follow_reference(
    reference: str,
    base: str,
    documents: Iterable[Schema],
    load: Callable[[str], Schema | None] = lambda _uri: None,
) -> tuple[Schema, SchemaLocation] | None:
    """Return the target of a reference with its document, or None if it is unknown.

    A dynamic reference is followed to its static target.

    Args:
        reference: The value of `$ref`, `$dynamicRef` or `$recursiveRef`.
        base: The base URI in force inside the schema that holds it.
        documents: Documents to look into first, its document before others.
        load: Returns the document of an absolute URI without fragment, or None.

    Raises:
        LookupError: the document is known, but the fragment leads nowhere in it.
        ValueError: the reference is not a URI reference.

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
    loaded = load(uri)
    # By its own URI: http and https may lead to one document.
    location = None if loaded is None else loaded.find(loaded.uri, fragment)
    return None if loaded is None or location is None else (loaded, location)

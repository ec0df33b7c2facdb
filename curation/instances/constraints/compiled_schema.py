"""A schema as the maker of instances sees it: places, references, verdicts.

The verdicts are jsonschema-rs's under the record's dialect, with formats on unless
said otherwise. Nothing here fetches.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import jsonschema_rs

from curation.json.pointer import Tokens, pointer
from curation.json.text import plain
from curation.references.metaschema_documents import standard_document
from curation.references.resolution import (
    SchemaDocument,
    base_of,
    follow_reference,
    member,
)
from curation.schema.dialects import BY_NAME, Dialect
from curation.schema.keywords import REFERENCE_KEYWORDS
from curation.schema.locations import SchemaLocation
from curation.validation.rust_validators import RUST_DRAFTS, RUST_VALIDATORS, refuse

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

#: Where the record stands in the registry from which single places are compiled.
_HERE = "json-schema:///record"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAssertion:
    """One failed assertion, as jsonschema-rs reports it."""

    keyword: str
    #: Where the keyword stands in the record, references followed.
    schema_pointer: str
    instance_pointer: str
    #: The keywords passed through, references not followed, from the root.
    evaluation_path: Tokens = ()
    #: Whether a name is refused, not a value; jsonschema-rs loses the path to
    #: `propertyNames` where that refers.
    of_name: bool = False
    #: The errors of each branch of an `anyOf` or `oneOf` that failed.
    inner: tuple[tuple[FailedAssertion, ...], ...] = ()


@dataclass(slots=True, kw_only=True, eq=False)
class _Compiled:
    """What is compiled once per compiled."""

    places: dict[SchemaLocation, Any] = field(default_factory=dict)
    targets: dict[tuple[SchemaLocation, str], SchemaLocation | None] = field(
        default_factory=dict
    )
    locations: dict[tuple[str, Tokens], SchemaLocation] = field(default_factory=dict)
    documents: dict[str, SchemaDocument] = field(default_factory=dict)


class CompiledSchema:
    """A schema with its dialect."""

    def __init__(self, schema: UntypedJson, dialect: Dialect) -> None:
        """Take a schema whose numbers are ordinary floats."""
        self.schema = schema
        self.dialect = dialect
        self._own = SchemaDocument(schema=schema, dialect=dialect, uri="")
        self._cache = _Compiled()
        self.root = self._intern("", (), schema, "")
        #: What `shapes`, `denial` and `heights` remember of it.
        self.conjunctions: dict[Any, Any] = {}
        self.ways_to_fail: dict[SchemaLocation, Any] = {}
        self.minimal_depths: dict[SchemaLocation, float] = {}

    @classmethod
    def from_json(cls, schema: UntypedJson, dialect_name: str) -> Self:
        """Return the compiled of a schema under a dialect of the benchmark."""
        return cls(plain(schema), BY_NAME[dialect_name])

    def _intern(
        self, document: str, tokens: Tokens, schema: UntypedJson, base: str
    ) -> SchemaLocation:
        key = (document, tokens)
        found = self._cache.locations.get(key)
        if found is None:
            found = self._cache.locations[key] = SchemaLocation(
                tokens, schema, base, document
            )
        return found

    def location_at(self, tokens: Tokens) -> SchemaLocation:
        """Return the place of the record at these tokens.

        Raises:
            LookupError: nothing stands there.
        """
        return self.child(self.root, tokens)

    def child(self, location: SchemaLocation, tokens: Tokens) -> SchemaLocation:
        """Return the place that relative tokens lead to.

        Raises:
            LookupError: nothing stands there.
        """
        found = self._cache.locations.get((location.document, location.tokens + tokens))
        if found is not None:
            return found
        value, base = location.schema, location.base
        for token in tokens:
            base = base_of(value, self.dialect, base)
            value = member(value, token)
        return self._intern(location.document, location.tokens + tokens, value, base)

    def target(
        self, location: SchemaLocation, keyword: str = "$ref"
    ) -> SchemaLocation | None:
        """Return where a reference of a place leads, or None if nowhere."""
        key = (location, keyword)
        if key not in self._cache.targets:
            self._cache.targets[key] = self._find(
                location, location.schema.get(keyword)
            )
        return self._cache.targets[key]

    def resolve(
        self, location: SchemaLocation, reference: str
    ) -> tuple[str, UntypedJson] | None:
        """Return pointer and schema of what a reference at a place leads to."""
        found = self._find(location, reference)
        return None if found is None else (found.pointer, found.schema)

    def _find(
        self, location: SchemaLocation, reference: UntypedJson
    ) -> SchemaLocation | None:
        if not isinstance(reference, str):
            return None
        inside = base_of(location.schema, self.dialect, location.base)
        try:
            documents = [self._document(location.document)]
            found = follow_reference(reference, inside, documents, self._document)
        except (LookupError, ValueError):
            return None
        if found is None:
            return None
        document, target = found
        return self._intern(document.uri, target.tokens, target.schema, target.base)

    def _document(self, uri: str) -> SchemaDocument:
        """Return a document to search; an unknown one is a fault of the data.

        Raises:
            LookupError: there is no standard document of that URI.
        """
        if not uri:
            return self._own
        found = self._cache.documents.get(uri)
        if found is None:
            schema = standard_document(uri)
            if schema is None:
                raise LookupError(uri)
            found = SchemaDocument(schema=schema, dialect=self.dialect, uri=uri)
            self._cache.documents[uri] = found
        return found

    @cached_property
    def rs(self) -> Any:  # noqa: ANN401 - jsonschema-rs has no common base to name
        """The compiled validator with formats on.

        Raises:
            ValueError: jsonschema-rs cannot use the schema.
        """
        return self._compile(formats=True)

    @cached_property
    def rs_plain(self) -> Any:  # noqa: ANN401 - jsonschema-rs has no common base
        """The compiled validator with formats off.

        Raises:
            ValueError: jsonschema-rs cannot use the schema.
        """
        return self._compile(formats=False)

    def _compile(self, *, formats: bool) -> Any:  # noqa: ANN401 - as above
        validator = RUST_VALIDATORS[self.dialect.name]
        try:
            return validator(self.schema, validate_formats=formats, retriever=refuse)
        except jsonschema_rs.ReferencingError as error:
            raise ValueError(str(error)) from error

    def is_valid(self, value: UntypedJson) -> bool:
        """Tell whether the schema accepts a value, formats on."""
        return bool(self.rs.is_valid(value))

    def errors(self, value: UntypedJson) -> list[FailedAssertion]:
        """Return what the schema holds against a value, formats on."""
        return [self._error(each) for each in self.rs.iter_errors(value)]

    def _error(self, error: Any) -> FailedAssertion:  # noqa: ANN401 - a type without a stub
        branches = getattr(error.kind, "context", None) or ()
        return FailedAssertion(
            keyword=str(error.evaluation_path[-1]) if error.evaluation_path else "",
            schema_pointer=pointer(self._location(error)),
            instance_pointer=pointer(tuple(map(str, error.instance_path))),
            evaluation_path=tuple(map(str, error.evaluation_path)),
            of_name=type(error.kind).__name__.endswith("PropertyNames"),
            inner=tuple(tuple(map(self._error, branch)) for branch in branches),
        )

    def _location(self, error: Any) -> Tokens:  # noqa: ANN401 - as above
        """Return the tokens of a failed keyword inside the record.

        jsonschema-rs counts from the embedded resource, if there is one.
        """
        if not self._own.scanned.inner_resources:
            return tuple(map(str, error.schema_path))
        location, rest = self.root, list(map(str, error.evaluation_path))
        tokens: Tokens = ()
        for token in rest:
            refers = token in REFERENCE_KEYWORDS and isinstance(location.schema, dict)
            if refers and not tokens:
                target = self.target(location, token)
                if target is None:
                    break
                location = target
                continue
            tokens = (*tokens, token)
            location, tokens = self._step(location, tokens)
        return location.tokens + tokens

    def _step(
        self, location: SchemaLocation, tokens: Tokens
    ) -> tuple[SchemaLocation, Tokens]:
        """Move to the place that the tokens lead to, if they do lead to one."""
        try:
            child = self.child(location, tokens)
        except LookupError:
            return location, tokens
        named = tokens[0] in self.dialect.applicators and not (
            len(tokens) == 1 and self._holds_many(tokens[0], child.schema)
        )
        return (child, ()) if named else (location, tokens)

    def _holds_many(self, keyword: str, value: UntypedJson) -> bool:
        shape = self.dialect.applicators[keyword]
        return isinstance(value, list) or "object" in shape.value

    def accepts(self, location: SchemaLocation, value: UntypedJson) -> bool:
        """Tell whether the schema of one place accepts a value, formats on.

        A place that jsonschema-rs cannot compile by itself is taken to accept.
        """
        if isinstance(location.schema, bool):
            return location.schema
        if location not in self._cache.places:
            self._cache.places[location] = self._compile_place(location)
        validator = self._cache.places[location]
        return validator is None or bool(validator.is_valid(value))

    @cached_property
    def _registries(self) -> list[tuple[str, jsonschema_rs.Registry]]:
        """Return the record under a URI of ours or its own, to refer into it.

        First under its own identifier; that fails where it is relative, or that
        of a metaschema, and then the identifier is left out.
        """
        draft, keyword = RUST_DRAFTS[self.dialect.name], self.dialect.id_keyword
        variants = [(self._own.base or _HERE, self.schema)]
        if self._own.base:
            bare = {name: each for name, each in self.schema.items() if name != keyword}
            variants.append((_HERE, bare))
        found = []
        for uri, schema in variants:
            with suppress(ValueError):
                resources = [(uri, schema)]
                registry = jsonschema_rs.Registry(
                    resources, draft=draft, retriever=refuse
                )
                found.append((uri, registry))
        return found

    def _compile_place(self, location: SchemaLocation) -> Any:  # noqa: ANN401 - as above
        if location is self.root:
            return self.rs
        validator = RUST_VALIDATORS[self.dialect.name]
        for uri, registry in self._registries:
            target = (location.document or uri) + "#" + _fragment(location.tokens)
            with suppress(ValueError, jsonschema_rs.ReferencingError):
                return validator(
                    {"$ref": target},
                    registry=registry,
                    validate_formats=True,
                    retriever=refuse,
                )
        return None


def _fragment(tokens: Tokens) -> str:
    """Return the pointer as a URI fragment (RFC 6901 section 6)."""
    return quote(pointer(tokens), safe="/~!$&'()*+,;=:@-._")

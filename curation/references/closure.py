"""The closure of a record: every schema that its references reach.

A reference may lead to the other documents of a source (its library), and to the
metaschemas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from curation.core.documents import Files, Reason, Rejected
from curation.core.json_types import Json
from curation.json.named_text import parse_named
from curation.json.pointer import Tokens, pointer
from curation.json.values import remembered
from curation.references.schema import (
    Reference,
    ResolvedReference,
    Schema,
    follow_reference,
    references_in,
)
from curation.schema.dialects import DRAFT_04, Dialect
from curation.schema.drafts import statement
from curation.schema.subschemas import SchemaLocation, below
from curation.schema.translation import CannotPortError, ported
from curation.validation.metaschemas import (
    cut,
    is_valid,
    other_scheme,
    standard_document,
)

if TYPE_CHECKING:
    from curation.core.rule import Library

#: Number of parsed documents kept, the last ones used.
MAX_KEPT = 256
#: Schemas that one record may refer to beyond its own.
MAX_REACHED = 20_000
#: Most characters of a reference that a message repeats.
_SHOWN = 120


class PackLibrary:
    """A `curation.core.rule.Library` over the files of one archive.

    A document that cannot be read counts as absent. http and https lead to the same
    document, as on every host of these sources.
    """

    def __init__(self, files: Files, uris: Mapping[str, str]) -> None:
        """Take the files, and absolute URIs without fragment to their paths."""

        @lru_cache(MAX_KEPT)
        def parsed(path: str) -> Json | None:
            try:
                document = parse_named(path, files.read(path))
            except KeyError:
                return None
            return None if isinstance(document, Rejected) else document

        self._parsed, self._uris = parsed, uris

    def get(self, uri: str, /) -> Json | None:
        """Return the parsed document, or None if the source has none."""
        path = self._uris.get(uri) or self._uris.get(other_scheme(uri))
        return None if path is None else self._parsed(path)


#: For schemas that refer to no other document.
NO_LIBRARY: Final[Library] = MappingProxyType({})


def found_document(library: Library, uri: str) -> Json | None:
    """Return the document of a URI: the library's, otherwise a metaschema, or None."""
    document = library.get(uri)
    return standard_document(uri) if document is None else document


class ReachedSchema(msgspec.Struct, kw_only=True):
    """A reached schema, with the references in it."""

    document: Schema
    location: SchemaLocation
    #: The schema itself and its subschemas.
    walk: Sequence[SchemaLocation]
    #: JSON pointer of the record's reference that leads into its document.
    via: str = ""
    references: list[ResolvedReference] = []

    @property
    def key(self) -> tuple[int, Tokens]:
        """Its identity within one closure."""
        return id(self.document), self.location.tokens


class _NotResolvedError(Exception):
    """A reference that leads nowhere, or further than the source reaches."""

    def __init__(self, reason: Reason, detail: str, where: str = "") -> None:
        """Carry the rejection that it makes, and the place in the record."""
        super().__init__(detail)
        self.rejected = Rejected(reason=reason, detail=detail, pointer=where)


class Closure:
    """The schemas that a record's references reach, gathered on creation.

    Attributes:
        record: The schema itself.
    """

    def __init__(
        self, record: Schema, library: Library, lost: list[Rejected] | None = None
    ) -> None:
        """Follow every reference of a schema.

        Args:
            record: The schema. What it refers to is brought to its dialect.
            library: The other documents of its source. Metaschemas may be missing.
            lost: Collects why references are not resolved; the others are followed.

        Raises:
            _NotResolvedError: one of the references cannot be resolved, and `lost` is
                None.
        """
        self.record = record
        self._lost = lost
        self._library = library
        #: By the id of the value that the library gave: it lives as long.
        self._documents: dict[int, tuple[Json, Schema]] = {}
        self._by_uri: dict[str, Schema] = {}
        self._reached: dict[tuple[int, Tokens], ReachedSchema] = {}
        start = ReachedSchema(document=record, location=record.root, walk=record.walk)
        self._reached[start.key] = start
        self._follow([start])
        # A dynamic scope is made of whole resources.
        while self.is_dynamic and (
            roots := [
                document
                for _, document in self._documents.values()
                if (id(document), ()) not in self._reached
            ]
        ):
            self._follow([self._reach(document, document.root) for document in roots])

    def schemas(self) -> Iterable[ReachedSchema]:
        """Return every reached schema, in order of need, the record first."""
        return self._reached.values()

    def own_schemas(self) -> list[ReachedSchema]:
        """Return the schemas reached in the record itself, its root first."""
        return [
            reached for reached in self.schemas() if reached.document is self.record
        ]

    def outside_schemas(self) -> list[ReachedSchema]:
        """Return the schemas reached elsewhere, in order of need."""
        return [
            reached for reached in self.schemas() if reached.document is not self.record
        ]

    @property
    def is_dynamic(self) -> bool:
        """Whether a reference may lead elsewhere in another dynamic scope."""
        return any(
            resolved.reference.keyword != "$ref"
            for reached in self.schemas()
            for resolved in reached.references
        )

    def _follow(self, waiting: list[ReachedSchema]) -> None:
        while waiting:
            waiting = [new for reached in waiting for new in self._next(reached)]

    def _next(self, reached: ReachedSchema) -> Iterator[ReachedSchema]:
        """Resolve the references in a schema; yield the newly reached schemas."""
        by_text: dict[tuple[str, type, str], ResolvedReference] = {}
        for reference in references_in(reached.walk, reached.document.dialect):
            # The type keeps 1, true and "1" apart.
            text = (reference.base, type(reference.value), reference.text)
            earlier = by_text.get(text)
            if earlier is None:
                try:
                    earlier = self._resolve(reference, reached.document)
                except _NotResolvedError as error:
                    if self._lost is None:
                        raise
                    lost = error.rejected
                    if reached.via:
                        detail = f"in the file that it leads to, {lost.detail}"
                        lost = replace(lost, detail=detail, pointer=reached.via)
                    self._lost.append(lost)
                    continue
                by_text[text] = earlier
            document, location = earlier.document, earlier.location
            reached.references.append(ResolvedReference(reference, document, location))
            is_inside = document is self.record and location.is_subschema
            if not is_inside and (id(document), location.tokens) not in self._reached:
                via = reached.via
                if document is not self.record:
                    via = via or pointer((*reference.tokens, reference.keyword))
                yield self._reach(document, location, via)

    def _reach(
        self, document: Schema, location: SchemaLocation, via: str = ""
    ) -> ReachedSchema:
        if len(self._reached) >= MAX_REACHED:
            detail = f"refers to more than {MAX_REACHED} schemas"
            raise _NotResolvedError(Reason.TOO_LARGE, detail)
        walk = below(location, document.dialect)
        new = ReachedSchema(document=document, location=location, walk=walk, via=via)
        self._reached[new.key] = new
        return new

    def _resolve(self, reference: Reference, document: Schema) -> ResolvedReference:
        where = pointer((*reference.tokens, reference.keyword))
        reason, problem = Reason.UNRESOLVED_REFERENCE, "is no text"
        if isinstance(reference.value, str):
            try:
                target = follow_reference(
                    reference.value,
                    reference.base,
                    (document, self.record),
                    self._document,
                )
            except (LookupError, ValueError):
                problem = "leads nowhere"
            else:
                if target and _is_schema(target[1], target[0].dialect):
                    return ResolvedReference(reference, *target)
                problem = "leads to no schema"
                if target is None:
                    reason = Reason.REMOTE_REFERENCE
                    problem = "leads out of the source"
        detail = f"{where}: {cut(reference.text, _SHOWN)!r} {problem}"
        is_own = document is self.record
        raise _NotResolvedError(reason, detail, where if is_own else "")

    def _document(self, uri: str) -> Schema | None:
        if not uri:
            return None
        if uri in self._by_uri:
            return self._by_uri[uri]
        value = found_document(self._library, uri)
        if value is None:
            return None
        if id(value) not in self._documents:
            needed = self.record.dialect
            dialect = statement(value).dialect or needed
            try:
                schema = ported(value, dialect, needed)
            except CannotPortError as error:
                detail = (
                    f"{uri} is {dialect.name}, which {needed.name} cannot say: {error}"
                )
                raise _NotResolvedError(Reason.UNRESOLVED_REFERENCE, detail) from None
            self._documents[id(value)] = value, Schema(schema, needed, uri)
        document = self._by_uri[uri] = self._documents[id(value)][1]
        return document


def _is_schema(location: SchemaLocation, dialect: Dialect) -> bool:
    value = location.schema
    if isinstance(value, bool):
        return dialect is not DRAFT_04
    if not isinstance(value, dict):
        return False
    return location.is_subschema or is_valid(value, dialect)


@remembered
def find_closure(schema: Schema, library: Library) -> Closure | Rejected:
    """Return the schemas that a record refers to, or why a reference is not resolved.

    The last results are cached: do not change them.

    Args:
        schema: The record.
        library: The other documents of its source; `NO_LIBRARY` has none.
    """
    try:
        return Closure(schema, library)
    except _NotResolvedError as error:
        return error.rejected


def lost_references(schema: Schema, library: Library) -> list[Rejected]:
    """Return why each reference that leads nowhere is not resolved."""
    lost: list[Rejected] = []
    try:
        Closure(schema, library, lost)
    except _NotResolvedError as error:
        lost.append(error.rejected)
    return lost

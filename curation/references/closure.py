"""The closure of a record: every schema that its references reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.core.documents import Reason, Rejected
from curation.json.pointer import Tokens, pointer
from curation.json.values import remembered
from curation.references.library import NO_LIBRARY, standard_document
from curation.references.schema import (
    Reference,
    ResolvedReference,
    Schema,
    follow_reference,
    references_in,
)
from curation.schema.dialects import DRAFT_04
from curation.schema.drafts import statement
from curation.schema.subschemas import SchemaLocation, below
from curation.schema.translation import CannotPortError, ported
from curation.validation.metaschemas import cut, is_valid

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from curation.core.rule import Library

#: Schemas that one record may refer to beyond its own.
MOST_REACHED = 20_000
#: Most characters of a reference that a message repeats.
_SHOWN = 120


@dataclass(slots=True, kw_only=True)
class ReachedSchema:
    """A schema that is reached, with the references that stand in it."""

    document: Schema
    location: SchemaLocation
    #: The schema itself and its subschemas.
    walk: Sequence[SchemaLocation]
    references: list[ResolvedReference] = field(default_factory=list)

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

    def __init__(self, schema: Schema, library: Library) -> None:
        """Follow every reference of a schema.

        Args:
            schema: The record. What it refers to is brought to its dialect.
            library: The other documents of its source. Metaschemas need not be there.

        Raises:
            _NotResolvedError: one of the references cannot be resolved.
        """
        self.record = schema
        self._library = library
        #: By the id of the value that the library gave: it lives as long.
        self._documents: dict[int, tuple[Json, Schema]] = {}
        self._by_uri: dict[str, Schema] = {}
        self._reached: dict[tuple[int, Tokens], ReachedSchema] = {}
        root = self.record.root
        first = ReachedSchema(
            document=self.record, location=root, walk=self.record.walk
        )
        self._reached[first.key] = first
        self._follow_all([first])
        if self.is_dynamic:
            self._reach_whole_documents()

    def _follow_all(self, waiting: list[ReachedSchema]) -> None:
        while waiting:
            waiting = [new for reached in waiting for new in self._follow(reached)]

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

    def schemas(self) -> Iterator[ReachedSchema]:
        """Yield every schema that is reached, in that order."""
        yield from self._reached.values()

    def _follow(self, reached: ReachedSchema) -> Iterator[ReachedSchema]:
        by_text: dict[tuple[str, type, str], ResolvedReference] = {}
        for reference in references_in(reached.walk, reached.document.dialect):
            # The type keeps 1, true and "1" apart.
            text = (reference.base, type(reference.value), reference.text)
            earlier = by_text.get(text)
            if earlier is None:
                earlier = by_text[text] = self._resolve(reference, reached.document)
            resolved = ResolvedReference(reference, earlier.document, earlier.location)
            reached.references.append(resolved)
            if resolved.document is self.record and resolved.location.is_subschema:
                continue
            if (id(resolved.document), resolved.location.tokens) not in self._reached:
                yield self._reach(resolved.document, resolved.location)

    def _reach(self, document: Schema, location: SchemaLocation) -> ReachedSchema:
        if len(self._reached) >= MOST_REACHED:
            detail = f"refers to more than {MOST_REACHED} schemas"
            raise _NotResolvedError(Reason.TOO_LARGE, detail)
        new = ReachedSchema(
            document=document,
            location=location,
            walk=below(location, document.dialect),
        )
        self._reached[new.key] = new
        return new

    @property
    def is_dynamic(self) -> bool:
        """Whether a reference may lead elsewhere in another dynamic scope."""
        return any(
            resolved.reference.keyword != "$ref"
            for reached in self.schemas()
            for resolved in reached.references
        )

    def _reach_whole_documents(self) -> None:
        """Reach the roots too: a scope is made of whole resources."""
        while roots := [
            document
            for _, document in self._documents.values()
            if (id(document), ()) not in self._reached
        ]:
            self._follow_all([self._reach(root, root.root) for root in roots])

    def _resolve(self, reference: Reference, document: Schema) -> ResolvedReference:
        own = document is self.record
        where = pointer((*reference.tokens, reference.keyword)) if own else ""

        def lost(
            what: str, reason: Reason = Reason.UNRESOLVED_REFERENCE
        ) -> _NotResolvedError:
            return _NotResolvedError(reason, _complaint(reference, what), where)

        if not isinstance(reference.value, str):
            raise lost("is no text")
        try:
            target = follow_reference(
                reference.value, reference.base, (document, self.record), self._document
            )
        except (LookupError, ValueError):
            raise lost("leads nowhere") from None
        if target is None:
            raise lost("leads out of the source", Reason.REMOTE_REFERENCE)
        resolved = ResolvedReference(reference, *target)
        if not _is_schema(resolved):
            raise lost("leads to no schema")
        return resolved

    def _document(self, uri: str) -> Schema | None:
        if not uri:
            return None
        if uri in self._by_uri:
            return self._by_uri[uri]
        schema = self._library.get(uri)
        if schema is None:
            schema = standard_document(uri)
        if schema is None:
            return None
        if id(schema) not in self._documents:
            self._documents[id(schema)] = schema, self._read(schema, uri)
        document = self._by_uri[uri] = self._documents[id(schema)][1]
        return document

    def _read(self, schema: Json, uri: str) -> Schema:
        own = self.record.dialect
        dialect = statement(schema).dialect or own
        if dialect is not own:
            try:
                schema = ported(schema, dialect, own)
            except CannotPortError as error:
                detail = (
                    f"{uri} is {dialect.name}, which {own.name} cannot say: {error}"
                )
                raise _NotResolvedError(Reason.UNRESOLVED_REFERENCE, detail) from None
        return Schema(schema, own, uri)


def _is_schema(resolved: ResolvedReference) -> bool:
    value, dialect = resolved.location.schema, resolved.document.dialect
    if isinstance(value, bool):
        return dialect is not DRAFT_04
    if not isinstance(value, dict):
        return False
    return resolved.location.is_subschema or is_valid(value, dialect)


def _complaint(reference: Reference, what: str) -> str:
    where = pointer((*reference.tokens, reference.keyword))
    return f"{where}: {cut(reference.text, _SHOWN)!r} {what}"


def closure_of(schema: Schema, library: Library = NO_LIBRARY) -> Closure | Rejected:
    """Return the schemas that a record refers to, or why a reference is not resolved.

    The last results are cached: do not change them.

    Args:
        schema: The record.
        library: The other documents of its source; by default metaschemas alone.
    """
    return _closure_of(schema, library)


@remembered
def _closure_of(schema: Schema, library: Library) -> Closure | Rejected:
    try:
        return Closure(schema, library)
    except _NotResolvedError as error:
        return error.rejected

"""Documents, a context and a library of a few documents, for the tests of rules."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from curation.core.documents import (
    Document,
    Origin,
    Provenance,
    RawDocument,
    Reason,
    Rejected,
)
from curation.core.rule import Context
from curation.rules.clean import references

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson


class NoLibrary:
    """A source of one document."""

    def get(self, uri: str) -> UntypedJson | None:
        """Return None: there is no other document."""


CONTEXT = Context(library=NoLibrary())


PROVENANCE = Provenance(
    source="made",
    path="schemas/made1.json",
    commit="0",
    licence="Apache-2.0",
    origin=Origin.UPSTREAM,
)


def raw_document(content: bytes = b"{}", **given: UntypedJson) -> RawDocument:
    """Return a document as its source holds it, of a source that no rule knows."""
    made = RawDocument(
        config="Made", unique_id="made1", provenance=PROVENANCE, content=content
    )
    return replace(made, **given)


def document(schema: UntypedJson, **given: UntypedJson) -> Document:
    """Return a document with this schema, of a source that no rule knows."""
    made = Document(
        config="Made", unique_id="made1", provenance=PROVENANCE, schema=schema
    )
    return replace(made, **given)


SITE = "https://schemas.example/"


@dataclass(frozen=True, slots=True)
class Shelf:
    """A source of a few documents; remembers nothing, fetches nothing."""

    documents: Mapping[str, UntypedJson] = field(default_factory=dict)

    def get(self, uri: str) -> UntypedJson | None:
        """Return the document of that URI, if it stands here."""
        return self.documents.get(uri)


def make_result(
    schema: UntypedJson,
    documents: Mapping[str, UntypedJson] | None = None,
    dialect: str = "draft-07",
    base_uri: str | None = None,
) -> Document | Rejected:
    """Return what the rule makes of a schema, given other documents by URI."""
    made = document(schema, dialect=dialect, base_uri=base_uri)
    return references.apply(made, Context(library=Shelf(documents or {})))


def record_of(
    schema: UntypedJson,
    documents: Mapping[str, UntypedJson] | None = None,
    dialect: str = "draft-07",
    base_uri: str | None = None,
) -> UntypedJson:
    """Return the schema that the rule keeps."""
    result = make_result(schema, documents, dialect, base_uri)
    assert isinstance(result, Document), result
    return result.schema


def reason_of(
    schema: UntypedJson,
    documents: Mapping[str, UntypedJson] | None = None,
    dialect: str = "draft-07",
) -> Reason:
    """Return why the rule rejects a schema."""
    result = make_result(schema, documents, dialect)
    assert isinstance(result, Rejected), result
    return result.reason

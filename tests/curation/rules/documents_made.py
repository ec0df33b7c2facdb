"""Documents and a context for the tests of rules."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from curation.core.documents import Document, Origin, Provenance, RawDocument
from curation.core.rule import Context

if TYPE_CHECKING:
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

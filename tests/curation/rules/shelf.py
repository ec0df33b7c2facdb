"""The rule of references, with a few documents at hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from curation.core.documents import Document, Reason, Rejected
from curation.core.rule import Context
from curation.rules.clean import references
from tests.curation.rules.documents_made import document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson

SITE = "https://schemas.example/"


@dataclass(frozen=True, slots=True)
class Shelf:
    """A source of a few documents; remembers nothing, fetches nothing."""

    documents: Mapping[str, UntypedJson] = field(default_factory=dict)

    def get(self, uri: str) -> UntypedJson | None:
        """Return the document of that URI, if it stands here."""
        return self.documents.get(uri)


def result_of(
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
    result = result_of(schema, documents, dialect, base_uri)
    assert isinstance(result, Document), result
    return result.schema


def reason_of(
    schema: UntypedJson,
    documents: Mapping[str, UntypedJson] | None = None,
    dialect: str = "draft-07",
) -> Reason:
    """Return why the rule rejects a schema."""
    result = result_of(schema, documents, dialect)
    assert isinstance(result, Rejected), result
    return result.reason

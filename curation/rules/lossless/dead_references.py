"""References that lead nowhere, in places that no validator ever enters."""

from __future__ import annotations

from curation.core.rule import Context, Document, Json, Library, RepairKind, Rule
from curation.json.pointer import Drop, rewritten
from curation.references.closure import Closure, closure_alone, closure_with
from curation.references.library import standard_document
from curation.references.reachable import applied
from curation.references.resolution import Reference, SchemaDocument, follow_reference
from curation.rules.editing import with_schema
from curation.schema.dialects import BY_NAME
from curation.schema.subschemas import subschemas

_NAME = "dead-references"
_NOTE = "it leads nowhere, and nothing applies the schema that holds it"


def apply(document: Document, context: Context) -> Document:
    """Drop the dangling references of schemas that nothing applies."""
    dialect = BY_NAME[document.dialect or "2020-12"]
    if not any("$ref" in schema for schema in subschemas(document.schema, dialect)):
        return document
    base = document.base_uri or ""
    if not base and isinstance(closure_alone(document.schema, dialect), Closure):
        return document
    closure = closure_with(document.schema, dialect, base, context.library)
    if isinstance(closure, Closure):
        return document
    read = SchemaDocument(schema=document.schema, dialect=dialect, uri=base)
    living = applied(read)
    edits = {
        (*reference.tokens, reference.keyword): Drop()
        for reference in read.scanned.references
        if reference.tokens not in living
        and not _leads_somewhere(reference, read, context.library)
    }
    return with_schema(document, _NAME, rewritten(document.schema, edits), note=_NOTE)


def _leads_somewhere(
    reference: Reference, document: SchemaDocument, library: Library
) -> bool:
    def load(uri: str) -> SchemaDocument | None:
        schema: Json = library.get(uri) or standard_document(uri)
        if schema is None:
            return None
        return SchemaDocument(schema=schema, dialect=document.dialect, uri=uri)

    try:
        found = follow_reference(reference.text, reference.base, [document], load)
    except (LookupError, ValueError):
        return False
    return found is not None


RULE = Rule(
    name=_NAME,
    summary="A `$ref` that leads nowhere is dropped where no applicator and no other "
    "reference leads to the schema that holds it.",
    source="JSON Schema core: `definitions` apply nothing by themselves, and up to "
    "draft-07 a `$ref` hides its siblings",
    apply=apply,
    repair=RepairKind.LOSSLESS,
)

"""References that lead nowhere, in schemas that nothing applies."""

from __future__ import annotations

from curation.core.rule import Context, Document, Json, Library, RepairKind, Rule
from curation.json.pointer import Drop, rewritten
from curation.references.closure import Closure, closure_of
from curation.references.library import standard_document
from curation.references.reachable import applied
from curation.references.schema import Reference, Schema, follow_reference, schema_of
from curation.rules.editing import with_schema
from curation.schema.dialects import BY_NAME
from curation.schema.subschemas import subschemas

_NAME = "dead-references"
_NOTE = "it leads nowhere, and nothing applies the schema that holds it"


def _apply(document: Document, context: Context) -> Document:
    dialect = BY_NAME[document.dialect or "2020-12"]
    if not any("$ref" in schema for schema in subschemas(document.schema, dialect)):
        return document
    # What is resolved without the document's own address is so with it.
    if isinstance(closure_of(schema_of(document.schema, dialect)), Closure):
        return document
    read = schema_of(document.schema, dialect, document.base_uri or "")
    if isinstance(closure_of(read, context.library), Closure):
        return document
    living = applied(read)
    edits = {
        (*reference.tokens, reference.keyword): Drop()
        for reference in read.scanned.references
        if reference.tokens not in living
        and not _leads_somewhere(reference, read, context.library)
    }
    return with_schema(document, _NAME, rewritten(document.schema, edits), note=_NOTE)


def _leads_somewhere(reference: Reference, document: Schema, library: Library) -> bool:
    def load(uri: str) -> Schema | None:
        schema: Json = library.get(uri)
        if schema is None and (schema := standard_document(uri)) is None:
            return None
        return Schema(schema, document.dialect, uri)

    try:
        target = follow_reference(reference.text, reference.base, [document], load)
    except (LookupError, ValueError):
        return False
    return target is not None


RULE = Rule(
    name=_NAME,
    summary="A `$ref` that leads nowhere is dropped where no applicator and no other "
    "reference leads to the schema that holds it.",
    source="JSON Schema core: `definitions` apply nothing by themselves, and up to "
    "draft-07 a `$ref` hides its siblings",
    apply=_apply,
    repair=RepairKind.LOSSLESS,
)

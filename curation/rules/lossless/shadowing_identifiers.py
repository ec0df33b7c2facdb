"""Nested identifiers whose only effect is to hide the targets of references."""

from __future__ import annotations

from curation.core.rule import Context, Document, Json, RepairKind, Rule
from curation.json.pointer import Drop, Tokens, at, rewritten, tokens_of_fragment
from curation.references.schema import Schema, schema_of
from curation.rules.editing import with_schema
from curation.schema.dialects import BY_NAME, Dialect
from curation.schema.subschemas import subschemas

_NAME = "shadowing-identifiers"
_NOTE = "`#` meant the whole document; nothing else refers to this identifier"


def _apply(document: Document, _context: Context) -> Document:
    dialect = BY_NAME[document.dialect or "2020-12"]
    schema: Json = document.schema
    if not _may_be_shadowed(schema, dialect):
        return document
    read = schema_of(schema, dialect, document.base_uri or "")
    targets = _targets(read)
    hiding = {
        resource
        for (tokens, _), target in targets.items()
        if target is None
        for resource in read.scanned.inner_resources
        if tokens[: len(resource)] == resource
    }
    edits = {(*resource, dialect.id_keyword): Drop() for resource in hiding}
    without = rewritten(schema, edits)
    after = _targets(Schema(without, dialect, document.base_uri or ""))
    if not hiding or not _only_better(schema, targets, after):
        return document
    return with_schema(document, _NAME, without, note=_NOTE)


def _may_be_shadowed(schema: Json, dialect: Dialect) -> bool:
    holders = list(subschemas(schema, dialect))
    return any("$ref" in holder for holder in holders) and any(
        isinstance(holder.get(dialect.id_keyword), str) and holder is not schema
        for holder in holders
    )


#: From where a reference stands, with its text, to where it leads; None for nowhere.
_Targets = dict[tuple["Tokens", str], "Tokens | None"]


def _targets(document: Schema) -> _Targets:
    return {
        (reference.tokens, reference.text): target.tokens if target else None
        for reference in document.scanned.references
        for target in [document.lookup(reference.text, reference.base)]
    }


def _only_better(schema: Json, before: _Targets, after: _Targets) -> bool:
    """Return whether what led somewhere leads there still, and the rest to its path."""
    expected = {
        place: _path(schema, place[1]) if target is None else target
        for place, target in before.items()
    }
    return after == expected and after != before


def _path(schema: Json, reference: str) -> Tokens | None:
    """Return where a pointer leads if it starts from the root of the document."""
    if not reference.startswith("#/"):
        return None
    tokens = tokens_of_fragment(reference)
    try:
        at(schema, tokens)
    except LookupError:
        return None
    return tokens


RULE = Rule(
    name=_NAME,
    summary="Where a reference leads nowhere because a nested identifier made it start "
    "there instead of at the root, and nothing refers to that identifier, the "
    "identifier goes.",
    source="JSON Schema core on `$id` (draft-04: `id`): it changes the base URI of "
    "every reference inside; eleven GitHub files use it as a name",
    apply=_apply,
    repair=RepairKind.LOSSLESS,
)

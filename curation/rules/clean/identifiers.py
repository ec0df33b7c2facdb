"""Let every identifier be a URI reference, for no validator reads another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.documents import Change, Reason, Rejected
from curation.core.rule import Rule
from curation.json.edits import Put, rewritten
from curation.json.pointer import pointer
from curation.json.text import write
from curation.references.identifiers import usable
from curation.schema.dialects import BY_NAME
from curation.schema.subschemas import subschema_locations, subschemas

if TYPE_CHECKING:
    from curation.core.documents import Document
    from curation.core.rule import Context
    from curation.json.pointer import Tokens

_NAME = "identifiers"


def apply(document: Document, _context: Context) -> Document | Rejected:
    """Escape what a URI cannot hold in the identifiers of every place."""
    dialect = BY_NAME[document.dialect or "2020-12"]
    keyword = dialect.id_keyword
    if all(
        not isinstance(identifier := subschema.get(keyword), str)
        or usable(identifier) == identifier
        for subschema in subschemas(document.schema, dialect)
    ):
        return document
    edits: dict[Tokens, Put] = {}
    changes: list[Change] = []
    for location in subschema_locations(document.schema, dialect):
        schema = location.schema
        before = schema.get(keyword) if isinstance(schema, dict) else None
        if not isinstance(before, str):
            continue
        tokens = (*location.tokens, keyword)
        after = usable(before)
        if after is None:
            detail = f"{pointer(tokens)}: {before[:120]!r} is no URI reference"
            return Rejected(
                reason=Reason.BAD_IDENTIFIER, detail=detail, pointer=pointer(tokens)
            )
        if after != before:
            edits[tokens] = Put(after)
            changes.append(
                Change(
                    rule=_NAME,
                    pointer=pointer(tokens),
                    before=write(before),
                    after=write(after),
                    note="escaped as RFC 3986 wants it",
                )
            )
    return document.changed(rewritten(document.schema, edits), changes)


RULE = Rule(
    name=_NAME,
    summary="Characters that no URI may hold are percent-encoded in `$id` (draft-04: "
    "`id`); an identifier that still is no URI reference ends the record.",
    source="RFC 3986, appendix A; jsonschema-rs refuses such identifiers",
    apply=apply,
    reasons=(Reason.BAD_IDENTIFIER,),
)

"""Drop identifiers whose fragment no validator can use."""

from __future__ import annotations

import re

from curation.core.rule import Context, Document, Reason, Rejected, Rule
from curation.json.pointer import pointer
from curation.json.values import objects, searchable, tokens
from curation.schema.dialects import declared

#: Drafts up to this one are concerned (`curation.schema.dialects.Dialect.order`).
_NEWEST = 7
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^#]*#(?P<fragment>.+)", re.DOTALL)
#: No text that lacks both holds an identifier.
_SIGNS = (b'"id":"', b'"$id":"')


def _apply(document: Document, _context: Context) -> Document | Rejected:
    dialect = declared(document.schema.get("$schema"))
    if dialect is None or dialect.order > _NEWEST:
        return document
    text = searchable(document.schema)
    if not any(sign in text for sign in _SIGNS):
        return document
    for trail, subschema in objects(document.schema):
        for keyword in ("id", "$id"):
            uri = subschema.get(keyword)
            match = _ABSOLUTE.match(uri) if isinstance(uri, str) else None
            if match and (trail is None or "/" in match["fragment"]):
                place = pointer((*tokens(trail), keyword))
                return Rejected(
                    reason=Reason.BAD_IDENTIFIER, detail=f"{place} is {uri}"
                )
    return document


RULE = Rule(
    name="paper-bad-identifier",
    summary="Up to draft-07, an absolute `id` or `$id` whose fragment holds a slash, "
    "or that has any fragment at the root, drops the document.",
    source="JSONSchemaBench paper, section 3.1; 9 GitHub files, none of them published",
    apply=_apply,
    reasons=(Reason.BAD_IDENTIFIER,),
)

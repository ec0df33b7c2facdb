"""Drop what refers to another document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from curation.core.documents import Reason, Rejected
from curation.core.rule import Rule
from curation.json.objects import objects, searchable, tokens
from curation.json.pointer import pointer

if TYPE_CHECKING:
    from curation.core.documents import Document
    from curation.core.rule import Context


#: No text that lacks this holds a `$ref` text that is not a bare fragment.
_SIGN = re.compile(rb'"\$ref":"(?!#)')


def _apply(document: Document, _context: Context) -> Document | Rejected:
    if not _SIGN.search(searchable(document.schema)):
        return document
    for trail, subschema in objects(document.schema):
        ref = subschema.get("$ref")
        if isinstance(ref, str) and not ref.startswith("#"):
            place = pointer((*tokens(trail), "$ref"))
            return Rejected(
                reason=Reason.REMOTE_REFERENCE, detail=f"{place} refers to {ref}"
            )
    return document


RULE = Rule(
    name="paper-remote-reference",
    summary="A `$ref` that is not a bare fragment drops the document; nothing is "
    "bundled.",
    source="JSONSchemaBench paper, section 3.1; 41 SchemaStore files, of which the "
    "authors published 2",
    apply=_apply,
    reasons=(Reason.REMOTE_REFERENCE,),
)

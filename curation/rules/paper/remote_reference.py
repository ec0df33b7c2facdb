"""Drop documents that refer to another one."""

from __future__ import annotations

import re

from curation.core.rule import Context, Document, Reason, Rejected, Rule
from curation.json.pointer import pointer
from curation.json.values import objects, searchable, tokens
from curation.references.library import standard_document

#: No text that lacks this holds a `$ref` text that is not a bare fragment.
_SIGN = re.compile(rb'"\$ref":"(?!#)')


def _stays(reference: str, inside: set[str]) -> bool:
    uri = reference.partition("#")[0]
    if not uri:
        return reference.startswith("#")
    return uri in inside or standard_document(uri) is not None


def _apply(document: Document, _context: Context) -> Document | Rejected:
    if not _SIGN.search(searchable(document.schema)):
        return document
    own = [document.schema.get(keyword) for keyword in ("id", "$id")]
    inside = {uri.removesuffix("#") for uri in own if isinstance(uri, str)}
    for trail, subschema in objects(document.schema):
        ref = subschema.get("$ref")
        if isinstance(ref, str) and not _stays(ref, inside):
            place = pointer((*tokens(trail), "$ref"))
            return Rejected(
                reason=Reason.REMOTE_REFERENCE, detail=f"{place} refers to {ref}"
            )
    return document


RULE = Rule(
    name="paper-remote-reference",
    summary="A `$ref` that leads out of the document drops it, unless it leads to a "
    "metaschema, which every validator has; nothing is bundled.",
    source="JSONSchemaBench paper, section 3.1; 39 SchemaStore files, none of them "
    "published",
    apply=_apply,
    reasons=(Reason.REMOTE_REFERENCE,),
)

"""Identifiers: every one a URI reference, as validators require."""

from __future__ import annotations

import re

from curation.core.rule import Change, Context, Document, Reason, Rejected, Rule
from curation.json.pointer import Put, Tokens, change_at, pointer, rewritten
from curation.references.schema import legal
from curation.schema.dialects import BY_NAME
from curation.schema.subschemas import subschema_locations, subschemas

_NAME = "identifiers"


def _apply(document: Document, _context: Context) -> Document | Rejected:
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
            note = "escaped as RFC 3986 wants it"
            changes.append(change_at(_NAME, tokens, before, after, note))
    return document.changed(rewritten(document.schema, edits), changes)


_UNRESERVED = r"[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2}"
_PCHAR = rf"(?:{_UNRESERVED}|[!$&'()*+,;=:@])"
_AUTHORITY = (
    rf"(?:(?:{_UNRESERVED}|[!$&'()*+,;=:])*@)?"
    rf"(?:\[[0-9A-Fa-f:.]+\]|(?:{_UNRESERVED}|[!$&'()*+,;=])*)(?::[0-9]*)?"
)
#: URI-reference of RFC 3986, appendix A.
_URI_REFERENCE = re.compile(
    rf"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?"
    rf"(?://{_AUTHORITY}(?:/{_PCHAR}*)*|(?P<path>(?!//)(?:{_PCHAR}|/)*))"
    rf"(?:\?(?:{_PCHAR}|[/?])*)?(?:#(?:{_PCHAR}|[/?])*)?"
)


def is_uri_reference(text: str) -> bool:
    """Return whether a text is a URI reference (RFC 3986 section 4.1)."""
    match = _URI_REFERENCE.fullmatch(text)
    if match is None:
        return False
    first = (match["path"] or "").partition("/")[0]
    return match["scheme"] is not None or ":" not in first


def usable(identifier: str) -> str | None:
    """Return the identifier with what a URI cannot hold escaped, or None.

    None stands for an identifier that is no URI reference even so.
    """
    if is_uri_reference(identifier):
        return identifier
    escaped = legal(identifier).replace("[", "%5B").replace("]", "%5D")
    return escaped if is_uri_reference(escaped) else None


RULE = Rule(
    name=_NAME,
    summary="Characters that no URI may hold are percent-encoded in `$id` (draft-04: "
    "`id`); an identifier that still is no URI reference ends the record.",
    source="RFC 3986, appendix A; jsonschema-rs refuses such identifiers",
    apply=_apply,
    reasons=(Reason.BAD_IDENTIFIER,),
)

"""Identifiers (`$id`, in draft-04 `id`) that a validator can use as a base."""

from __future__ import annotations

import re

from curation.references.resolution import legal

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
    found = _URI_REFERENCE.fullmatch(text)
    if found is None:
        return False
    first = (found["path"] or "").partition("/")[0]
    return found["scheme"] is not None or ":" not in first


def usable(identifier: str) -> str | None:
    """Return the identifier with what a URI cannot hold escaped, or None.

    None stands for an identifier that is no URI reference even so.
    """
    if is_uri_reference(identifier):
        return identifier
    escaped = legal(identifier).replace("[", "%5B").replace("]", "%5D")
    return escaped if is_uri_reference(escaped) else None

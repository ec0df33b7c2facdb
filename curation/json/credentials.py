"""Credentials in JSON values, which must not be published.

The formats are those of `curation.system.credentials`. A finding never includes the
value. A placeholder (`EXAMPLE`, one character over and over) is not a credential.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import re2

from curation.core.json_types import Json
from curation.json.pointer import Tokens, pointer
from curation.json.values import searchable
from curation.system.credentials import tables

#: Fewer distinct characters than this after the prefix make a placeholder.
_MIN_VARIETY = 8
_PLACEHOLDER = re.compile(
    r"example|placeholder|dummy|sample|redacted|changeme|your|x{6}|\*{4}|0123456|1234567"
    r"|abcdefg",
    re.IGNORECASE,
)
#: All marks in one automaton: ten times faster than asking for one after another.
_ANY_MARK = "|".join(
    re.escape(mark) for entry in tables().format for mark in entry.marks
)
_MARKS = re2.compile(_ANY_MARK)
#: RE2 syntax: a text that this does not meet holds no credential, nor does the JSON
#: value that it may be: a mark is unescaped, or a character of it is escaped.
SUSPECT = _ANY_MARK + r"|\\u00[2-7]|\\/"
#: Payload of the token that jwt.io shows to everyone: `{"sub":"1234567890",`.
_KNOWN_TOKENS = ("eyJzdWIiOiIxMjM0NTY3ODkwIi", "eyJsb2dnZWRJbkFzIjoiYWRtaW4iL")


class FoundCredential(NamedTuple):
    """A credential: its format and its location, never its value."""

    format: str
    pointer: str


def find_credential(value: Json) -> FoundCredential | None:
    """Return the first credential in a JSON value's texts and names, or None."""
    if _MARKS.search(searchable(value)) is None:
        return None
    for tokens, string in _strings(value):
        for entry in tables().format if _MARKS.search(string) else ():
            if any(_is_real(match[0]) for match in re.finditer(entry.pattern, string)):
                return FoundCredential(format=entry.name, pointer=pointer(tokens))
    return None


def cover_credentials(text: str) -> str:
    """Return a text with the name of its format in the place of each credential."""
    for entry in tables().format:
        text = re.sub(entry.pattern, f"<{entry.name}>", text)
    return text


def _is_real(credential: str) -> bool:
    if _PLACEHOLDER.search(credential) or any(
        token in credential for token in _KNOWN_TOKENS
    ):
        return False
    return len(set(credential)) >= _MIN_VARIETY + len(set(credential[:4]))


def _strings(value: Json) -> Iterator[tuple[Tokens, str]]:
    """Yield every text and every name, with its location.

    A name is reported at its object, for the pointer would repeat it.
    """
    stack: list[tuple[Tokens, Json]] = [((), value)]
    while stack:
        tokens, member = stack.pop()
        if isinstance(member, str):
            yield tokens, member
        elif isinstance(member, dict):
            for name in member:
                yield tokens, name
            stack.extend(((*tokens, name), inner) for name, inner in member.items())
        elif isinstance(member, list):
            stack.extend(
                ((*tokens, str(index)), inner) for index, inner in enumerate(member)
            )

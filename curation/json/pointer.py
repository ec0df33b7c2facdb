"""JSON Pointers (RFC 6901): written, read, followed; many edits of a value at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import msgspec

from curation.core.documents import ABSENT, Change
from curation.core.json_types import Json
from curation.json.text import write

if TYPE_CHECKING:
    _Tree = dict[str, "Put | Drop | _Tree"]

#: A JSON pointer (RFC 6901) as its reference tokens.
Tokens = tuple[str, ...]
#: An index of an array, of fewer digits than any number that Python refuses to read.
_INDEX = re.compile(r"[0-9]{1,18}")
#: Characters that a URI fragment may hold as they are (RFC 3986 section 3.5).
_FRAGMENT_SAFE = "/~!$&'()*+,;=:@?-._"


def pointer(tokens: Tokens) -> str:
    """Return the JSON pointer text of reference tokens (RFC 6901 section 3).

    Example:
        >>> pointer(("properties", "a/b", "0"))
        '/properties/a~1b/0'
    """
    text = "/".join(("", *tokens))
    if "~" not in text and text.count("/") == len(tokens):
        return text
    return "".join(
        "/" + token.replace("~", "~0").replace("/", "~1") for token in tokens
    )


def upwards(tokens: Tokens) -> Iterator[Tokens]:
    """Yield a path and all above it, the root last."""
    while tokens:
        yield tokens
        tokens = tokens[:-1]
    yield tokens


def parse_tokens(text: str) -> Tokens:
    """Return the reference tokens of a JSON pointer text (RFC 6901 section 4).

    Example:
        >>> parse_tokens("/properties/a~1b/0")
        ('properties', 'a/b', '0')
    """
    if not text:
        return ()
    parts = text.removeprefix("/").split("/")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def to_fragment(tokens: Tokens) -> str:
    """Return the URI fragment of reference tokens (RFC 6901 section 6).

    It is the value of a `$ref` that leads there from the root of its document.

    Example:
        >>> to_fragment(("$defs", "a b"))
        '#/$defs/a%20b'
    """
    return "#" + quote(pointer(tokens), safe=_FRAGMENT_SAFE)


def tokens_of_fragment(fragment: str) -> Tokens:
    """Return the reference tokens of a URI fragment that holds a JSON pointer.

    Example:
        >>> tokens_of_fragment("#/$defs/a%20b")
        ('$defs', 'a b')
    """
    return parse_tokens(unquote(fragment.removeprefix("#")))


def member(value: Json, token: str) -> Json:
    """Return the member of an object or array that one token names.

    Raises:
        LookupError: the value does not exist.
    """
    if isinstance(value, dict):
        return value[token]
    if isinstance(value, list) and _INDEX.fullmatch(token):
        return value[int(token)]
    raise LookupError(token)


def at(value: Json, tokens: Tokens) -> Json:
    """Return the value that the tokens lead to.

    Raises:
        LookupError: the value does not exist.
    """
    for token in tokens:
        value = member(value, token)
    return value


class Put(msgspec.Struct, frozen=True):
    """Put this value in the place of a member, under its name or another."""

    value: Json
    name: str | None = None


class Drop(msgspec.Struct, frozen=True):
    """Remove the member, if it exists."""


def rewritten(value: Json, edits: Mapping[Tokens, Put | Drop]) -> Json:
    """Return a copy with the edits made; key order stays, unedited parts are shared.

    Args:
        value: Any JSON value; it is not changed.
        edits: Tokens of members to their edits. No tokens may lead into what another
            edit replaces; edits of missing members change nothing.

    Example:
        >>> rewritten({"a": 1, "b": {"c": 2}}, {("a",): Drop(), ("b", "c"): Put(3)})
        {'b': {'c': 3}}
    """
    if not edits:
        return value
    tree: _Tree = {}
    for tokens, edit in edits.items():
        branch = tree
        for token in tokens[:-1]:
            inner = branch.setdefault(token, {})
            if not isinstance(inner, dict):
                raise TypeError(tokens)
            branch = inner
        branch[tokens[-1]] = edit
    return _rewritten(value, tree)


def replaced(value: Json, tokens: Tokens, new: Json) -> Json:
    """Return a copy of the value with `new` at the path of the tokens.

    Raises:
        LookupError: the tokens lead nowhere.
    """
    at(value, tokens)
    return rewritten(value, {tokens: Put(new)}) if tokens else new


def _rewritten(value: Json, tree: _Tree) -> Json:
    if isinstance(value, list):
        items = [tree.get(str(index)) for index in range(len(value))]
        return [
            edit.value
            if isinstance(edit, Put)
            else _rewritten(item, edit)
            if isinstance(edit, dict)
            else item
            for item, edit in zip(value, items, strict=True)
        ]
    if not isinstance(value, dict):
        return value
    result: dict[str, Json] = {}
    for name, member in value.items():
        edit = tree.get(name)
        if isinstance(edit, Put):
            result[edit.name or name] = edit.value
        elif isinstance(edit, dict):
            result[name] = _rewritten(member, edit)
        elif edit is None:
            result[name] = member
    return result


def change_at(
    rule: str, tokens: Tokens, before: Json, after: Json, note: str = ""
) -> Change:
    """Return the record of one edit.

    Args:
        rule: Name of the rule that edits.
        tokens: The place.
        before: The old value; `ABSENT` without one.
        after: The new value; `ABSENT` if none exists.
        note: The reason, for the ledger.
    """
    return Change(
        rule=rule,
        pointer=pointer(tokens),
        before=ABSENT if before is ABSENT else write(before),
        after=ABSENT if after is ABSENT else write(after),
        note=note,
    )

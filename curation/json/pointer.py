"""JSON Pointers (RFC 6901): written, read and followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


#: A JSON pointer (RFC 6901) as its reference tokens.
Tokens = tuple[str, ...]


def pointer(tokens: Tokens) -> str:
    """Return the JSON pointer text of reference tokens (RFC 6901 section 3)."""
    return "".join("/" + each.replace("~", "~0").replace("/", "~1") for each in tokens)


def tokens_of(text: str) -> Tokens:
    """Return the reference tokens of a JSON pointer text (RFC 6901 section 4)."""
    if not text:
        return ()
    parts = text.removeprefix("/").split("/")
    return tuple(each.replace("~1", "/").replace("~0", "~") for each in parts)


def at(value: UntypedJson, tokens: Tokens) -> UntypedJson:
    """Return the value that the tokens lead to.

    Raises:
        LookupError: nothing stands there.
    """
    for token in tokens:
        if isinstance(value, list) and token.isascii() and token.isdigit():
            value = value[int(token)]
        elif isinstance(value, dict):
            value = value[token]
        else:
            raise LookupError(token)
    return value


def replaced(value: UntypedJson, tokens: Tokens, new: UntypedJson) -> UntypedJson:
    """Return a copy of the value in which `new` stands where the tokens lead."""
    if not tokens:
        return new
    head, rest = tokens[0], tokens[1:]
    if isinstance(value, list):
        index = int(head)
        inner = replaced(value[index], rest, new)
        return [*value[:index], inner, *value[index + 1 :]]
    return {
        name: replaced(each, rest, new) if name == head else each
        for name, each in value.items()
    }

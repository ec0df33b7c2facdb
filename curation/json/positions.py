"""Line and column of JSON pointers in a JSON text."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from curation.json.named_text import without_comments
from curation.json.pointer import Tokens, tokens_of
from curation.json.text import MAX_DEPTH

#: What a text consists of.
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:]+', re.DOTALL)
#: A string without escapes.
_PLAIN = re.compile(r'"[^"\\]*"', re.DOTALL)
_BYTE_ORDER_MARK = "\ufeff"


class TextPosition(NamedTuple):
    """A place in a text; both numbers count from 1, columns in characters."""

    line: int
    column: int


class TextPositions:
    """The places of all values of one JSON text.

    A member's position is its name's; the last of equal names counts. A text
    that is not JSON has positions up to its first error.

    Example:
        >>> TextPositions('{"a": {"b": 1}}').of("/a/b")
        TextPosition(line=1, column=8)
    """

    def __init__(self, text: str) -> None:
        """Read a text, without its byte order mark."""
        text = text.removeprefix(_BYTE_ORDER_MARK)
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._offsets: dict[Tokens, int] = dict(offsets(without_comments(text)))

    def of(self, pointer: str) -> TextPosition:
        """Return the place of a pointer, or of the innermost value on the way there."""
        tokens = tokens_of(pointer)
        while tokens and tokens not in self._offsets:
            tokens = tokens[:-1]
        return self.at(self._offsets.get(tokens, 0))

    def at(self, offset: int) -> TextPosition:
        """Return the place of the character with this number, from 0."""
        line = bisect_right(self._lines, offset)
        return TextPosition(line, offset - self._lines[line - 1] + 1)


def offsets(text: str) -> Iterator[tuple[Tokens, int]]:
    """Yield the tokens of each value of a text and where it begins, in its order."""
    #: The containers around a place: the tokens of each, and whether it is an object.
    path: list[tuple[Tokens, bool]] = []
    #: In the innermost: the name of the next member, or the number of the next item.
    keys: list[str | int | None] = []
    name_at, offset = 0, 0
    while (piece := _PIECE.search(text, offset)) is not None:
        start, mark, offset = piece.start(), piece[0], piece.end()
        if mark in "}]" and path:
            path.pop()
            keys.pop()
        elif mark == ",":
            if keys:
                number = keys[-1]
                keys[-1] = number + 1 if isinstance(number, int) else None
        elif mark != ":":
            if path and path[-1][1] and keys[-1] is None:
                name_at, keys[-1] = start, mark
                if _PLAIN.fullmatch(mark):
                    keys[-1] = mark[1:-1]
                    continue
                with suppress(ValueError):
                    keys[-1] = str(json.loads(mark, strict=False))
                continue
            tokens = (*path[-1][0], str(keys[-1])) if path else ()
            yield tokens, name_at if path and path[-1][1] else start
            if mark in "{[":
                if len(path) == MAX_DEPTH:
                    # No accepted text nests so deep.
                    return
                path.append((tokens, mark == "{"))
                keys.append(None if mark == "{" else 0)

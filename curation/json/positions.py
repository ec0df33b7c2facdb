"""Line and column of JSON pointers in a text, JSON or YAML."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

from msgspec.structs import replace

from curation.core.problems import SchemaProblem
from curation.json.named_text import without_comments
from curation.json.pointer import Tokens, parse_tokens
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
        tokens = parse_tokens(pointer)
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


def places_in_yaml(content: bytes) -> Callable[[str], TextPosition]:
    """Return what gives the line and column of a pointer in a YAML text.

    A member is located where its name begins, as in JSON.
    """
    import yaml  # noqa: PLC0415 - takes time

    root: Any = yaml.compose(content, Loader=yaml.CSafeLoader)

    # There may be a problem in each of thousands of members.
    @cache
    def inside(node: Any) -> dict[str, tuple[Any, Any]]:  # noqa: ANN401 - untyped library
        if isinstance(node, yaml.MappingNode):
            return {str(name.value): (name, item) for name, item in node.value}
        if isinstance(node, yaml.SequenceNode):
            return {str(at): (item, item) for at, item in enumerate(node.value)}
        return {}

    def position(pointer: str) -> TextPosition:
        name = node = root
        for token in parse_tokens(pointer):
            if token not in inside(node):
                break
            name, node = inside(node)[token]
        return TextPosition(name.start_mark.line + 1, name.start_mark.column + 1)

    return position


def placed_in_text(
    problems: Sequence[SchemaProblem], content: bytes
) -> tuple[SchemaProblem, ...]:
    """Return problems with their lines and columns, if any has a pointer."""
    if not any(problem.pointer for problem in problems):
        return tuple(problems)
    positions = TextPositions(content.decode("utf-8-sig", "replace"))
    return tuple(
        replace(problem, **positions.of(problem.pointer)._asdict())
        for problem in problems
    )

"""A JSON text as it is spelled: every value with its place, nothing decoded."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

#: Tokens of a text, without white space.
_PIECE: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_CLOSES: Final = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member of an object, or an element of an array, which has no name."""

    name: Spelled | None
    value: Spelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelled:
    """A value as a text spells it."""

    #: A scalar's own text; `{` or `[`.
    text: str
    members: tuple[Member, ...] = ()
    #: Its span: the first character, and the one after the last.
    start: int = 0
    end: int = 0

    @property
    def is_container(self) -> bool:
        """Whether it is an object or an array."""
        return self.text in _CLOSES

    @property
    def decoded(self) -> str:
        """A string's characters."""
        return str(json.loads(self.text, strict=False))

    def written(self) -> str:
        """Return it as one text, as instances are written: `, ` and `: `."""
        if not self.is_container:
            return self.text
        inner = ", ".join(
            f"{member.name.text}: {member.value.written()}"
            if member.name
            else member.value.written()
            for member in self.members
        )
        return f"{self.text}{inner}{_CLOSES[self.text]}"

    def mapped(self, change: Callable[[Spelled], Spelled]) -> Spelled:
        """Return it with every value in it changed, the innermost first."""
        members = tuple(
            replace(member, value=member.value.mapped(change))
            for member in self.members
        )
        return change(replace(self, members=members))


def read_spelled(text: str) -> Spelled:
    """Read a text that is JSON.

    Raises:
        ValueError: it is not.
        RecursionError: it is too deep for Python.
    """
    json.loads(text)
    pieces = _PIECE.finditer(text)
    return _value(next(pieces), pieces)


def _value(piece: re.Match[str], pieces: Iterator[re.Match[str]]) -> Spelled:
    mark = piece[0]
    if mark not in _CLOSES:
        return Spelled(text=mark, start=piece.start(), end=piece.end())
    members: list[Member] = []
    for inner in pieces:
        if inner[0] == _CLOSES[mark]:
            break
        if inner[0] == ",":
            continue
        value = _value(inner, pieces)
        name = None
        if mark == "{":
            name = value
            next(pieces)
            value = _value(next(pieces), pieces)
        members.append(Member(name=name, value=value))
    return Spelled(
        text=mark, members=tuple(members), start=piece.start(), end=inner.end()
    )

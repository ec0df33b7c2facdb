"""Object literals in JavaScript, TypeScript and JSON files, read without running them.

A literal is read as far as it is plain data: strings, templates without holes, numbers,
`true` or `!0`, `null`, arrays and objects of them, and sums of strings. Everything else
is `OPAQUE`, so that no value is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from curation.core.json_types import UntypedJson

#: A token, behind spaces and comments.
_TOKEN = re.compile(
    r"""(?:\s+|//[^\n]*|/\*.*?\*/)*+(?:
    (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.|\$(?!\{))*`)
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w$]))
    |(?P<name>[\w$]+)
    |(?P<other>.))""",
    re.VERBOSE | re.DOTALL,
)
_REGULAR_EXPRESSION = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
_TEMPLATE_PART = re.compile(r"\\.|`|\$\{", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL
)
_ESCAPED = dict(zip("ntrbfv0\n", "\n\t\r\b\f\v\0", strict=False)) | {"\n": ""}
_WORDS = {"true": True, "false": False, "null": None}
#: Words after which an expression begins.
_OPERATORS = frozenset(
    {"await", "case", "delete", "do", "else", "in", "instanceof", "of", "return"}
    | {"throw", "typeof", "void", "yield"}
)
_CLOSING = {"{": "}", "[": "]", "(": ")"}
_ENDS = frozenset(",;}])")


class _Opaque:
    """The type of `OPAQUE`."""


#: Replaces a value known only by running the file.
OPAQUE = _Opaque()


class _Token(NamedTuple):
    kind: str
    text: str
    offset: int

    @property
    def ends_value(self) -> bool:
        """Whether `/` after it divides, where else it begins a regular expression."""
        if self.kind == "name":
            return self.text not in _OPERATORS
        return self.kind in {"string", "number"} or self.text in {")", "]"}


def object_literals(
    text: str, members: Collection[str]
) -> Iterator[tuple[int, dict[str, UntypedJson]]]:
    """Yield line and value of each object literal that has one of some members.

    A spread, a method and a computed name are members whose value is `OPAQUE`.

    Example:
        >>> list(object_literals("f({a: {b: [1, !0]}, c: g()})", {"b"}))
        [(1, {'b': [1, True]})]
    """
    if not any(member in text for member in members):
        return
    file = _File(text)
    read: set[int] = set()
    for number, token in enumerate(file.tokens[:-1]):
        opened = file.parents[number]
        if (
            opened is not None
            and opened not in read
            and file.tokens[opened].text == "{"
            and file.tokens[number + 1].text == ":"
            and _name(token) in members
        ):
            read.add(opened)
            line = text.count("\n", 0, file.tokens[opened].offset) + 1
            yield line, file.object(opened)[0]


def is_plain(value: UntypedJson) -> bool:
    """Return whether a value has no `OPAQUE` in it."""
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    if isinstance(value, list):
        return all(map(is_plain, value))
    return value is not OPAQUE


class _File:
    """The tokens of a file, and values read from them."""

    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text, 0))
        #: The opening bracket around each token, and the closing one of each bracket.
        self.parents: list[int | None] = []
        self.closing: dict[int, int] = {}
        around: list[int] = []
        for number, token in enumerate(self.tokens):
            if token.kind == "other" and token.text in "}])" and around:
                self.closing[around.pop()] = number
            self.parents.append(around[-1] if around else None)
            if token.kind == "other" and token.text in _CLOSING:
                around.append(number)
        self.closing |= dict.fromkeys(around, len(self.tokens))

    def object(self, opened: int) -> tuple[dict[str, UntypedJson], int]:
        """Return the object that begins at a token, and the number of the next one."""
        members: dict[str, UntypedJson] = {}
        at, end = opened + 1, self.closing[opened]
        while at < end:
            token = self.tokens[at]
            if token.text == ",":
                at += 1
            elif self._text(at + 1) == ":" and (name := _name(token)) is not None:
                members[name], at = self._value(at + 2)
            else:
                members[f"{token.text} {at}"], at = OPAQUE, self._value(at)[1]
        return members, end + 1

    def _array(self, opened: int) -> tuple[list[UntypedJson], int]:
        items: list[UntypedJson] = []
        at, end = opened + 1, self.closing[opened]
        while at < end:
            if self.tokens[at].text == ",":
                at += 1
            else:
                item, at = self._value(at)
                items.append(item)
        return items, end + 1

    def _text(self, at: int) -> str:
        return self.tokens[at].text if at < len(self.tokens) else ";"

    def _value(self, at: int) -> tuple[UntypedJson, int]:
        """Return the value of an expression, and the number of the token after it."""
        value, at = self._operand(at)
        while self._text(at) not in _ENDS:
            if self._text(at) == "as" and self._text(at + 1) == "const":
                at += 2
                continue
            is_sum = self._text(at) == "+"
            right, at = self._operand(at + is_sum)
            is_text = isinstance(value, str) and isinstance(right, str)
            value = value + right if is_sum and is_text else OPAQUE
        return value, at

    def _operand(self, at: int) -> tuple[UntypedJson, int]:
        if at >= len(self.tokens):
            return OPAQUE, at
        kind, text, _ = self.tokens[at]
        if kind == "string":
            return _unescaped(text), at + 1
        if kind == "number":
            number = int(text) if text.isdecimal() else float(text)
            is_whole = isinstance(number, int) or number.is_integer()
            return int(number) if is_whole else number, at + 1
        if kind == "name":
            return _WORDS.get(text, OPAQUE), at + 1
        if text == "{":
            return self.object(at)
        if text == "[":
            return self._array(at)
        if text in "!-" and at + 1 < len(self.tokens):
            operand, after = self._operand(at + 1)
            if text == "!" and operand in (0, 1):
                return not operand, after
            is_number = text == "-" and isinstance(operand, int | float)
            return -operand if is_number else OPAQUE, after
        return OPAQUE, self.closing.get(at, at) + 1


def _tokens(text: str, at: int) -> Iterator[_Token]:
    before: _Token | None = None
    while match := _TOKEN.match(text, at):
        kind = str(match.lastgroup)
        start, at = match.span(kind)
        if match[kind] == "`":
            kind, at = "opaque", _template_end(text, at)
        elif match[kind] == "/" and not (before and before.ends_value):
            expression = _REGULAR_EXPRESSION.match(text, start)
            kind, at = "opaque", expression.end() if expression else at
        before = _Token(kind, text[start:at], start)
        yield before


def _template_end(text: str, at: int) -> int:
    """Return the end of a template whose holes may hold templates."""
    while match := _TEMPLATE_PART.search(text, at):
        at = match.end()
        if match[0] == "`":
            return at
        if match[0] == "${":
            depth = 1
            for token in _tokens(text, at):
                depth += (token.text == "{") - (token.text == "}")
                if not depth:
                    at = token.offset + 1
                    break
    return len(text)


def _name(token: _Token) -> str | None:
    if token.kind == "string":
        return _unescaped(token.text)
    return token.text if token.kind in {"name", "number"} else None


def _unescaped(literal: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        return chr(int(code, 16)) if code else _ESCAPED.get(match[4], match[4])

    text = _ESCAPE.sub(character, literal[1:-1])
    # Halves of surrogate pairs, each escaped by itself, are one character.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

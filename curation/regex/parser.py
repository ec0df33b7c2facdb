r"""ECMA-262 regular expressions in Unicode mode as trees.

Source: ECMA-262, 22.2.1 (Patterns). `parse` reads the patterns that `regress` accepts
under the flag `u`. A pattern that it accepts only without the flag is first rewritten
in the strict grammar, if possible. Patterns with modifiers such as `(?i:a)`, and those
that nest deeper than `_DEEPEST`, are not read.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

import msgspec

from curation.regex import character_sets
from curation.regex.character_sets import CharSet
from curation.validation.patterns import MAX_PATTERN_LENGTH, is_ecma, repaired

#: Lengths above this are all the same: too long.
MAX_LENGTH = 1 << 40
#: (repetitions, length): on texts of that length, all ways to divide them among so
#: many variable repetitions, none within another, are tried in milliseconds.
_SAFE = ((1, MAX_LENGTH), (2, 2_000), (3, 300), (4, 100), (8, 24))


class PatternNode(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A part of a pattern; compared by identity.

    `low` and `high` are bounds of a match's length, not always reached.
    """

    low: int = 0
    high: int | None = 0
    #: Whether a string made from it part by part matches: it has no assertions.
    plain: bool = True
    #: The nodes that it is made of.
    parts: tuple[PatternNode, ...] = ()

    @property
    def body(self) -> PatternNode:
        """The only part of a repetition, a group or a look."""
        return self.parts[0]


class Chars(PatternNode, frozen=True, kw_only=True):
    """One character of a set."""

    chars: CharSet


class Sequence(PatternNode, frozen=True):
    """Parts that match one after the other."""


class Alternatives(PatternNode, frozen=True):
    """Parts of which one matches."""


class Repeat(PatternNode, frozen=True, kw_only=True):
    """A repeated body; `maximum` is None without an upper bound."""

    minimum: int
    maximum: int | None


class Group(PatternNode, frozen=True, kw_only=True):
    """A capturing group."""

    number: int


class BackReference(PatternNode, frozen=True, kw_only=True):
    """The text of a group again; of groups with the same name, the matched one's."""

    numbers: tuple[int, ...]


class Look(PatternNode, frozen=True, kw_only=True):
    """A lookahead or a lookbehind."""

    ahead: bool
    negative: bool


class AnchorKind(StrEnum):
    """The assertion of an anchor about its position."""

    START = "^"
    END = "$"
    BOUNDARY = "b"
    """A word begins or ends here."""
    NO_BOUNDARY = "B"


#: Anchors that depend on the characters on both sides.
BORDERS = (AnchorKind.BOUNDARY, AnchorKind.NO_BOUNDARY)


class Anchor(PatternNode, frozen=True, kw_only=True):
    """An assertion about the position: the start, the end, or the border of a word."""

    kind: AnchorKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A parsed pattern."""

    root: PatternNode
    #: Bodies of the groups, by their numbers less one.
    groups: tuple[PatternNode, ...]
    #: Whether every way through it begins with `^`, or ends with `$`.
    starts: bool
    ends: bool
    #: Whether a string made from it part by part matches without a check.
    sure: bool
    #: Longest text on which a backtracking engine answers in milliseconds.
    safe: int
    #: How many parts of it repeat a variable number of times.
    repetitions: int


def sequence(parts: list[PatternNode]) -> PatternNode:
    """Return the node of parts that follow each other."""
    if len(parts) == 1:
        return parts[0]
    highs = [part.high for part in parts]
    return Sequence(
        parts=tuple(parts),
        low=min(MAX_LENGTH, sum(part.low for part in parts)),
        high=None if None in highs else min(MAX_LENGTH, sum(filter(None, highs))),
        plain=all(part.plain for part in parts),
    )


def alternatives(options: list[PatternNode]) -> PatternNode:
    """Return the node of a choice between options."""
    if len(options) == 1:
        return options[0]
    highs = [option.high for option in options]
    return Alternatives(
        parts=tuple(options),
        low=min(option.low for option in options),
        high=None if None in highs else max(filter(None, highs), default=0),
        plain=all(option.plain for option in options),
    )


def repeat(body: PatternNode, minimum: int, maximum: int | None) -> PatternNode:
    """Return the node of a repeated body."""
    high = 0 if body.high == 0 or maximum == 0 else None
    if body.high and maximum:
        high = min(MAX_LENGTH, body.high * maximum)
    return Repeat(
        parts=(body,),
        minimum=minimum,
        maximum=maximum,
        low=min(MAX_LENGTH, body.low * minimum),
        high=high,
        plain=body.plain,
    )


def anchored(node: PatternNode, kind: AnchorKind) -> bool:
    """Return whether every way through a node begins with `^`, or ends with `$`."""
    if isinstance(node, Anchor):
        return node.kind is kind
    if isinstance(node, Group):
        return anchored(node.body, kind)
    if isinstance(node, Alternatives):
        return all(anchored(option, kind) for option in node.parts)
    if isinstance(node, Sequence) and node.parts:
        return anchored(node.parts[0 if kind is AnchorKind.START else -1], kind)
    return False


def _repetitions(node: PatternNode, *, within: bool = False) -> tuple[int, bool]:
    """Return how many parts repeat a variable number of times, and if one is nested."""
    varies = isinstance(node, Repeat) and node.maximum != node.minimum
    nested = within and (varies or isinstance(node, Alternatives))
    if isinstance(node, Repeat):
        within = within or (node.maximum or 2) > 1
    total = int(varies)
    for part in node.parts:
        count, is_nested = _repetitions(part, within=within)
        total, nested = total + count, nested or is_nested
    return total, nested


#: Groups within groups.
_DEEPEST = 60
_CONTROLS = {"f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_CLASSES = {
    "d": character_sets.DIGITS,
    "D": character_sets.DIGITS.inverse(),
    "w": character_sets.WORDS,
    "W": character_sets.WORDS.inverse(),
    "s": character_sets.SPACES,
    "S": character_sets.SPACES.inverse(),
}
_QUANTIFIER = re.compile(r"(?:\{(\d+)(?:(,)(\d*))?\}|([*+?]))\??")
#: The least and the most repetitions of a quantifier of one character.
_SIGNS: dict[str | None, tuple[int, int | None]] = {
    "*": (0, None),
    "+": (1, None),
    "?": (0, 1),
}
_HIGH, _LOW = (0xD800, 0xDBFF), (0xDC00, 0xDFFF)


class _UnreadableError(Exception):
    """The text is not a pattern, or not a supported one."""


@lru_cache(maxsize=4096)
def parse(pattern: str) -> Pattern | None:
    """Return the tree of a pattern, or None if it cannot be read."""
    strict = strict_text(pattern)
    if strict is None:
        return None
    reader = _PatternReader(strict)
    try:
        root = reader.disjunction()
    except (_UnreadableError, RecursionError):
        return None
    if reader.index < len(strict):
        return None
    parts = list(root.parts) if isinstance(root, Sequence) else [root]
    if parts and isinstance(parts[0], Look):
        look = parts[0]
        if not look.ahead and not look.negative:
            # A lookbehind at the beginning is matched with the rest.
            parts[0] = look.body
            root = sequence(parts)
            parts = list(root.parts) if isinstance(root, Sequence) else [root]
    starts, ends = anchored(root, AnchorKind.START), anchored(root, AnchorKind.END)
    if starts and isinstance(parts[0], Anchor):
        del parts[0]
    if ends and parts and isinstance(parts[-1], Anchor):
        del parts[-1]
    count, nested = _repetitions(root)
    # To begin anywhere is one more choice.
    choices = math.inf if nested else count + (not starts)
    return Pattern(
        root=root,
        groups=tuple(reader.groups[number] for number in sorted(reader.groups)),
        starts=starts,
        ends=ends,
        sure=all(part.plain for part in parts),
        safe=next((length for limit, length in _SAFE if choices <= limit), 0),
        repetitions=count,
    )


def strict_text(pattern: str) -> str | None:
    """Return a pattern of the same meaning that is valid under the flag `u`."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        return None
    return pattern if is_ecma(pattern) else repaired(pattern)


@dataclass(slots=True)
class _PatternReader:
    """One pass over a text in the strict grammar."""

    text: str
    index: int = 0
    depth: int = 0
    groups: dict[int, PatternNode] = field(default_factory=dict)
    opened: int = 0
    names: dict[str, tuple[int, ...]] | None = None

    def disjunction(self) -> PatternNode:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _UnreadableError
        options = [self._alternative()]
        while self._take("|"):
            options.append(self._alternative())
        self.depth -= 1
        return alternatives(options)

    def _take(self, token: str) -> bool:
        is_next = self.text.startswith(token, self.index)
        if is_next:
            self.index += len(token)
        return is_next

    def _alternative(self) -> PatternNode:
        parts: list[PatternNode] = []
        while self.index < len(self.text) and self.text[self.index] not in "|)":
            atom = self._atom()
            quantifier = _QUANTIFIER.match(self.text, self.index)
            if quantifier:
                self.index = quantifier.end()
                lower, comma, upper, sign = quantifier.groups()
                minimum, maximum = _SIGNS.get(sign, (0, None))
                if not sign:
                    minimum = maximum = min(MAX_LENGTH, int(lower))
                if comma:
                    maximum = min(MAX_LENGTH, int(upper)) if upper else None
                atom = repeat(atom, minimum, maximum)
            parts.append(atom)
        return sequence(parts)

    def _atom(self) -> PatternNode:
        character = self.text[self.index]
        if character == "(":
            return self._group()
        self.index += 1
        if character in "^$":
            return Anchor(kind=AnchorKind(character), plain=False)
        if character == "[":
            return _chars(self._class())
        if character == ".":
            return _chars(character_sets.DOT)
        if character == "\\":
            return self._escape()
        return _chars(character_sets.single_character(ord(character)))

    def _group(self) -> PatternNode:
        for opening, ahead, negative in _LOOKS:
            if self._take(opening):
                return Look(
                    parts=(self._closed(),), ahead=ahead, negative=negative, plain=False
                )
        if self._take("(?:"):
            return self._closed()
        if self._take("(?<"):
            self.index = self.text.index(">", self.index) + 1
        elif self._take("(?"):
            raise _UnreadableError
        else:
            self.index += 1
        self.opened += 1
        number = self.opened
        body = self._closed()
        self.groups[number] = body
        return Group(
            parts=(body,),
            number=number,
            low=body.low,
            high=body.high,
            plain=body.plain,
        )

    def _closed(self) -> PatternNode:
        body = self.disjunction()
        if not self._take(")"):
            raise _UnreadableError
        return body

    def _escape(self) -> PatternNode:
        letter = self.text[self.index]
        if letter in "bB":
            self.index += 1
            return Anchor(kind=AnchorKind(letter), plain=False)
        if letter in "123456789":
            match = re.compile(r"\d+").match(self.text, self.index)
            self.index += len(match[0]) if match else 1
            return _reference((int(match[0]),) if match else ())
        if self._take("k<"):
            end = self.text.index(">", self.index)
            name = self.text[self.index : end]
            self.index = end + 1
            return _reference(self._named(name))
        return _chars(self._set())

    def _named(self, name: str) -> tuple[int, ...]:
        if self.names is None:
            self.names = {}
            bare = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]", "", self.text, flags=re.DOTALL)
            opened = re.finditer(r"\((?!\?(?!<(?![=!])))(?:\?<([^>]*)>)?", bare)
            for number, group in enumerate(opened, 1):
                if group[1]:
                    numbers = self.names.get(group[1], ())
                    self.names[group[1]] = (*numbers, number)
        return self.names.get(name, ())

    def _set(self) -> CharSet:
        letter = self.text[self.index]
        self.index += 1
        if letter in _CLASSES:
            return _CLASSES[letter]
        if letter in "pP":
            end = self.text.index("}", self.index) + 1
            escape = f"\\{letter}{self.text[self.index : end]}"
            self.index = end
            charset = character_sets.unicode_property(escape)
            if charset is None:
                raise _UnreadableError
            return charset
        return character_sets.single_character(self._code(letter))

    def _code(self, letter: str) -> int:
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter == "c":
            self.index += 1
            return ord(self.text[self.index - 1]) % 32
        if letter == "0":
            return 0
        if letter == "b":
            return 8
        if letter == "x":
            self.index += 2
            return int(self.text[self.index - 2 : self.index], 16)
        if letter == "u":
            return self._unicode()
        return ord(letter)

    def _unicode(self) -> int:
        if self._take("{"):
            end = self.text.index("}", self.index)
            code = int(self.text[self.index : end], 16)
            self.index = end + 1
            return code
        self.index += 4
        code = int(self.text[self.index - 4 : self.index], 16)
        if _HIGH[0] <= code <= _HIGH[1]:
            second = re.compile(r"\\u([0-9A-Fa-f]{4})").match(self.text, self.index)
            low = int(second[1], 16) if second else 0
            if second and _LOW[0] <= low <= _LOW[1]:
                self.index = second.end()
                return 0x10000 + ((code - _HIGH[0]) << 10) + (low - _LOW[0])
        return code

    def _class(self) -> CharSet:
        negated = self._take("^")
        ranges: list[tuple[int, int]] = []
        is_open = False
        while not self._take("]"):
            start = self._member()
            if not isinstance(start, int):
                ranges += start.ranges
                is_open |= start.open
                continue
            stop = start
            if self.text[self.index] == "-" and self.text[self.index + 1] != "]":
                self.index += 1
                member = self._member()
                if not isinstance(member, int):
                    raise _UnreadableError
                stop = member
            ranges.append((start, stop))
        charset = CharSet(character_sets.normal(ranges), open=is_open)
        return charset.inverse() if negated else charset

    def _member(self) -> int | CharSet:
        """Read one member of a class: a code point, or a set."""
        character = self.text[self.index]
        self.index += 1
        if character != "\\":
            return ord(character)
        letter = self.text[self.index]
        if letter in _CLASSES or letter in "pP":
            return self._set()
        self.index += 1
        return self._code(letter)


_LOOKS = (
    ("(?=", True, False),
    ("(?!", True, True),
    ("(?<=", False, False),
    ("(?<!", False, True),
)


def _reference(numbers: tuple[int, ...]) -> PatternNode:
    return BackReference(numbers=numbers, high=None, plain=False)


@lru_cache(maxsize=4096)
def _chars(chars: CharSet) -> PatternNode:
    return Chars(chars=chars, low=1, high=1, plain=bool(chars.ranges))

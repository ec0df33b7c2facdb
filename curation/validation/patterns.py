r"""Regular expressions: ECMA-262 with the `u` flag, repairs, catastrophic backtracking.

JSON Schema asks for ECMA-262 patterns and, since 2019-09, for Unicode ones; AJV
compiles every pattern with `u`. Much that authors write is legal only without the
flag, by the looser grammar of ECMA-262 annex B.1.2, which gives each such text
one meaning. `repaired` writes that meaning in the strict grammar:

- an escaped character that is neither a syntax character nor a letter or digit is
  that character (IdentityEscape of annex B): the backslash goes. `\-`, `\_`, `\ `;
- `{`, `}` and `]` that open or close nothing are themselves (ExtendedAtom): they
  are escaped. `{,n}` is left out: ECMA reads it as text, Python as a repetition;
- a class escape at either end of a `-` makes no range but a union with `-`
  (CharacterRangeOrUnion): the `-` is escaped;
- `[` inside a class is itself, escaped or not (ClassAtom);
- a lookahead with a quantifier (QuantifiableAssertion) is the same inside `(?:)`;
- `\0` and octal escapes that begin with 0 are that code (LegacyOctalEscapeSequence),
  `\c` with a letter that control code, `\b` in a class U+0008: written as `\x`;
- the name of a group that nothing refers to changes nothing: it goes. `(?P<` is legal
  only in Python and means the same.

What is legal in both grammars means the same in both but outside the Basic
Multilingual Plane, where the flag is required by JSON Schema. An escaped letter that
is no escape (`\A`, `\Z`, `\h`) is that letter to ECMA and something else to every
other engine: it cannot be repaired.

`is_prone` finds only the sure case of exponential time: a group repeated without bound
whose body can be one unbounded repetition and nothing else, as in `(a+)+`, `(\w*|-)*`
or `(x+y?)*`. A text of n such things divides in 2^(n-1) ways, all tried in turn.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import jsonschema_rs
import regress

from curation.validation.metaschemas import refuse

#: Distinct patterns remembered.
_REMEMBERED = 65_536
#: Longer patterns are not looked at: the longest real one has 15 kB.
MAX_PATTERN_LENGTH = 65_536
_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
_CLASS_ESCAPES = frozenset("dDwWsSpP")
_PIECE = re.compile(
    r"""
    \\u\{[0-9A-Fa-f]+\} | \\u[0-9A-Fa-f]{4} | \\x[0-9A-Fa-f]{2} | \\c[A-Za-z]
    | \\k<[^>]*> | \\[pP]\{[^}]*\} | \\0[0-7]{0,2} | \\[1-9][0-9]* | \\.
    | \(\?P<\w+> | \(\?<(?![=!])[^>]*> | \(\?[=!] | \(\?<[=!] | \(\?: | \(
    | \{[0-9]+(?:,[0-9]*)?\}\?? | [*+?]\?? | .
    """,
    re.VERBOSE | re.DOTALL,
)
_CLASS_PIECE = re.compile(
    r"""
    \\u\{[0-9A-Fa-f]+\} | \\u[0-9A-Fa-f]{4} | \\x[0-9A-Fa-f]{2} | \\c[A-Za-z]
    | \\[pP]\{[^}]*\} | \\0[0-7]{0,2} | \\. | .
    """,
    re.VERBOSE | re.DOTALL,
)
_QUANTIFIER = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}\??|[*+?]\??")
_PYTHON_REPETITION = re.compile(r"\{,[0-9]+\}")


class PatternVerdict(NamedTuple):
    """What becomes of one pattern."""

    #: The pattern to use: the same, or repaired; None without a repair.
    pattern: str | None
    #: What is wrong with it, or why it was repaired.
    note: str = ""


def pieces(pattern: str) -> Iterator[str]:
    """Yield a pattern's atoms, groups' brackets and quantifiers; a class is one."""
    index = 0
    while index < len(pattern):
        if pattern[index] == "[":
            start, index = index, index + 1
            index += pattern.startswith("^", index)
            for piece in _pieces(pattern, index):
                index += len(piece)
                if piece == "]":
                    break
            yield pattern[start:index]
            continue
        match = _PIECE.match(pattern, index)
        piece = match[0] if match else pattern[index]
        index += len(piece)
        yield piece


class _NoRepairError(Exception):
    """A piece of a pattern whose meaning is not certain."""


@lru_cache(maxsize=_REMEMBERED)
def is_ecma(pattern: str, flags: str = "u") -> bool:
    """Return whether a text is an ECMA-262 pattern under the given flags."""
    return not _complaint(pattern, flags)


def _complaint(pattern: str, flags: str) -> str:
    try:
        regress.Regex(pattern, flags)
    except regress.RegressError as error:
        return str(error) or "not a pattern"
    except UnicodeEncodeError:
        return "half of a surrogate pair"
    return ""


@lru_cache(maxsize=_REMEMBERED)
def is_readable(pattern: str) -> bool:
    """Return whether both validators' engines read a pattern.

    jsonschema uses Python's `re`, jsonschema-rs fancy-regex after a translation
    from ECMA-262.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
        jsonschema_rs.Draft7Validator({"pattern": pattern}, retriever=refuse)
    except (re.error, OverflowError, RecursionError, ValueError):
        return False
    return True


@lru_cache(maxsize=_REMEMBERED)
def pattern_verdict(pattern: str) -> PatternVerdict:
    r"""Return the pattern as it is, repaired, or the reason why it cannot be kept.

    Example:
        >>> print(pattern_verdict(r"a\_b").pattern)
        a_b
    """
    if len(pattern) > MAX_PATTERN_LENGTH:
        return PatternVerdict(
            pattern=None, note=f"longer than {MAX_PATTERN_LENGTH} characters"
        )
    strict = is_ecma(pattern)
    if strict and is_readable(pattern):
        return PatternVerdict(pattern=pattern)
    result = repaired(pattern)
    if result is not None and (not strict or is_readable(result)):
        note = "the same in the strict grammar" if not strict else "a plainer spelling"
        return PatternVerdict(pattern=result, note=note)
    if strict:
        return PatternVerdict(pattern=pattern)
    return PatternVerdict(pattern=None, note=_complaint(pattern, "u"))


def repaired(pattern: str) -> str | None:
    """Return a pattern of the same meaning in the strict grammar, or None.

    The module's docstring has the reason of each step.
    """
    plain = re.sub(r"\(\?P<(\w+)>", r"(?<\1>", pattern)
    unicode = is_ecma(plain)
    if not unicode and not is_ecma(plain, ""):
        return None
    try:
        result = _Mending(pattern, unicode=unicode).result()
    except _NoRepairError:
        return None
    return result if is_ecma(result) else None


class _Mending:
    def __init__(self, pattern: str, *, unicode: bool) -> None:
        self._pattern = pattern
        self._unicode = unicode
        self._keeps_names = r"\k<" in pattern
        self._out: list[str] = []
        #: Index in `_out` and text of every group that is open.
        self._open: list[tuple[int, str]] = []

    def result(self) -> str:
        index = 0
        for piece in pieces(self._pattern):
            index += len(piece)
            if piece[0] == "[":
                self._class(piece)
            else:
                self._outside(piece, index)
        return "".join(self._out)

    def _outside(self, piece: str, after: int) -> None:
        if piece[0] == "\\":
            self._out.append(self._escape(piece, inside=False))
        elif piece[0] == "(":
            self._open.append((len(self._out), piece))
            named = piece.startswith("(?P<") or (
                piece.startswith("(?<") and piece[3] not in "=!"
            )
            if named and piece.startswith("(?P<") and self._keeps_names:
                piece = "(?<" + piece[4:]
            self._out.append("(" if named and not self._keeps_names else piece)
        elif piece == ")":
            self._close(after)
        elif piece in "{}]":
            if _PYTHON_REPETITION.match(self._pattern, after - 1):
                raise _NoRepairError(piece)
            self._out.append("\\" + piece)
        else:
            self._out.append(piece)

    def _close(self, after: int) -> None:
        """Close a group; a repeated lookahead gets its own group."""
        if not self._open:
            raise _NoRepairError(")")
        start, piece = self._open.pop()
        repeated = _QUANTIFIER.match(self._pattern, after) is not None
        self._out.append(")")
        if repeated and piece in ("(?=", "(?!"):
            self._out[start] = "(?:" + self._out[start]
            self._out.append(")")

    def _escape(self, piece: str, *, inside: bool) -> str:
        letter = piece[1]
        if letter == "0":
            return f"\\x{int(piece[1:], 8):02x}"
        if letter == "c" and len(piece) > 2:  # noqa: PLR2004 - `\c` and a letter
            return f"\\x{ord(piece[2]) % 32:02x}"
        if letter == "b" and inside:
            return "\\x08"
        if letter in "xu" and len(piece) > 2:  # noqa: PLR2004 - with its digits
            return self._code(piece)
        if letter in "dDwWsSfnrtv" or (letter in "bB" and not inside):
            return piece
        if letter in "pP" and self._unicode:
            return piece
        if letter in "k123456789" and not inside:
            return piece
        if letter in _SYNTAX or (letter == "-" and inside):
            return piece
        if letter.isascii() and letter.isalnum():
            raise _NoRepairError(piece)
        return letter

    def _code(self, piece: str) -> str:
        if piece[2] != "{":
            return piece
        if not self._unicode:
            raise _NoRepairError(piece)
        character = chr(int(piece[3:-1], 16))
        code = ord(character)
        return f"\\u{code:04x}" if code <= 0xFFFF else character  # noqa: PLR2004 - BMP

    def _class(self, text: str) -> None:
        """Write one bracketed class."""
        negated = text.startswith("[^")
        atoms = [*_pieces(text, 1 + negated)]
        if atoms[-1:] != ["]"]:
            raise _NoRepairError("[")
        del atoms[-1]
        if not atoms:
            self._out.append("[\\s\\S]" if negated else "(?!)")
            return
        self._out.append("[^" if negated else "[")
        self._out.extend(self._ranges(atoms))
        self._out.append("]")

    def _ranges(self, atoms: list[str]) -> Iterator[str]:
        index, union = 0, False
        while index < len(atoms):
            start = atoms[index]
            # Behind a union a `-` is itself: unescaped it would make a range.
            yield "\\-" if union and start == "-" else self._atom(start)
            index += 1
            union = False
            if atoms[index : index + 1] != ["-"] or index + 1 >= len(atoms):
                continue
            stop = atoms[index + 1]
            union = _is_class_escape(start) or _is_class_escape(stop)
            yield "\\-" if union else "-"
            yield "\\-" if union and stop == "-" else self._atom(stop)
            index += 2

    def _atom(self, piece: str) -> str:
        if piece == "[":
            return "\\["
        return self._escape(piece, inside=True) if piece[0] == "\\" else piece


def _pieces(pattern: str, start: int) -> Iterator[str]:
    for match in _CLASS_PIECE.finditer(pattern, start):
        yield match[0]


def _is_class_escape(piece: str) -> bool:
    return len(piece) > 1 and piece[1] in _CLASS_ESCAPES


#: Groups nested deeper than this are not looked at.
_DEEPEST = 200


@lru_cache(maxsize=65_536)
def is_prone(pattern: str) -> bool:
    """Return whether a pattern surely has such a repetition."""
    if len(pattern) > MAX_PATTERN_LENGTH or not 0 < pattern.count("(") <= _DEEPEST:
        return False
    #: Groups that are open, each with how it begins and its alternatives. These are
    #: lists of elements: whether it needs a character, and whether it can be an
    #: unbounded repetition and nothing else.
    groups: list[tuple[str, list[list[tuple[bool, bool]]]]] = [("", [[]])]
    for piece in pieces(pattern):
        alternatives = groups[-1][1]
        elements = alternatives[-1]
        if piece[0] == "(":
            groups.append((piece, [[]]))
        elif piece == ")" and len(groups) > 1:
            opening, _ = groups.pop()
            element = _element(alternatives)
            if opening in ("(?=", "(?!", "(?<=", "(?<!"):
                element = (True, False)
            groups[-1][1][-1].append(element)
        elif piece == "|":
            alternatives.append([])
        elif not _QUANTIFIER.match(piece):
            # An anchor counts as needed: a match allowed once may not be allowed twice.
            elements.append((True, False))
        elif elements:
            needed, bare = elements.pop()
            optional = piece[0] in "*?" or piece.startswith(("{0,", "{0}"))
            unbounded = piece[0] in "*+" or piece.rstrip("?").endswith(",}")
            if unbounded and bare:
                return True
            elements.append((needed and not optional, unbounded or bare))
    return False


def _element(alternatives: list[list[tuple[bool, bool]]]) -> tuple[bool, bool]:
    """Return a group as one element."""
    needed = [[bare for needs, bare in elements if needs] for elements in alternatives]
    is_bare = any(
        flags == [True] or (not flags and any(bare for _, bare in elements))
        for flags, elements in zip(needed, alternatives, strict=True)
    )
    return all(needed), is_bare

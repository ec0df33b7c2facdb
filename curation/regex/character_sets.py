"""Sets of code points, as patterns name them, and what to draw from them."""

from __future__ import annotations

import random
import string
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import regress

#: The last code point.
LAST = 0x10FFFF
#: Halves of surrogate pairs are not characters: they cannot be written as UTF-8.
_SURROGATES = (0xD800, 0xDFFF)
#: Control characters that a range in a pattern hardly means.
_UNNATURAL = frozenset("\x7f")
_LETTERS = string.ascii_lowercase * 3 + string.ascii_uppercase + string.digits
#: Longer runs repeat their draws: a prime, so that no length divides it.
_BLOCK = 4_093
#: Characters above ASCII that a palette shows at most.
_FEW = 64

Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class CharSet:
    """A set of code points: sorted ranges that do not touch."""

    ranges: Ranges
    #: Whether it was written as a complement: `.`, `[^...]`, `\\S`.
    open: bool = False

    def __hash__(self) -> int:
        """Return the hash, which is worked out once."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.ranges, self.open))

    def __contains__(self, code: int) -> bool:
        """Return whether a code point is in the set."""
        after = bisect_right(self.ranges, (code, LAST))
        return after > 0 and code <= self.ranges[after - 1][1]

    @cached_property
    def palette(self) -> str:
        """Characters to draw from; frequent ones are in it more than once."""
        letters = "".join(letter for letter in _LETTERS if ord(letter) in self)
        if self.open and letters:
            return letters + (" " * (len(letters) // 12) if 32 in self else "")  # noqa: PLR2004 - the space
        marks = "".join(
            character
            for character in map(chr, range(32, 127))
            if not character.isalnum() and ord(character) in self
        )
        if letters:
            # Some marks, but so that letters prevail.
            return letters + marks * max(1, len(letters) // (8 * len(marks) or 1))
        return marks or self._outside()

    @cached_property
    def alphabets(self) -> tuple[bool, bool]:
        """Whether all lower-case letters are in the set, and all upper-case ones."""
        lower = all(ord(letter) in self for letter in string.ascii_lowercase)
        upper = all(ord(letter) in self for letter in string.ascii_uppercase)
        return lower, upper

    def _outside(self) -> str:
        characters: list[str] = []
        for low in (0xA1, 9, 0):
            for lowest, highest in self.ranges:
                start = max(lowest, low)
                stop = min(highest, start + _FEW)
                characters += map(chr, range(start, stop + 1))
            natural = [
                character for character in characters if character not in _UNNATURAL
            ]
            if natural:
                return "".join(natural[: 4 * _FEW])
        return "".join(characters[:_FEW])

    def draw(self, rng: random.Random, count: int) -> str:
        """Return characters of the set; it must not be empty."""
        palette = self.palette
        if count == 1:
            return palette[int(rng.random() * len(palette))]
        if count > _BLOCK:
            block = "".join(rng.choices(palette, k=_BLOCK))
            return (block * (count // _BLOCK + 1))[:count]
        return "".join(rng.choices(palette, k=count))

    def inverse(self) -> CharSet:
        """Return the characters that are not in the set."""
        return CharSet(_inverse(self.ranges), open=True)


def normal(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return ranges sorted, joined where they touch, without surrogates."""
    low, high = _SURROGATES
    cut: list[tuple[int, int]] = []
    for start, stop in ranges:
        if start < low:
            cut.append((start, min(stop, low - 1)))
        if stop > high:
            cut.append((max(start, high + 1), stop))
    cut.sort()
    joined: list[tuple[int, int]] = []
    for start, stop in cut:
        if joined and start <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return tuple(joined)


def _inverse(ranges: Ranges) -> Ranges:
    gaps: list[tuple[int, int]] = []
    start = 0
    for lowest, highest in ranges:
        if lowest > start:
            gaps.append((start, lowest - 1))
        start = highest + 1
    if start <= LAST:
        gaps.append((start, LAST))
    return normal(gaps)


def single_character(code: int) -> CharSet:
    """Return the set of one character."""
    return CharSet(normal(((code, code),)))


def minterms(sets: Sequence[CharSet]) -> list[CharSet]:
    """Return the coarsest partition of all characters that no set cuts through.

    The parts come in the order of their first characters. (L. D'Antoni and M. Veanes,
    Minimization of symbolic automata, POPL 2014, call them minterms.)
    """
    borders = {0}
    for chars in sets:
        for lowest, highest in chars.ranges:
            borders.update((lowest, highest + 1))
    groups: dict[tuple[bool, ...], list[tuple[int, int]]] = {}
    edges = [*sorted(border for border in borders if border <= LAST), LAST + 1]
    for start, stop in pairwise(edges):
        key = tuple(start in chars for chars in sets)
        groups.setdefault(key, []).append((start, stop - 1))
    parts = [
        CharSet(normal(ranges), open=not any(key)) for key, ranges in groups.items()
    ]
    return [chars for chars in parts if chars.ranges]


DIGITS = CharSet(((48, 57),))
WORDS = CharSet(((48, 57), (65, 90), (95, 95), (97, 122)))
SPACES = CharSet(
    normal(
        (
            (9, 13),
            (32, 32),
            (0xA0, 0xA0),
            (0x1680, 0x1680),
            (0x2000, 0x200A),
            (0x2028, 0x2029),
            (0x202F, 0x202F),
            (0x205F, 0x205F),
            (0x3000, 0x3000),
            (0xFEFF, 0xFEFF),
        )
    )
)
#: What `.` is: anything but the ends of lines.
DOT = CharSet(_inverse(((10, 10), (13, 13), (0x2028, 0x2029))), open=True)
ANY = CharSet(normal(((0, LAST),)), open=True)


@lru_cache(maxsize=1)
def _everything() -> tuple[str, bytes]:
    # Planes 3 to 16 are empty or private, but for a few.
    low, high = _SURROGATES
    blocks = (range(low), range(high + 1, 0x33480), range(0xE0000, 0xE01F0))
    text = "".join(chr(code) for block in blocks for code in block)
    return text, text.encode()


@lru_cache(maxsize=256)
def unicode_property(escape: str) -> CharSet | None:
    r"""Return the set of an escape such as `\p{L}`, as `regress` knows it.

    None if no such property exists. Planes 3 to 16 are left out, but for two blocks.
    """
    if escape.startswith("\\P"):
        opposite = unicode_property("\\p" + escape[2:])
        return opposite and opposite.inverse()
    try:
        expression = regress.Regex(f"{escape}+", "u")
    except regress.RegressError:
        return None
    # The engine counts in bytes of UTF-8.
    text, encoded = _everything()
    runs = [
        encoded[match.range()].decode() for match in expression.find_iter(text) or ()
    ]
    # A run may step over the surrogates, which `normal` takes out again.
    return CharSet(normal((ord(run[0]), ord(run[-1])) for run in runs))

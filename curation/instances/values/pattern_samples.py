"""Strings made from the tree of a pattern, part by part.

What is made of a `plain` tree matches by construction. Assertions, and what a
back-reference repeats, are ignored here: the caller verifies the string.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from curation.instances.values.words import WORDS
from curation.regex import parser as trees
from curation.regex.character_sets import DOT, CharSet

_BY_LENGTH: Final = {
    length: tuple(words) for length, words in groupby(sorted(WORDS, key=len), len)
}
#: Runs of letters up to this length may be words, or begin like one.
_WORDIEST: Final = 12
#: How often a run that can be a word is one.
_WORDINESS: Final = 0.75
#: Characters that a pattern without bounds gets beyond its least.
_MORE: Final = 9
#: A body is repeated at most this many times more than it must be.
_AGAIN: Final = 4
#: A body repeated more than twice as often is drawn so often, and copied.
_BLOCK: Final = 64
#: What may be shorter than this gets as many characters more.
_SHORT: Final = 3


class _StuckError(Exception):
    """Nothing can be made of a part: a set without characters."""


@dataclass(slots=True)
class _StringWriter:
    """Writes one string, part by part of the tree."""

    rng: random.Random
    #: Whether lengths are aimed at, rather than variety.
    strict: bool
    out: list[str] = field(default_factory=list)
    groups: dict[int, str] = field(default_factory=dict)

    def write(self, node: trees.PatternNode, want: int) -> None:
        """Append what matches a node, of about as many characters as wanted."""
        if isinstance(node, trees.Chars):
            # A lone dot is often meant as one.
            if node.chars is DOT and self.rng.random() < _WORDINESS:
                self.out.append(".")
            else:
                self._run(node.chars, 1)
        elif isinstance(node, trees.Sequence):
            self._sequence(node.parts, want)
        elif isinstance(node, trees.Alternatives):
            self.write(self._pick(node.parts, want), want)
        elif isinstance(node, trees.Repeat):
            self._repeat(node, want)
        elif isinstance(node, trees.Group):
            start = len(self.out)
            self.write(node.body, want)
            self.groups[node.number] = "".join(self.out[start:])
        elif isinstance(node, trees.BackReference):
            words = [
                self.groups[number] for number in node.numbers if number in self.groups
            ]
            self.out.append(words[-1] if words else "")

    def _run(self, chars: CharSet, count: int) -> None:
        if not chars.ranges:
            raise _StuckError
        if 0 < count <= _WORDIEST and self.rng.random() < _WORDINESS:
            lower, upper = chars.alphabets
            if lower or upper:
                words = _BY_LENGTH.get(count, WORDS)
                word = words[int(self.rng.random() * len(words))]
                while len(word) < count:
                    word += self.rng.choice(WORDS)
                word = word[:count]
                self.out.append(word if lower else word.upper())
                return
        if count > 0:
            self.out.append(chars.draw(self.rng, count))

    def _sequence(self, parts: tuple[trees.PatternNode, ...], want: int) -> None:
        shares = [part.low for part in parts]
        spare = want - sum(shares)
        elastic = [i for i, part in enumerate(parts) if part.high != part.low]
        if spare > 0 and elastic:
            self._share(parts, elastic, shares, spare)
        for part, share in zip(parts, shares, strict=True):
            self.write(part, share)

    def _share(
        self,
        parts: tuple[trees.PatternNode, ...],
        elastic: list[int],
        shares: list[int],
        spare: int,
    ) -> None:
        """Divide the spare length among the parts of variable length, at random."""
        self.rng.shuffle(elastic)
        for count, index in zip(range(len(elastic), 0, -1), elastic, strict=True):
            high = parts[index].high
            room = spare if high is None else min(spare, high - shares[index])
            if count > 1:
                room = int(room * self.rng.random() * 2 / count + 0.5)
            share = min(room, spare)
            shares[index] += share
            spare -= share
        for index in elastic:
            high = parts[index].high
            room = spare if high is None else min(spare, high - shares[index])
            shares[index] += room
            spare -= room

    def _pick(
        self, options: tuple[trees.PatternNode, ...], want: int
    ) -> trees.PatternNode:
        if not self.strict:
            return options[int(self.rng.random() * len(options))]

        def gap(option: trees.PatternNode) -> int:
            if want < option.low:
                return option.low - want
            return 0 if option.high is None else max(0, want - option.high)

        smallest = min(map(gap, options))
        best = [option for option in options if gap(option) == smallest]
        return best[int(self.rng.random() * len(best))]

    def _repeat(self, node: trees.Repeat, want: int) -> None:
        body = node.body
        count = _count(node, want, self.rng)
        if isinstance(body, trees.Chars):
            self._run(body.chars, count)
            return
        spare = max(0, want - count * body.low)
        if count <= 2 * _BLOCK:
            self._repeated(body, count, spare)
            return
        # What is long repeats itself.
        times, remaining = divmod(count, _BLOCK)
        start = len(self.out)
        self._repeated(body, _BLOCK, spare // times)
        block = "".join(self.out[start:])
        self.out.append(block * (times - 1))
        self._repeated(body, remaining, 0)

    def _repeated(self, body: trees.PatternNode, count: int, spare: int) -> None:
        for remaining in range(count, 0, -1):
            share = spare
            if remaining > 1:
                chance = self.rng.random()
                share = spare // remaining if self.strict else int(chance * (spare + 1))
            if body.high is not None:
                share = min(share, body.high - body.low)
            self.write(body, body.low + share)
            spare -= share


def _count(node: trees.Repeat, want: int, rng: random.Random) -> int:
    """Return how often to repeat a body for about as many characters as wanted."""
    low, high = node.body.low, node.body.high
    if high == 0:
        return min(node.minimum, 1)
    # Bodies that may be empty are left out where they would be.
    minimum = node.minimum if low > 0 else min(node.minimum, max(1, want))
    if high == 1:
        count = want
    else:
        fewest = minimum if high is None else -(-want // high)
        count = max(fewest, minimum)
        maximum = want // low if low else count + 2
        if maximum > count:
            count += int(rng.random() * (min(maximum - count, _AGAIN) + 1))
    if node.maximum is not None:
        count = min(count, node.maximum)
    return max(count, minimum)


def draw_text(
    pattern: trees.Pattern, rng: random.Random, want: int | None = None
) -> str | None:
    """Return a string made from the tree of a pattern.

    Args:
        pattern: What it is made from.
        rng: Random source.
        want: About how many characters it should have; None for any length.

    Returns:
        The string, or None if a part of the pattern matches nothing at all.
    """
    strict = want is not None
    low, high = pattern.root.low, pattern.root.high
    if want is None:
        want = low + int(rng.random() * _MORE) + (_SHORT if low < _SHORT else 0)
    if high is not None:
        want = min(want, high)
    writer = _StringWriter(rng, strict)
    try:
        writer.write(pattern.root, max(want, low))
    except (_StuckError, RecursionError):
        return None
    return "".join(writer.out)

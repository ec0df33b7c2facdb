r"""Patterns on which a backtracking engine may take exponential time.

The sure case only: a group repeated without bound whose body can be one thing
repeated without bound and nothing else, as in `(a+)+`, `(\w*|-)*` or `(x+y?)*`.
Then a text of n such things can be divided in 2^(n-1) ways, and an engine that
backtracks tries them all before it gives up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from curation.validation.regex_repair import LONGEST, pieces

#: Groups nested deeper than this are not looked at.
_DEEPEST = 200


@dataclass(slots=True)
class _Sequence:
    """One alternative while it is read."""

    #: Elements that need a character, and those among all that repeat unbounded.
    needed: int = 0
    needed_repeats: int = 0
    optional_repeats: int = 0

    @property
    def is_one_repeat(self) -> bool:
        """Whether it can be an unbounded repetition and nothing else."""
        if self.needed == 0:
            return self.optional_repeats > 0
        return self.needed == 1 and self.needed_repeats == 1


@dataclass(slots=True)
class _Group:
    """One group while it is read."""

    asserts: bool = False
    done: list[_Sequence] = field(default_factory=list)
    current: _Sequence = field(default_factory=_Sequence)

    def alternatives(self) -> list[_Sequence]:
        """Return what was read so far."""
        return [*self.done, self.current]


@lru_cache(maxsize=65_536)
def is_prone(pattern: str) -> bool:
    """Return whether a pattern surely has such a repetition."""
    if len(pattern) > LONGEST or pattern.count("(") > _DEEPEST:
        return False
    if "(" not in pattern:
        return False
    return _Reading().prone(pattern)


class _Reading:
    """One pass over a pattern."""

    def __init__(self) -> None:
        self._stack = [_Group()]
        #: The element just read: (needs a character, can be one bare repetition).
        self._last: tuple[bool, bool] | None = None

    def prone(self, pattern: str) -> bool:
        return any(self._read(piece) for piece in pieces(pattern))

    def _read(self, piece: str) -> bool:
        """Take in one piece; return whether it makes the pattern prone."""
        if piece[0] == "(":
            self._finish_element()
            asserts = piece[:3] in ("(?=", "(?!") or piece[:4] in ("(?<=", "(?<!")
            self._stack.append(_Group(asserts=asserts))
        elif piece == ")":
            self._finish_element()
            if len(self._stack) > 1:
                self._last = _element(self._stack.pop())
        elif piece == "|":
            self._finish_element()
            group = self._stack[-1]
            group.done.append(group.current)
            group.current = _Sequence()
        elif _is_quantifier(piece):
            return self._repeat(piece)
        else:
            self._finish_element()
            # An anchor counts as needed: what it allows once, it may not allow twice.
            self._last = (True, False)
        return False

    def _finish_element(self) -> None:
        """Add the element just read to its alternative."""
        if self._last is not None:
            sequence = self._stack[-1].current
            needed, repeats = self._last
            sequence.needed += needed
            sequence.needed_repeats += needed and repeats
            sequence.optional_repeats += repeats and not needed
            self._last = None

    def _repeat(self, quantifier: str) -> bool:
        if self._last is None:
            return False
        needed, bare = self._last
        optional = quantifier[0] in "*?" or quantifier.startswith(("{0,", "{0}"))
        unbounded = quantifier[0] in "*+" or quantifier.rstrip("?").endswith(",}")
        self._last = (needed and not optional, unbounded or bare)
        return unbounded and bare


def _element(group: _Group) -> tuple[bool, bool]:
    if group.asserts:
        return True, False
    alternatives = group.alternatives()
    needed = all(sequence.needed for sequence in alternatives)
    return needed, any(sequence.is_one_repeat for sequence in alternatives)


def _is_quantifier(piece: str) -> bool:
    return piece[0] in "*+?" or (piece[0] == "{" and len(piece) > 1)

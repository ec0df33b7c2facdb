"""Syntax trees of patterns, with bounds of the lengths that their parts match."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from curation.instances.regex.character_sets import CharSet

#: Lengths above this are all the same: too long.
MOST: Final = 1 << 40
#: (repetitions, length): on texts of that length, all ways to divide them among so
#: many variable repetitions, none within another, are tried in milliseconds.
_SAFE: Final = ((1, MOST), (2, 2_000), (3, 300), (4, 100), (8, 24))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PatternNode:
    """A part of a pattern; compared by identity.

    `low` and `high` are bounds of the length of what it matches, not always reached.
    """

    low: int = 0
    high: int | None = 0
    #: Whether a string made from it part by part matches: it has no assertions.
    plain: bool = True


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Chars(PatternNode):
    """One character of a set."""

    chars: CharSet


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sequence(PatternNode):
    """Parts that match one after the other."""

    parts: tuple[PatternNode, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Alternatives(PatternNode):
    """Options of which one matches."""

    options: tuple[PatternNode, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Repeat(PatternNode):
    """A body that is repeated; `most` is None without an upper bound."""

    body: PatternNode
    least: int
    most: int | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Group(PatternNode):
    """A capturing group."""

    body: PatternNode
    number: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BackReference(PatternNode):
    """The text of a group again; where groups share a name, of the one that matched."""

    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Look(PatternNode):
    """A look-ahead or a look-behind."""

    body: PatternNode
    ahead: bool
    negative: bool


class AnchorKind(StrEnum):
    """What an anchor asserts of where it stands."""

    START = "^"
    END = "$"
    BOUNDARY = "b"
    """A word begins or ends here."""
    NO_BOUNDARY = "B"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Anchor(PatternNode):
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


EMPTY: Final = Sequence(parts=())


def sequence(parts: list[PatternNode]) -> PatternNode:
    """Return the node of parts that follow each other."""
    if len(parts) == 1:
        return parts[0]
    return Sequence(
        parts=tuple(parts),
        low=min(MOST, sum(part.low for part in parts)),
        high=_sum([part.high for part in parts]),
        plain=all(part.plain for part in parts),
    )


def alternatives(options: list[PatternNode]) -> PatternNode:
    """Return the node of a choice between options."""
    if len(options) == 1:
        return options[0]
    highs = [option.high for option in options]
    return Alternatives(
        options=tuple(options),
        low=min(option.low for option in options),
        high=None if None in highs else max(high or 0 for high in highs),
        plain=all(option.plain for option in options),
    )


def repeat(body: PatternNode, least: int, most: int | None) -> PatternNode:
    """Return the node of a repeated body."""
    high = 0 if body.high == 0 or most == 0 else None
    if body.high and most:
        high = min(MOST, body.high * most)
    return Repeat(
        body=body,
        least=least,
        most=most,
        low=min(MOST, body.low * least),
        high=high,
        plain=body.plain,
    )


def _sum(highs: list[int | None]) -> int | None:
    return None if None in highs else min(MOST, sum(high or 0 for high in highs))


def is_sure(root: PatternNode) -> bool:
    """Return whether a string made from a tree part by part matches without a check."""
    if not isinstance(root, Sequence) or not root.parts:
        return root.plain
    parts = list(root.parts)
    if anchored(parts[0], AnchorKind.START) and isinstance(parts[0], Anchor):
        del parts[0]
    if parts and anchored(parts[-1], AnchorKind.END) and isinstance(parts[-1], Anchor):
        del parts[-1]
    return all(part.plain for part in parts)


def anchored(node: PatternNode, kind: AnchorKind) -> bool:
    """Return whether every way through a node begins with `^`, or ends with `$`."""
    if isinstance(node, Anchor):
        return node.kind is kind
    if isinstance(node, Group):
        return anchored(node.body, kind)
    if isinstance(node, Alternatives):
        return all(anchored(option, kind) for option in node.options)
    if isinstance(node, Sequence) and node.parts:
        return anchored(node.parts[0 if kind is AnchorKind.START else -1], kind)
    return False


def safe_length(root: PatternNode, *, starts: bool) -> int:
    """Return the longest text on which backtracking ends in milliseconds."""
    repeated = _repetitions(root, within=False)
    if repeated is None:
        return 0
    # To begin anywhere is one more choice.
    repeated += not starts
    return next((length for count, length in _SAFE if repeated <= count), 0)


def _repetitions(node: PatternNode, *, within: bool) -> int | None:
    """Return how many parts repeat variably; None if one stands in another."""
    varies = isinstance(node, Repeat) and node.most != node.least
    if within and (varies or isinstance(node, Alternatives)):
        return None
    if isinstance(node, Repeat):
        within = within or (node.most or 2) > 1
    total = int(varies)
    for part in parts_of(node):
        inner = _repetitions(part, within=within)
        if inner is None:
            return None
        total += inner
    return total


def parts_of(node: PatternNode) -> tuple[PatternNode, ...]:
    """Return the nodes that a node is made of."""
    if isinstance(node, Sequence):
        return node.parts
    if isinstance(node, Alternatives):
        return node.options
    return (node.body,) if isinstance(node, Repeat | Group | Look) else ()


def repetitions(node: PatternNode) -> int:
    """Return how many parts repeat a variable number of times."""
    count, pending = 0, [node]
    while pending:
        part = pending.pop()
        count += isinstance(part, Repeat) and part.most != part.least
        pending += parts_of(part)
    return count

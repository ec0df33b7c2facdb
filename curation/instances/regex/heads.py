"""What the rest of a pattern asks of the next character: formulas over it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from curation.instances.regex import character_sets

if TYPE_CHECKING:
    from curation.instances.regex.character_sets import CharSet
    from curation.instances.regex.syntax_tree import PatternNode


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Cell:
    """A node to match, and the cell that follows it: a pattern as a linked list."""

    node: PatternNode | None
    rest: Cell | None
    number: int
    low: int


class HeadKind(StrEnum):
    """What a formula over the next character is."""

    TRUE = "true"
    FALSE = "false"
    END = "end"
    """There is no next character."""
    WORD = "word"
    """The next character is one of `\\w`."""
    MOVE = "move"
    """The next character is of a set, and a cell matches what follows it."""
    AND = "and"
    OR = "or"
    NOT = "not"


class Head(NamedTuple):
    """What a cell asks of the next character, and of what follows it."""

    kind: HeadKind
    #: The set of a `move`, and the cell behind it; None of all others.
    chars: CharSet | None = None
    rest: Cell | None = None
    parts: tuple[Head, ...] = ()


#: The heads without parts; each is one object.
TRUE: Final = Head(HeadKind.TRUE)
FALSE: Final = Head(HeadKind.FALSE)
END: Final = Head(HeadKind.END)
WORD: Final = Head(HeadKind.WORD)


def holds(head: Head, code: int | None) -> bool:
    """Return whether a head without parts holds for a character, or for the end."""
    if head is END:
        return code is None
    if head is WORD:
        return code is not None and code in character_sets.WORDS
    return head is TRUE


def both(heads: list[Head]) -> Head:
    """Return the conjunction of heads."""
    if FALSE in heads:
        return FALSE
    kept = tuple(head for head in heads if head is not TRUE)
    if len(kept) == 1:
        return kept[0]
    return Head(HeadKind.AND, parts=kept) if kept else TRUE


def either(heads: list[Head]) -> Head:
    """Return the disjunction of heads, without those that say the same."""
    if TRUE in heads:
        return TRUE
    parts: dict[Head, None] = {}
    for head in heads:
        inner = head.parts if head.kind is HeadKind.OR else (head,)
        parts.update(dict.fromkeys(inner))
    parts.pop(FALSE, None)
    kept = tuple(parts)
    if len(kept) == 1:
        return kept[0]
    return Head(HeadKind.OR, parts=kept) if kept else FALSE


def negated(head: Head) -> Head:
    """Return the opposite of a head."""
    if head is TRUE:
        return FALSE
    return TRUE if head is FALSE else Head(HeadKind.NOT, parts=(head,))


def collect_sets(head: Head, found: dict[CharSet, None]) -> None:
    """Add the sets that a head asks about, in order."""
    if head is WORD:
        found[character_sets.WORDS] = None
    elif head.chars is not None:
        found[head.chars] = None
    for part in head.parts:
        collect_sets(part, found)

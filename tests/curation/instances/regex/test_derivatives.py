"""Formulas over the next character: simplified, and never taken for each other."""

from __future__ import annotations

from curation.instances.regex import character_sets
from curation.instances.regex.derivatives import (
    END,
    FALSE,
    TRUE,
    WORD,
    Cell,
    FormulaKind,
    Head,
    both,
    collect_sets,
    either,
    holds,
    negated,
)

_REST = Cell(node=None, tail=None, number=0, low=0)
_DIGIT = Head(FormulaKind.MOVE, character_sets.DIGITS, _REST)


def test_what_always_or_never_holds_decides() -> None:
    """True is left out of a conjunction and decides a disjunction; false likewise."""
    assert both([TRUE, _DIGIT]) is _DIGIT
    assert both([FALSE, _DIGIT]) is FALSE
    assert either([FALSE, _DIGIT]) == _DIGIT
    assert either([TRUE, _DIGIT]) is TRUE
    assert both([]) is TRUE
    assert either([]) is FALSE
    assert negated(TRUE) is FALSE


def test_a_disjunction_is_flat_and_says_nothing_twice() -> None:
    """What stands in it more than once is asked once."""
    inner = either([_DIGIT, END])
    assert either([inner, WORD, _DIGIT]).parts == (_DIGIT, END, WORD)


def test_equal_parts_do_not_make_equal_heads() -> None:
    """A conjunction and a disjunction of the same heads are two things."""
    parts = [_DIGIT, WORD]
    assert both(parts) != either(parts)


def test_a_head_without_parts_is_decided_by_the_character() -> None:
    """`None` stands for the end of the text."""
    assert holds(END, None)
    assert not holds(END, ord("a"))
    assert holds(WORD, ord("a"))
    assert not holds(WORD, None)


def test_the_sets_of_a_head_come_in_order() -> None:
    """They are those that divide what may come next."""
    found: dict[character_sets.CharSet, None] = {}
    collect_sets(both([WORD, negated(_DIGIT)]), found)
    assert list(found) == [character_sets.WORDS, character_sets.DIGITS]

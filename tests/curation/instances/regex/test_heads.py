"""Formulas over the next character: simplified, and never taken for each other."""

from __future__ import annotations

from curation.instances.regex import character_sets, heads
from curation.instances.regex.heads import Cell, Head, HeadKind

_REST = Cell(node=None, rest=None, number=0, low=0)
_DIGIT = Head(HeadKind.MOVE, character_sets.DIGITS, _REST)


def test_what_always_or_never_holds_decides() -> None:
    """True is left out of a conjunction and decides a disjunction; false likewise."""
    assert heads.both([heads.TRUE, _DIGIT]) is _DIGIT
    assert heads.both([heads.FALSE, _DIGIT]) is heads.FALSE
    assert heads.either([heads.FALSE, _DIGIT]) == _DIGIT
    assert heads.either([heads.TRUE, _DIGIT]) is heads.TRUE
    assert heads.both([]) is heads.TRUE
    assert heads.either([]) is heads.FALSE
    assert heads.negated(heads.TRUE) is heads.FALSE


def test_a_disjunction_is_flat_and_says_nothing_twice() -> None:
    """What stands in it more than once is asked once."""
    inner = heads.either([_DIGIT, heads.END])
    assert heads.either([inner, heads.WORD, _DIGIT]).parts == (
        _DIGIT,
        heads.END,
        heads.WORD,
    )


def test_equal_parts_do_not_make_equal_heads() -> None:
    """A conjunction and a disjunction of the same heads are two things."""
    parts = [_DIGIT, heads.WORD]
    assert heads.both(parts) != heads.either(parts)


def test_a_head_without_parts_is_decided_by_the_character() -> None:
    """`None` stands for the end of the text."""
    assert heads.holds(heads.END, None)
    assert not heads.holds(heads.END, ord("a"))
    assert heads.holds(heads.WORD, ord("a"))
    assert not heads.holds(heads.WORD, None)


def test_the_sets_of_a_head_come_in_order() -> None:
    """They are those that divide what may come next."""
    found: dict[character_sets.CharSet, None] = {}
    heads.collect_sets(heads.both([heads.WORD, heads.negated(_DIGIT)]), found)
    assert list(found) == [character_sets.WORDS, character_sets.DIGITS]

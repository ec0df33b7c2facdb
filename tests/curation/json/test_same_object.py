"""Answers that are remembered belong to the very object that was asked about."""

from __future__ import annotations

from curation.json.same_object import SameObject, remembered


def test_the_same_object_is_asked_about_once() -> None:
    """The work is done once for one object, and its answer handed out again."""
    calls: list[int] = []

    @remembered
    def total(numbers: list[int], more: int) -> list[int]:
        calls.append(more)
        return [sum(numbers) + more]

    numbers = [1, 2]
    assert total(numbers, 3) == [6]
    assert total(numbers, 3) is total(numbers, 3)
    assert calls == [3]


def test_an_equal_object_is_another_one() -> None:
    """`1` and `1.0` are equal in Python and are not in a schema's text."""
    one: list[float] = [1]
    other: list[float] = [1.0]
    shown = remembered(lambda value, mark: repr(value) + str(mark))
    assert (shown(one, "!"), shown(other, "!")) == ("[1]!", "[1.0]!")
    assert SameObject(one) != SameObject(other)


def test_what_is_long_ago_is_forgotten_and_found_anew() -> None:
    """A new object never gets the answer of one that stood at its address."""

    @remembered
    def size(value: list[int], more: int) -> int:
        return len(value) + more

    assert all(size([0] * length, 1) == length + 1 for length in range(200))

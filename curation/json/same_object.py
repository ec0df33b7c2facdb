"""Answers about an object, remembered by which object it is and not by its value.

Rules ask the same of one document after another, a dozen times each. To compare two
documents member by member would cost more than it saves.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Kept = TypeVar("Kept")
First = TypeVar("First")
Second = TypeVar("Second")
Result = TypeVar("Result")
#: Answers remembered of one function; more would keep documents that are done.
_REMEMBERED = 8


class SameObject(Generic[Kept]):
    """An object as a key: equal to itself alone. No one mutates one."""

    __slots__ = ("value",)

    def __init__(self, value: Kept) -> None:
        """Take an object, which lives as long as its key."""
        self.value = value

    def __hash__(self) -> int:
        """Return what tells it from every other object that lives."""
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        """Return whether the other is a key of the very same object."""
        return isinstance(other, SameObject) and other.value is self.value


def remembered(
    work: Callable[[First, Second], Result],
) -> Callable[[First, Second], Result]:
    """Return the function with its last answers remembered, by both its arguments.

    Args:
        work: Computes an answer that follows from its two arguments, which no one
            changes afterwards. Its answers are shared: no one may change them either.

    Example:
        >>> size = remembered(lambda value, more: len(value) + more)
        >>> size([1, 2], 1)
        3
    """
    # The arguments stand beside their answer: while they live, no other has their ids.
    kept: dict[tuple[int, int], tuple[First, Second, Result]] = {}
    changing = Lock()

    def ask(first: First, second: Second) -> Result:
        key = id(first), id(second)
        found = kept.get(key)
        if found is None:
            found = first, second, work(first, second)
            with changing:
                if len(kept) >= _REMEMBERED:
                    del kept[next(iter(kept))]
                kept[key] = found
        return found[2]

    return ask

"""Words one slip away from a word: how keywords and types are misspelt."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def slips(word: str) -> Iterator[str]:
    """Yield every word that is one slip away, some more than once.

    A slip is a letter too many, too few, wrong or in the wrong order, or all letters
    in lower case.

    Example:
        >>> {"ojbect", "objct", "objecct", "objecy"} <= set(slips("object"))
        True
    """
    yield word.lower()
    for index in range(len(word) + 1):
        head, tail = word[:index], word[index:]
        yield head + tail[1:]
        yield head + tail[1:2] + tail[:1] + tail[2:]
        for letter in _LETTERS:
            yield head + letter + tail[1:]
            yield head + letter + tail

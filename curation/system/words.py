"""Numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which is given as of one.

    Example:
        >>> counted(1, "schema"), counted(2_000, "address with a password")
        ('1 schema', '2,000 addresses with a password')
    """
    head, space, rest = noun.partition(" with ")
    ending = "" if number == 1 else "es" if head.endswith(("s", "x", "ch")) else "s"
    return f"{number:,} {head}{ending}{space}{rest}"

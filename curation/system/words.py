"""Words of messages: numbers with their nouns, commands to paste."""

from __future__ import annotations

import shlex


def command(*words: object) -> str:
    """Return a command that a shell reads as it is meant, whatever a folder's name.

    Example:
        >>> command("verify", "my build")
        "csbdata verify 'my build'"
    """
    return shlex.join(["csbdata", *map(str, words)])


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which is given as of one.

    Example:
        >>> counted(1, "schema"), counted(2_000, "address with a password")
        ('1 schema', '2,000 addresses with a password')
    """
    head, space, rest = noun.partition(" with ")
    ending = "" if number == 1 else "es" if head.endswith(("s", "x", "ch")) else "s"
    return f"{number:,} {head}{ending}{space}{rest}"

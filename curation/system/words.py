"""Words of messages: numbers with their nouns, commands to paste."""

from __future__ import annotations

import re
import shlex
from hashlib import sha256
from typing import Final

_SLUG: Final = re.compile(r"[^A-Za-z0-9$@._-]+")
_LONGEST_SLUG: Final = 60


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


def slug(name: str) -> str:
    """Return a name as part of an address and of a file's name, unique for the name."""
    plain = _SLUG.sub("-", name)
    # A hyphen stands for a blank: a name that has its own is told apart by its digest.
    is_alike = "-" not in name and plain == name.replace(" ", "-")
    if is_alike and len(plain) <= _LONGEST_SLUG:
        return plain
    return f"{plain[:_LONGEST_SLUG]}-{sha256(name.encode()).hexdigest()[:8]}"

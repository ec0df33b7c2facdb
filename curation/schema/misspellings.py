"""Misspelt keywords and type names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

from curation.schema.roots import TYPES

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


#: Stands for every type: the keyword asks nothing then.
ANY_TYPE = "any"
#: Names of types in programming languages, databases and format registries, in lower
#: case, to the type of the JSON values that those are written as.
_OTHER_NAMES = {
    "boolean": ("bool",),
    "integer": ("int", "int32", "int64", "long", "bigint"),
    "number": ("double", "float", "decimal", "real", "numeric"),
    "string": (
        *("char", "str", "text", "varchar"),
        *("date", "date-time", "datetime", "time"),
        *("email", "uri", "url", "uuid"),
    ),
    "array": ("list", "tuple"),
    "object": ("dict", "dictionary", "map"),
    "null": ("nil", "none"),
    ANY_TYPE: ("any", "mixed", "json"),
}


@cache
def _meanings() -> Mapping[str, str]:
    near = {name: set(slips(name)) for name in sorted(TYPES)}
    times = Counter(slip for near_slips in near.values() for slip in near_slips)
    meanings = {
        slip: name
        for name, near_slips in near.items()
        for slip in near_slips
        if times[slip] == 1
    }
    aliases = {alias: name for name, names in _OTHER_NAMES.items() for alias in names}
    return meanings | aliases


def type_meant(name: str) -> str | None:
    """Return the type that a name means, `any` for every type, or None.

    Example:
        >>> type_meant("booelan"), type_meant("Dict"), type_meant("mixed")
        ('boolean', 'object', 'any')
    """
    if name in TYPES:
        return name
    lower = name.strip().lower()
    return lower if lower in TYPES else _meanings().get(name) or _meanings().get(lower)

"""What authors write for the names of types, and which type they mean."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from curation.schema.roots import TYPES
from curation.schema.slips import slips

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Stands for every type: the keyword asks nothing then.
ANY_TYPE = "any"
#: Names of types in programming languages, databases and format registries, in lower
#: case, to the type of the JSON values that those are written as.
_OTHER_NAMES = {
    "boolean": ("bool",),
    "integer": ("int", "int32", "int64", "long", "short", "bigint"),
    "number": ("double", "float", "decimal", "real", "numeric"),
    "string": (
        *("char", "str", "text", "varchar"),
        *("date", "date-time", "datetime", "time"),
        *("email", "uri", "url", "uuid"),
    ),
    "array": ("list", "tuple"),
    "object": ("dict", "dictionary", "hash", "map", "obj", "struct"),
    "null": ("nil", "none"),
    ANY_TYPE: ("any", "mixed", "json"),
}


@cache
def _known() -> Mapping[str, str]:
    """Return what each other name means, slips of the seven names included."""
    near = {name: set(slips(name)) for name in sorted(TYPES)}
    times = Counter(slip for found in near.values() for slip in found)
    known = {
        slip: name for name, found in near.items() for slip in found if times[slip] == 1
    }
    others = {other: name for name, names in _OTHER_NAMES.items() for other in names}
    return known | others


def type_meant(name: str) -> str | None:
    """Return the type that a name means, `any` for every type, or None.

    Example:
        >>> type_meant("booelan"), type_meant("Dict"), type_meant("mixed")
        ('boolean', 'object', 'any')
    """
    if name in TYPES:
        return name
    lower = name.strip().lower()
    return lower if lower in TYPES else _known().get(name) or _known().get(lower)

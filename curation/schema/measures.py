"""The four measures of the paper's Table 8, and nothing else.

They are functions of a JSON value, whether a schema or not. The
definitions are those that reproduce the published figures.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import NamedTuple

from curation.core.json_types import Json
from curation.json.values import remembered, write_document

#: Characters that `\uXXXX` has more than its character.
_ESCAPE = 5
#: The one ASCII character beyond the control codes that Python escapes.
_DELETE = "\x7f"
#: The types of values that hold others.
_HOLDERS = (dict, list)
_NOT_ASCII = re.compile(r"[^\x00-\x7e]+")


class Nesting(NamedTuple):
    """What one walk over the objects of a value counts, arrays never entered."""

    #: Keys of all objects.
    field_count: int
    #: Levels of objects.
    depth: int
    #: Most keys of one object. The paper's Table 8 prints this: on its raw
    #: files it gives every figure of that column, `max_fan_out` larger ones for three
    #: GitHub subsets.
    fan_out: int


def nesting(value: Json) -> Nesting:
    """Return the three figures of a value's nested objects; all 0 for a scalar."""
    level = [value] if isinstance(value, dict) else []
    field_count = depth = fan_out = 0
    while level:
        depth += 1
        field_count += sum(map(len, level))
        fan_out = max(fan_out, *map(len, level))
        inner = chain.from_iterable(map(dict.values, level))
        level = [member for member in inner if isinstance(member, dict)]
    return Nesting(field_count, depth, fan_out)


#: The same of a document's schema; the last are cached.
nesting_of_document = remembered(nesting)


def field_count(value: Json) -> int:
    """Return the number of keys of all nested objects, arrays never entered."""
    return nesting(value).field_count


def max_fan_out(value: Json) -> int:
    """Return the most keys of one object, objects inside arrays included."""
    largest, stack = 0, [value] if isinstance(value, _HOLDERS) else []
    while stack:
        nested = stack.pop()
        if isinstance(nested, dict):
            largest = max(largest, len(nested))
        members = nested.values() if isinstance(nested, dict) else nested
        stack += [member for member in members if isinstance(member, _HOLDERS)]
    return largest


def size_bytes(schema: Json) -> int:
    """Return the bytes of a document's JSON text with Python's defaults."""
    return text_size(write_document(schema))


def text_size(text: str) -> int:
    r"""Return the bytes of a JSON text of `curation.json.text.write`, all ASCII.

    Other characters count as `\uXXXX`, Python's default: only so does Table 8's median
    for Github_ultra come out.
    """
    if text.isascii():
        return len(text) + _ESCAPE * text.count(_DELETE)
    beyond = _NOT_ASCII.findall(text)
    units = sum(len(run.encode("utf-16-le")) // 2 for run in beyond)
    return len(text) + (_ESCAPE + 1) * units - sum(map(len, beyond))

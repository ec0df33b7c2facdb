"""Families of schemas of growing size, one for each thing that grows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from curation.core.json_types import Json

#: What a text repeats at most: masks are to be compared, not lengths of texts.
_MOST: Final = 32
#: The largest size for which a text is written that is longer than its bound.
_BROKEN_TO: Final = 256


@dataclass(frozen=True, slots=True)
class SizedSchema:
    """One schema of a family, as texts."""

    schema: str
    valid: str
    #: Breaks what grows; None where it would be very long.
    invalid: str | None


@dataclass(frozen=True, slots=True)
class Family:
    """One respect in which schemas grow."""

    #: What `--set families=[...]` calls it.
    name: str
    #: What n counts.
    counts: str
    #: The keyword that the broken text violates.
    keyword: str
    sizes: tuple[int, ...]
    sized_schema: Callable[[int], SizedSchema]


def families() -> Mapping[str, Family]:
    """Return all families by name."""
    twos = tuple(2**power for power in range(11))
    fours = tuple(4**power for power in range(9))
    # Twice as many levels of JSON: what readers of JSON take is not the point.
    levels = tuple(2**power for power in range(9))
    entries = (
        Family("depth", "levels of objects", "type", levels, _depth),
        Family("enum", "values of an enum", "enum", fours[:8], _enum),
        Family("maxItems", "items that are allowed", "maxItems", fours, _max_items),
        Family(
            "maxLength", "characters that are allowed", "maxLength", fours, _max_length
        ),
        Family(
            "optional", "optional properties", "additionalProperties", twos, _optional
        ),
        Family("anyOf", "branches", "anyOf", twos, _any_of),
    )
    return {family.name: family for family in entries}


def _sized(schema: Json, valid: Json, invalid: Json | None) -> SizedSchema:
    return SizedSchema(
        schema=json.dumps(schema),
        valid=json.dumps(valid),
        invalid=None if invalid is None else json.dumps(invalid),
    )


def _depth(size: int) -> SizedSchema:
    """Nest objects; written as text, since a value so deep is none for Python."""
    start = '{"type": "object", "properties": {"a": '
    end = '}, "required": ["a"], "additionalProperties": false}'
    deep = '{"a": ' * size
    return SizedSchema(
        schema=start * size + '{"type": "integer"}' + end * size,
        valid=deep + "1" + "}" * size,
        invalid=deep + "true" + "}" * size,
    )


def _enum(size: int) -> SizedSchema:
    values: list[Json] = [_word(number) for number in range(size)]
    # Each value is a digest, so that none begins like the others.
    return _sized({"enum": values}, values[size // 2], _word(size))


def _max_items(size: int) -> SizedSchema:
    schema: Json = {"type": "array", "items": {"type": "integer"}, "maxItems": size}
    broken: Json = [7] * (size + 1) if size <= _BROKEN_TO else None
    return _sized(schema, [7] * min(size, _MOST), broken)


def _max_length(size: int) -> SizedSchema:
    schema: Json = {"type": "string", "maxLength": size}
    broken = _letters(size + 1) if size <= _BROKEN_TO else None
    return _sized(schema, _letters(min(size, _MOST)), broken)


def _optional(size: int) -> SizedSchema:
    names = [f"p{number}" for number in range(size)]
    schema: Json = {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in names},
        "additionalProperties": False,
    }
    step = max(1, size // _MOST)
    return _sized(schema, dict.fromkeys(names[::step], 1), {"q": 1})


def _any_of(size: int) -> SizedSchema:
    branches: list[Json] = [
        {
            "type": "object",
            "properties": {
                "kind": {"const": _word(number)},
                "value": {"type": "integer" if number % 2 else "string"},
            },
            "required": ["kind", "value"],
            "additionalProperties": False,
        }
        for number in range(size)
    ]
    last = size - 1
    good, bad = (1, "x") if last % 2 else ("x", 1)
    kind = _word(last)
    return _sized(
        {"anyOf": branches}, {"kind": kind, "value": good}, {"kind": kind, "value": bad}
    )


def _word(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()[:12]


def _letters(count: int) -> str:
    return "".join(_word(number) for number in range(count // 12 + 1))[:count]

"""Numbers and booleans that stand in quotation marks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from curation.core.rule import Rejected
from curation.json.text import parse
from curation.rules.guard import mechanical
from curation.schema.keywords import BOUNDS

if TYPE_CHECKING:
    from curation.core.rule import Json
    from curation.rules.guard import Refused

_NUMBERS = BOUNDS | {"multipleOf", "divisibleBy", "minContains", "maxContains"}
_BOOLEANS = frozenset(
    {
        "required",
        "uniqueItems",
        "additionalProperties",
        "additionalItems",
        "exclusiveMinimum",
        "exclusiveMaximum",
    }
)
_NUMBER = re.compile(r"\s*(-?[0-9]+(?:\.[0-9]+)?)\s*", re.ASCII)
_WORDS: dict[str, Json] = {"true": True, "false": False}


def _mended(schema: dict[str, Json], _refused: Refused) -> dict[str, Json]:
    for keyword, value in schema.items():
        if not isinstance(value, str):
            continue
        if keyword in _BOOLEANS and value.strip().lower() in _WORDS:
            schema = {**schema, keyword: _WORDS[value.strip().lower()]}
        elif keyword in _NUMBERS and (match := _NUMBER.fullmatch(value)):
            number = parse(match[1].encode())
            if not isinstance(number, Rejected):
                schema = {**schema, keyword: number}
    return schema


RULE = mechanical(
    "quoted-values",
    _mended,
    summary='`"10"` as a bound is the number, `"true"` and `"false"` where a boolean '
    "may stand are the booleans, in a schema that its draft refuses.",
    source="Validation specification of each draft: bounds are numbers; ten GitHub "
    "files, mended so in the published benchmark",
    note="a text where its value was meant",
)

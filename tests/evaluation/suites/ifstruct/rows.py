"""Rows for tests, drawn or of one small item, and the verifier's findings."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from evaluation.core.records import Response
from evaluation.suites.ifstruct.generator import generate_rows
from evaluation.suites.ifstruct.rows import (
    IfstructRecord,
    IfstructSettings,
    read_record,
)
from evaluation.suites.ifstruct.scorer import verify

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.core.json_types import Json

EVEN = IfstructSettings(mix="even")
READINGS = ("published", "recommended")


@cache
def rows() -> tuple[IfstructRecord, ...]:
    """Return 240 rows of the test taxonomy."""
    return tuple(generate_rows(EVEN, 3, 240))


def published_lines(rows: Iterable[IfstructRecord]) -> bytes:
    """Return rows as a published file has them: its ten columns, and none of ours."""
    columns = ([*msgspec.to_builtins(row).items()][:10] for row in rows)
    return b"".join(json.dumps(dict(own)).encode() + b"\n" for own in columns)


ITEM: dict[str, Json] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1, "maximum": 5},
        "t": {"type": "string"},
    },
    "required": ["id"],
}
#: The columns of a published row.
COLUMNS: dict[str, Json] = {
    "seed": 7,
    "entity_type": "test__thing",
    "prompt": "One thing.",
    "json_schema": {"type": "array", "minItems": 1, "maxItems": 1, "items": ITEM},
    "top_level_count": 1,
    "top_level_key": None,
    "require_wrapper_key": False,
    "require_code_block": False,
    "require_no_commentary": False,
    "output_format": "json",
}
JSON = read_record(COLUMNS)


def list_failures(text: str, row: IfstructRecord, reading: str) -> list[str]:
    """Return the failures of an answer that count by a reading."""
    response = Response(record="a", text=text)
    flaws = verify(response, row, reading).flaws
    return [flaw.failure for flaw in flaws]

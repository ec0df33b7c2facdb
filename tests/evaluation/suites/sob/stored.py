"""Records for tests, of nine forms written by hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from evaluation.suites.sob.records import SobRecord

_FILE: Final = Path(__file__).with_name("records.jsonl")


@cache
def stored_records() -> tuple[SobRecord, ...]:
    """Return 45 records, fifteen of each source."""
    lines = _FILE.read_bytes().splitlines()
    return tuple(msgspec.json.decode(line, type=SobRecord) for line in lines)

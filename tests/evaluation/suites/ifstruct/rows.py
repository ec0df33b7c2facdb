"""Rows for tests, generated once."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from evaluation.suites.ifstruct.generator import RowSource, generate_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evaluation.suites.ifstruct.rows import IfstructRecord


def source(mix: str = "even", split: str = "test") -> RowSource:
    """Return what rows are drawn from."""
    return RowSource(split=split, mix=mix)


@cache
def rows(count: int, mix: str = "even", seed: int = 3) -> tuple[IfstructRecord, ...]:
    """Return rows of the test taxonomy."""
    return tuple(generate_rows(source(mix), seed, count))


def published_lines(rows: Iterable[IfstructRecord]) -> bytes:
    """Return rows as a published file has them: its ten columns, and none of ours."""
    columns = ([*msgspec.to_builtins(row).items()][:10] for row in rows)
    return b"".join(json.dumps(dict(own)).encode() + b"\n" for own in columns)

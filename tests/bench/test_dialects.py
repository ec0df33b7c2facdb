"""Dialects inferred of records whose declaration is hidden."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

import polars as pl

from bench.data.dialects import measure

if TYPE_CHECKING:
    from pathlib import Path

DRAFT_07 = "http://json-schema.org/draft-07/schema#"


def _row(dialect: str, schema: str, evidence: str = "declared") -> dict[str, object]:
    valid = ["draft-04", "draft-06", "draft-07", "2019-09", "2020-12"]
    return {
        "source": "github",
        "dialect": dialect,
        "dialect_found": evidence,
        "valid_under": valid,
        "json_schema": schema,
    }


def test_declarations_are_hidden_and_inferred(tmp_path: Path) -> None:
    """Each way has its own rate, and records that declare nothing have none."""
    rows = [
        _row("draft-04", '{"id": "http://a.example/b"}'),
        _row("draft-07", f'{{"$schema": "{DRAFT_07}", "type": "object"}}'),
        _row("draft-04", '{"type": "object"}'),
        _row("2020-12", "{}", "prior"),
    ]
    (tmp_path / "Made").mkdir()
    pl.DataFrame(rows).write_parquet(tmp_path / "Made" / "test.parquet")
    figures = measure(Namespace(build=tmp_path))["github"]
    assert figures["right"] == {
        "all": "2 of 3 (66.7%)",
        "newest alone": "0 of 3 (0.0%)",
        "prior": "1 of 2 (50.0%)",
        "prior alone": "2 of 3 (66.7%)",
        "words": "1 of 1 (100.0%)",
    }
    assert figures["wrong"] == {"draft-07 as draft-04": 1}

"""A published edition is read, or refused with the file that is none of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from curation.system.errors import BadData
from evaluation.results.edition import ROWS, read_lines
from tests.evaluation.site.made_editions import line, write_edition

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda it: it.cast({"id": pl.Int8, "tokens": pl.String}), "column id, tokens"),
        (lambda it: it.with_columns(why=pl.lit(None, pl.String)), "every row of why"),
        (
            lambda it: it.with_columns(outcome=pl.lit("splendid")),
            "no outcome: splendid",
        ),
    ],
    ids=["of another type", "null", "another outcome"],
)
def test_rows_are_read_with_all_that_pages_show(
    change: Callable[[pl.DataFrame], pl.DataFrame], said: str, tmp_path: Path
) -> None:
    """Every column of its type, a text in each of texts, outcomes that are known."""
    lines = [line("alpha 1.0", "0"), line("alpha 1.0", "1", "compile_error")]
    path = write_edition(tmp_path, lines) / ROWS
    assert [it["outcome"] for it in read_lines(tmp_path)] == ["passed", "compile_error"]
    change(pl.read_parquet(path)).write_parquet(path)
    with pytest.raises(BadData, match=said):
        read_lines(tmp_path)

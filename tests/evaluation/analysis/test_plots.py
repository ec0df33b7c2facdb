"""Plots and exports of a run: the same figures, and no stranger writes into them."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import polars as pl
import pytest

from evaluation.core.cases import Result
from evaluation.results.frames import write_parquet
from evaluation.results.reader import open_run
from tests.evaluation.made_runs import HEAD, row, write_run
from tests.evaluation.site.made_editions import hostile_run

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("matplotlib")

from evaluation.analysis.plots import draw_all
from evaluation.reporting.printing import as_csv
from evaluation.reporting.tables import Table
from evaluation.results.overview import overview


@pytest.mark.slow
def test_plots_are_drawn_as_files(tmp_path: Path) -> None:
    """Each plot as SVG and PNG, also where a time-out is in it, or nothing is."""
    lost = row(
        id="o2", result=Result.TIMEOUT, phase="compile", compile_ns=None,
        first_mask_ns=None, walks=(),
    )  # fmt: skip
    header = {**HEAD, "limits": {"compile_seconds": 40}}
    for name, rows in (("some", [row(), lost]), ("lost", [lost]), ("none", [])):
        run = open_run(write_run(tmp_path / name, rows, header))
        plots = overview(run, "masks").plots
        drawn = draw_all(plots[1:3] or plots, tmp_path / f"{name}-plots")
        assert drawn
        assert {each.suffix for each in drawn} == {".svg", ".png"}


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=cmd|' calc'!A0.json", "'=cmd|' calc'!A0.json"),
        *((f"{sign}x", f"'{sign}x") for sign in "+-@\t"),
        ("a\x1b[31mb", "'a\\u001b[31mb"),
        *((text, text) for text in ("-1.5", "+3", "o1", "a=b", "")),
    ],
)
def test_no_cell_of_csv_is_a_formula(text: str, cell: str) -> None:
    """Of a printed table; numbers stay."""
    table = Table(title="t", columns=("id", "count"), rows=((text, -1),))
    assert list(csv.reader(io.StringIO(as_csv(table))))[1] == [cell, "-1"]


def test_frames_are_written_whole(tmp_path: Path) -> None:
    """Parquet has the frame."""
    run = hostile_run(tmp_path)
    cases, walks = write_parquet(run, tmp_path / "out")
    assert pl.read_parquet(cases).equals(run.frame())
    assert pl.read_parquet(walks).equals(run.walks())

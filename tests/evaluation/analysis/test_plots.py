"""Plots and exports of a run: the same figures, and no stranger writes into them."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from evaluation.core.cases import Result
from evaluation.results.frames import write_csv, write_parquet
from evaluation.results.reader import open_run
from tests.evaluation.made_runs import HEAD, row, write_run
from tests.evaluation.site.made_editions import EVIL, hostile_run

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("matplotlib")

from evaluation.analysis.plots import draw_all
from evaluation.reporting.printing import as_csv
from evaluation.reporting.tables import Table
from evaluation.results.overview import overview


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
def test_no_cell_of_csv_is_a_formula(text: str, cell: str, tmp_path: Path) -> None:
    """Of an export and of a printed table; numbers stay."""
    run = open_run(write_run(tmp_path / "run", [row(id=text)]))
    cases, _ = write_csv(run, tmp_path / "out")
    assert pl.read_csv(cases, infer_schema=False)["id"][0] in {cell, cell or None}
    table = Table(title="t", columns=("id", "count"), rows=((text, -1),))
    assert list(csv.reader(io.StringIO(as_csv(table))))[1] == [cell, "-1"]


def test_frames_are_written_whole(tmp_path: Path) -> None:
    """Parquet has the frame; CSV has lists as JSON, and empty fields, not zeros."""
    run = hostile_run(tmp_path)
    cases, walks = write_parquet(run, tmp_path / "out")
    assert pl.read_parquet(cases).equals(run.frame())
    assert pl.read_parquet(walks).equals(run.walks())
    cases, walks = write_csv(run, tmp_path / "out")
    found = pl.read_csv(cases)
    assert found.height == len(run)
    assert found["compile_ns"].null_count() == run.frame()["compile_ns"].null_count()
    crashed = found.filter(pl.col("task") == "plugin")["warnings"][0]
    assert json.loads(crashed) == [EVIL]
    times = pl.read_csv(walks)["mask_ns"][0]
    assert json.loads(times) == run.walks()["mask_ns"][0].to_list()

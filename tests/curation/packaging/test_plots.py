"""Plots are drawn of a folder's tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Origin
from curation.packaging.plots import draw_plots, plot_paths, tables_of_folder
from tests.builds import write_build
from tests.made import record

if TYPE_CHECKING:
    from pathlib import Path


def test_plots_and_tables_come_from_the_rows(tmp_path: Path) -> None:
    """Every plot is there, that of targets if any was asked."""
    tables = tables_of_folder(write_build(tmp_path / "build"))
    assert tables is not None
    assert not tables.targets
    counts = {name: sum(drafts.values()) for name, drafts in tables.table_9.items()}
    assert counts == {"Github_easy": 2, "Snowplow": 1, "Kubernetes": 1}
    assert "plots/targets.png" not in plot_paths(tables)
    asked = replace(tables, targets={"gemini": 2, "vllm": 3}, asked=4)
    draw_plots(asked, tmp_path)
    names = plot_paths(asked)
    assert names[-2:] == ["plots/targets.png", "plots/targets.svg"]
    assert all((tmp_path / name).stat().st_size for name in names)


@pytest.mark.parametrize(
    ("samples", "counted", "left_out", "asked"),
    [(0, 3, {}, 3), (1, 2, {"Snowplow": 1}, 2), (3, 3, {}, 3)],
)
def test_rows_of_the_sample_count_if_there_are_no_others(
    samples: int, counted: int, left_out: dict[str, int], asked: int, tmp_path: Path
) -> None:
    """In the tables as in what targets take."""
    rows = [
        (
            "Snowplow",
            replace(
                record(f"s{at}"),
                origin=(Origin.SAMPLE if at < samples else Origin.UPSTREAM).value,
                fits=("vllm",),
                fits_but_for=(),
            ),
        )
        for at in range(3)
    ]
    tables = tables_of_folder(write_build(tmp_path, rows))
    assert tables is not None
    assert sum(tables.table_9["Snowplow"].values()) == counted
    assert tables.left_out == left_out
    assert (tables.asked, tables.targets["vllm"]) == (asked, asked)


def test_without_a_record_there_are_no_tables(tmp_path: Path) -> None:
    """A build that kept nothing has neither tables nor plots."""
    assert tables_of_folder(write_build(tmp_path, rows=())) is None

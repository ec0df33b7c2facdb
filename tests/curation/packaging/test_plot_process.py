"""Plots are drawn by a child whose failure is told in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from curation.packaging.plot_process import PlotProcess, plot_paths
from curation.packaging.plot_tables import tables_of_folder
from curation.system.errors import CsbdataError
from tests.builds import write_build

if TYPE_CHECKING:
    from pathlib import Path


def test_plots_and_tables_come_from_the_rows(tmp_path: Path) -> None:
    """Every plot is there when the tables have been asked for, targets if any were."""
    folder = write_build(tmp_path / "build")
    tables = tables_of_folder(folder)
    assert tables is not None
    assert not tables.targets
    assert tables.table_1 == {"Github_easy": 2, "Snowplow": 1, "Kubernetes": 1}
    assert "plots/targets.png" not in plot_paths(tables)
    asked = replace(tables, targets={"gemini": 2, "vllm": 3}, asked=4)
    with PlotProcess() as drawing:
        drawing.begin(asked)
        assert drawing.finish(tmp_path) == asked
    names = plot_paths(asked)
    assert names[-2:] == ["plots/targets.png", "plots/targets.svg"]
    assert all((tmp_path / name).stat().st_size for name in names)


def test_without_a_record_there_is_nothing_to_draw(tmp_path: Path) -> None:
    """A build that kept nothing has neither tables nor plots."""
    folder = write_build(tmp_path / "build", rows=())
    with PlotProcess() as drawing:
        drawing.begin(tables_of_folder(folder))
        assert drawing.finish(tmp_path) is None
    assert not (tmp_path / "plots").exists()


def test_a_child_that_fails_is_a_fault_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last words are told: exit 70."""
    tables = tables_of_folder(write_build(tmp_path / "build"))
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit('no colours')")
    monkeypatch.setattr("curation.packaging.plot_process._WORKER", broken)
    with PlotProcess() as drawing:
        drawing.begin(tables)
        with pytest.raises(CsbdataError, match="no colours") as caught:
            drawing.finish(tmp_path)
    assert caught.value.exit_code == 70


def test_nothing_is_left_running() -> None:
    """An error in the block ends the child."""
    drawing = PlotProcess()
    drawing.start()
    child = drawing._worker.child
    with pytest.raises(ZeroDivisionError), drawing:
        raise ZeroDivisionError
    assert child is not None
    assert child.returncode is not None

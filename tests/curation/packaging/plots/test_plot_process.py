"""Plots are drawn by a child whose failure is told in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.dataset.ledger import DOCUMENTS
from curation.packaging.plots.plot_process import NAMES, PlotProcess
from curation.system.errors import CsbdataError
from tests.builds import write_build

if TYPE_CHECKING:
    from pathlib import Path


def test_plots_and_tables_come_from_the_rows(tmp_path: Path) -> None:
    """Every plot is there when the tables have been asked for."""
    folder = write_build(tmp_path / "build")
    with PlotProcess(folder) as drawing:
        tables = drawing.finish(tmp_path)
    assert tables is not None
    assert tables.table_1 == {"Github_easy": 2, "Snowplow": 1, "Kubernetes": 1}
    assert all((tmp_path / name).stat().st_size for name in NAMES)


def test_without_a_record_there_is_nothing_to_draw(tmp_path: Path) -> None:
    """A build that kept nothing has neither tables nor plots."""
    folder = write_build(tmp_path / "build", rows=())
    with PlotProcess(folder) as drawing:
        assert drawing.finish(tmp_path) is None
    assert not (tmp_path / "plots").exists()


def test_a_child_that_fails_is_a_fault_of_ours(tmp_path: Path) -> None:
    """Its last words are told: exit 70."""
    folder = write_build(tmp_path / "build")
    (folder / DOCUMENTS).write_bytes(b"no parquet")
    with (
        PlotProcess(folder) as drawing,
        pytest.raises(CsbdataError, match=r"could not be drawn \(.*parquet") as caught,
    ):
        drawing.finish(tmp_path)
    assert caught.value.exit_code == 70


def test_nothing_is_left_running(tmp_path: Path) -> None:
    """An error in the block ends the child."""
    folder = write_build(tmp_path / "build")
    drawing = PlotProcess(folder)
    with pytest.raises(ZeroDivisionError), drawing:
        raise ZeroDivisionError
    assert drawing._child.returncode is not None


@pytest.mark.slow
def test_a_folder_may_be_called_like_a_pattern(tmp_path: Path) -> None:
    """Brackets and stars in a path are letters: its own files are read."""
    folder = write_build(tmp_path / "o[u]t *")
    with PlotProcess(folder) as drawing:
        tables = drawing.finish(tmp_path)
    assert tables is not None
    assert sum(tables.table_1.values()) == 4

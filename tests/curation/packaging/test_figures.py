"""Plots are drawn by a child whose failure is told in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.faults import Fault
from curation.packaging.figures import NAMES, Drawing
from tests.builds import write_build

if TYPE_CHECKING:
    from pathlib import Path


def test_plots_and_tables_come_from_the_rows(tmp_path: Path) -> None:
    """Every plot is there when the tables have been asked for."""
    folder = write_build(tmp_path / "build")
    with Drawing(folder, tmp_path / "into") as drawing:
        tables = drawing.tables()
    assert tables["table_1"] == {"Github_easy": 2, "Snowplow": 1, "Kubernetes": 1}
    assert all((tmp_path / "into" / name).stat().st_size for name in NAMES)


def test_without_a_record_there_is_nothing_to_draw(tmp_path: Path) -> None:
    """A build that kept nothing has neither tables nor plots."""
    folder = write_build(tmp_path / "build", rows=())
    with Drawing(folder, tmp_path / "into") as drawing:
        assert drawing.tables() is None
    assert not (tmp_path / "into").exists()


def test_a_child_that_fails_is_a_fault_of_ours(tmp_path: Path) -> None:
    """Its last words are told: exit 70."""
    folder = write_build(tmp_path / "build")
    (tmp_path / "into").write_text("a file where the plots should go")
    with (
        Drawing(folder, tmp_path / "into") as drawing,
        pytest.raises(Fault, match=r"could not be drawn .*into") as caught,
    ):
        drawing.tables()
    assert caught.value.exit_code == 70


def test_nothing_is_left_running(tmp_path: Path) -> None:
    """An error in the block ends the child."""
    folder = write_build(tmp_path / "build")
    drawing = Drawing(folder, tmp_path / "into")
    with pytest.raises(ZeroDivisionError), drawing:
        raise ZeroDivisionError
    assert drawing._child.returncode is not None

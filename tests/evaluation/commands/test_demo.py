"""`csbdata demo`: a first result without network, and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from evaluation.commands.demo import demo
from evaluation.data import find_data
from evaluation.data.parquet_tables import ParquetTables

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_the_demo_ends_with_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sample_build_with_instances: Path
) -> None:
    """Each schema has its line, and what is printed last is the page of that run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    sample = ParquetTables.of(sample_build_with_instances, "sample")
    monkeypatch.setattr(find_data, "built_sample", lambda *_: sample)
    app = typer.Typer()
    app.command()(demo)
    answer = CliRunner().invoke(app, ["--run-dir", "run"], catch_exceptions=False)
    assert answer.exit_code == 0
    assert "By schema" in answer.stdout
    assert "under constrained" in answer.stdout
    page = tmp_path / "run" / "page.html"
    assert answer.stdout.splitlines()[-1] == str(page.resolve())
    assert "none of the ten configs is real" in page.read_text("utf-8")
    assert "  csbdata eval --data FOLDER" in answer.stderr.splitlines()

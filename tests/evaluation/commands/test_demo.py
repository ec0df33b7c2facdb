"""`csbdata demo`: a first result without network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from evaluation.commands import demo as module

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_the_demo_ends_with_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each schema has its line; one source of the sample is built for it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    app = typer.Typer()
    app.command()(module.demo)
    answer = CliRunner().invoke(app, ["--run-dir", "run"], catch_exceptions=False)
    assert answer.exit_code == 0
    assert "By schema" in answer.stdout
    assert "under constrained" in answer.stdout
    built = tmp_path / "cache" / "sample" / "demo"
    assert [path.parent.name for path in built.glob("*/test-*.parquet")] == ["Snowplow"]
    assert "  csbdata eval --data FOLDER" in answer.stderr.splitlines()

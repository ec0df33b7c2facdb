"""`csbdata demo`: a first result without network, and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from evaluation.commands import demo as module
from evaluation.commands import show_run

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.reporting.tables import Table


@pytest.mark.slow
def test_the_demo_ends_with_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each schema has its line, and what is printed last is the page of that run.

    One source of the sample is built for it, and nothing long comes after the tables.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    printed: list[bool] = []
    page = tmp_path / "run" / "page.html"

    def show_screen(here: str, few: list[Table], every: list[Table]) -> None:
        printed.append(page.exists())
        show_run.show_screen(here, few, every)

    monkeypatch.setattr(module, "show_screen", show_screen)
    app = typer.Typer()
    app.command()(module.demo)
    answer = CliRunner().invoke(app, ["--run-dir", "run"], catch_exceptions=False)
    assert answer.exit_code == 0
    assert "By schema" in answer.stdout
    assert "under constrained" in answer.stdout
    assert printed == [True]
    built = tmp_path / "cache" / "sample" / "demo"
    assert [path.parent.name for path in built.glob("*/test-*.parquet")] == ["Snowplow"]
    assert answer.stdout.splitlines()[-1] == str(page.resolve())
    assert "none of the ten configs is real" in page.read_text("utf-8")
    assert "  csbdata eval --data FOLDER" in answer.stderr.splitlines()

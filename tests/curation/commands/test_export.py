"""`csbdata export`: the benchmark in the layouts of others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from curation.commands.export import export
from curation.commands.instances import instances
from curation.system.errors import CannotCreate, NoInput

if TYPE_CHECKING:
    from pathlib import Path

APP = typer.Typer()
APP.add_typer(export)
APP.command()(instances)


def run(*arguments: object) -> tuple[int, str]:
    """Run a command; return its exit code and stdout."""
    result = CliRunner().invoke(APP, list(map(str, arguments)), catch_exceptions=False)
    return result.exit_code, result.stdout


def test_a_file_has_what_maskbench_reads(sample_build: Path, tmp_path: Path) -> None:
    """Its name holds config and id; its members are MaskBench's, tests included."""
    out = tmp_path / "mb"
    run("export", "maskbench", out, "--data", sample_build, "--config", "Snowplow")
    paths = list(out.glob("*.json"))
    assert all(each.name.startswith("Snowplow---") for each in paths)
    given = json.loads(paths[0].read_bytes())
    assert list(given) == ["description", "meta", "schema", "tests"]
    assert list(given["meta"]) == [
        "full_size",
        "stripped_size",
        "features",
        "raw_features",
    ]
    assert {tuple(each) for each in given["tests"]} == {
        ("description", "valid", "data")
    }


def test_splits_add_up_to_the_whole(sample_build: Path, tmp_path: Path) -> None:
    """The files of the three splits are those of all, none twice."""
    counts = []
    for split in ("train", "val", "test"):
        arguments = ("--data", sample_build, "--split", split, "--format", "json")
        _, text = run("export", "maskbench", tmp_path / split, *arguments)
        counts.append(json.loads(text)["files"])
    assert sum(counts) == 307
    assert 0 not in counts


def test_an_export_replaces_an_export_and_nothing_else(
    sample_build: Path, tmp_path: Path
) -> None:
    """What an earlier one left is gone; a folder of someone else's stays."""
    out = tmp_path / "mb"
    run("export", "maskbench", out, "--data", sample_build, "--config", "Snowplow")
    run("export", "maskbench", out, "--data", sample_build, "--config", "Kubernetes")
    names = {each.name.partition("---")[0] for each in out.glob("*.json")}
    assert names == {"Kubernetes"}
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").touch()
    with pytest.raises(CannotCreate, match="holds something else"):
        run("export", "maskbench", mine, "--data", sample_build)
    assert [each.name for each in mine.iterdir()] == ["thesis.txt"]


def test_a_config_that_is_not_there_is_named(
    sample_build: Path, tmp_path: Path
) -> None:
    """The fault lists those that are; nothing is written."""
    out = tmp_path / "mb"
    with pytest.raises(NoInput, match=r"no config Github_hrad.*Github_hard"):
        run(
            "export",
            "maskbench",
            out,
            "--data",
            sample_build,
            "--config",
            "Github_hrad",
        )
    assert not out.exists()

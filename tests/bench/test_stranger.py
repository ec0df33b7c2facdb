"""The program that runs the README, and continuous integration around it."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from bench import stranger
from bench.stranger import Measurement, Shell, blocks, faults

_ROOT = Path(__file__).parents[2]
_README = (_ROOT / "README.md").read_text("utf-8")


def test_each_block_of_the_readme_is_run() -> None:
    """No fenced block and no mark is overlooked."""
    found = blocks(_README)
    assert len(found) == _README.count("\n```") / 2
    marked = sum(block.is_loopback for block in found)
    assert marked == _README.count("<!-- loopback:") > 0


def test_the_table_is_that_of_the_readme() -> None:
    """Each command has a figure, and each figure a command."""
    commands = [each for block in blocks(_README) for each in block.commands]
    first_lines = [each.splitlines()[0] for each in commands]
    table = tomllib.loads(stranger.TABLE.read_text("utf-8"))
    assert list(table) == [stranger.ENVIRONMENT, *first_lines]


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("csbdata() { return 1; }; csbdata x", "exit code 1"),
        ("echo lost >&2; exit 4", "exit code 4\nlost"),
        ("false | true", "exit code 1"),
        ("echo 'Traceback (most recent call last):'", "a traceback"),
        ("sleep 30", "killed (its limit is 1 s)"),
    ],
)
def test_faults_are_named(
    command: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By exit code, by a traceback or by the limit, with the last output."""
    monkeypatch.setattr(stranger, "_LIMIT", 1)
    assert Shell(tmp_path).run(command).fault.startswith(fault)


def test_more_than_twice_the_figure_is_a_fault() -> None:
    """So is a command without a figure or a failed one; small figures count as 0.2."""
    ran = [
        Measurement("fine", 3.9, 1, ""),
        Measurement("slow", 4.1, 1, ""),
        Measurement("tiny", 0.7, 1, ""),
        Measurement("new", 0.1, 1, ""),
        Measurement("failed", 0.1, 1, "exit code 2"),
    ]
    found = faults(ran, 2.0, {"fine": 1, "slow": 1, "tiny": 0.01, "failed": 1})
    assert found == [
        "failed: exit code 2",
        "slow: 2.05 floors; stranger.toml: 1",
        "new: not in stranger.toml",
    ]


def test_a_step_of_ci_sees_a_clean_environment_and_names_itself(tmp_path: Path) -> None:
    """No mirror, an empty HOME; pip's configuration stays; a failure is named."""
    (tmp_path / "csbdata").mkdir()
    recipe = 'check:\n\t@echo "[$$HOME $$CSBDATA_MIRROR $$PIP_X]"; exit 3\n'
    (tmp_path / "csbdata" / "Makefile").write_text(recipe)
    given = {"CI_FOLDER": str(tmp_path), "CSBDATA_MIRROR": "/m", "PIP_X": "a b"}
    ended = subprocess.run(
        [_ROOT / ".ci" / "run", "check"],
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert f"[{tmp_path}/home  a b]" in ended.stdout
    assert "== check: FAILED with exit code 2" in ended.stdout

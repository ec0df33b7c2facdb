"""What ships works: the wheel alone, installed without an index, builds the sample."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from curation.core.benchmark import CONFIGS

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "sample-clean.json"


def _run(*command: str, cwd: Path) -> str:
    """Return the stdout of a command that must end well.

    Nothing of this checkout is in its environment, and pip has no index to ask.
    """
    kept = ("PATH", "HOME", "TMPDIR")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    ended = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout


@pytest.mark.slow
def test_the_wheel_builds_the_sample_from_another_folder(tmp_path: Path) -> None:
    """`make wheelhouse`, an empty environment, no index: `build --sample` works."""
    made = subprocess.run(
        ["make", "wheelhouse"],  # noqa: S607 (make as the user has it)
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr[-2000:]
    empty, elsewhere = tmp_path / "empty", tmp_path / "elsewhere"
    elsewhere.mkdir()
    _run(sys.executable, "-m", "venv", str(empty), cwd=tmp_path)
    wheelhouse = str(ROOT / "wheelhouse")
    install = ("-m", "pip", "install", "--quiet", "--no-index", "--find-links")
    python = str(empty / "bin" / "python")
    _run(python, *install, wheelhouse, "csbdata", cwd=elsewhere)
    command = (str(empty / "bin" / "csbdata"), "build", "--sample", "--format", "json")
    report = json.loads(_run(*command, cwd=elsewhere))
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    wanted = Counter(config for config, *_ in golden["kept"])
    kept = {name: each["kept"] for name, each in report["configs"].items()}
    assert {each for each in CONFIGS if kept[each] != wanted[each]} == set()
    assert (elsewhere / "build" / "sample" / "manifest.json").is_file()

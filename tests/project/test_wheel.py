"""What ships works: the wheel alone, installed without an index."""

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


def _run(*command: str, cwd: Path, code: int = 0) -> str:
    """Return what a command prints, which must end with a code.

    Nothing of this checkout is in its environment, and pip has no index to ask.
    """
    kept = ("PATH", "HOME", "TMPDIR")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    ended = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == code, ended.stderr[-2000:]
    return ended.stderr if code else ended.stdout


@pytest.mark.slow
def test_the_wheel_works_from_another_folder(tmp_path: Path) -> None:
    """`make wheelhouse`, an empty environment, no index.

    The base installation takes at most 60 MB beside Python's bytecode, checks a schema,
    and names the command that installs what a build needs; after it
    `build --sample` works.
    """
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
    _run(sys.executable, "-m", "venv", "--without-pip", str(empty), cwd=tmp_path)
    wheelhouse = str(ROOT / "wheelhouse")
    python, csbdata = str(empty / "bin" / "python"), str(empty / "bin" / "csbdata")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    install = (*pip, "--no-index", "--find-links", wheelhouse)
    _run(*install, "csbdata", cwd=elsewhere)
    files = [file for file in empty.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files if file.suffix != ".pyc") <= 60e6
    (elsewhere / "a.json").write_text('{"type": "object"}', encoding="utf-8")
    _run(csbdata, "check", "a.json", cwd=elsewhere)
    said = _run(csbdata, "build", "--sample", cwd=elsewhere, code=69)
    assert "python -m pip install 'csbdata[build]'" in said
    _run(*install, "csbdata[build]", cwd=elsewhere)
    report = json.loads(
        _run(csbdata, "build", "--sample", "--format", "json", cwd=elsewhere)
    )
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    wanted = Counter(config for config, *_ in golden["kept"])
    kept = {name: each["kept"] for name, each in report["configs"].items()}
    assert {each for each in CONFIGS if kept[each] != wanted[each]} == set()
    assert (elsewhere / "build" / "sample" / "manifest.json").is_file()

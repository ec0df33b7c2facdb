"""What ships works: the wheel alone, installed without an index."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from curation.core.benchmark import CONFIGS
from tests.programs import ended

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "sample-clean.json"


def _run(*command: str, cwd: Path, code: int = 0) -> str:
    """Return what a command prints, which must end with a code.

    Nothing of this checkout is in its environment, and pip has no index to ask.
    """
    kept = ("PATH", "HOME", "TMPDIR")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    done = ended(*command, cwd=cwd, env=environment)
    assert done.returncode == code, done.stderr[-2000:]
    return done.stderr if code else done.stdout


@pytest.mark.slow
def test_the_wheel_works_from_another_folder(tmp_path: Path) -> None:
    """`make wheelhouse`, an empty environment, no index.

    The base installation takes at most 60 MB beside Python's bytecode, checks a schema,
    and names the command that installs what a build needs; after it
    `build --sample` works.
    """
    made = ended("make", "wheelhouse", cwd=ROOT)
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


@pytest.mark.nightly
@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_the_base_works_on_later_pythons(version: str, tmp_path: Path) -> None:
    """Installed from an index: a schema is checked, fitted, satisfied and judged."""
    python = shutil.which(f"python{version}")
    if not python or ended(python, "-m", "venv", tmp_path / "own").returncode:
        pytest.skip(f"there is no Python {version} here")
    made = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps"]
    made += ["--no-build-isolation", "-w", str(tmp_path), str(ROOT)]
    subprocess.run(made, check=True)
    (wheel,) = tmp_path.glob("csbdata-*.whl")
    own = tmp_path / "own" / "bin"
    subprocess.run([own / "python", "-m", "pip", "install", "-q", wheel], check=True)
    (tmp_path / "a.json").write_text('{"minimum": 3}', encoding="utf-8")
    for words in (["check"], ["fit", "--for", "gemini"], ["instances"]):
        _run(str(own / "csbdata"), words[0], "a.json", *words[1:], cwd=tmp_path)
    judge = "import csbdata; print(csbdata.judge('2', {'minimum': 3}).valid)"
    assert _run(str(own / "python"), "-c", judge, cwd=tmp_path) == "False\n"

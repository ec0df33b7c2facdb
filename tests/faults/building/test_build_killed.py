"""F33, F35 and F39 on a whole build: killed, moved, same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.building.build_kills import tree

ROOT = Path(__file__).parents[3]
KILLS = Path(__file__).with_name("build_kills.py")
RULES = ("clean", "paper")


def _python(
    *arguments: str, cwd: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def _build(
    out: Path, *arguments: str, cwd: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    command = ("-m", "curation", "build", "--sample", "--out", str(out), *arguments)
    given = {"CSBDATA_CACHE": str(out.parent / "cache"), **variables}
    return _python(*command, cwd=cwd, **given)


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES)
def test_f35_a_build_killed_at_any_moment_ends_in_the_same_bytes(
    rules: str, tmp_path: Path
) -> None:
    """The same command completes, however often and wherever it was killed."""
    done = _python(str(KILLS), rules, str(tmp_path / "x"), "2026", "8", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50


@pytest.mark.slow
@pytest.mark.parametrize("rules", RULES)
def test_f33_f39_jobs_place_and_settings_do_not_enter_the_bytes(
    rules: str, tmp_path: Path
) -> None:
    """Jobs, folder, time zone, locale, hash seed, matplotlibrc: all the same bytes."""
    plain, other = tmp_path / "plain", tmp_path / "a b" / "Öther"
    drawing = tmp_path / "matplotlibrc"
    drawing.write_text("font.size: 20\naxes.grid: True\nbackend: svg\n")
    one = _build(plain / "out", "--rules", rules, "--jobs", "1", cwd=ROOT)
    two = _build(
        other / "o[u]t",
        *("--rules", rules, "--jobs", "3"),
        cwd=tmp_path,
        TZ="Pacific/Kiritimati",
        LC_ALL="tr_TR.UTF-8",
        LANG="tr_TR.UTF-8",
        PYTHONHASHSEED="4711",
        MATPLOTLIBRC=str(drawing),
        HOME=str(tmp_path),
    )
    assert (one.returncode, two.returncode) == (0, 0), one.stderr + two.stderr
    expected = tree(plain / "out")
    assert len(expected) > 10
    assert tree(other / "o[u]t") == expected

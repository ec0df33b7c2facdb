"""F35 to F40: a run that is killed, starved, doubled or moved still converges."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from curation.system.atomic_folders import atomic_folder
from curation.system.errors import CannotCreate
from curation.workers.run_folder import RunFolder
from tests.slow_cases import first_fast

ROOT = Path(__file__).parents[3]
KILL_POINTS = ROOT / "tests/faults/kill_points.py"
SCENARIOS = {"completions": 8, "one_file": 4, "out": 10, "out_slow": 12}


def _python(*arguments: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("scenario", first_fast(1, sorted(SCENARIOS, reverse=True)))
def test_f35_killed_at_any_step_the_same_command_arrives(
    scenario: str, tmp_path: Path
) -> None:
    """SIGKILL before each write, flush and rename: old or new, never a mix."""
    steps = _python(str(KILL_POINTS), scenario, str(tmp_path / "x"), "kill")
    assert int(steps) >= SCENARIOS[scenario]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["ENOSPC", "EACCES", "EROFS", "EIO"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_f36_an_error_of_the_disk_at_any_step_is_one_line(
    scenario: str, fault: str, tmp_path: Path
) -> None:
    """It ends with exit code 73 and what was there untouched, or is survived."""
    steps = _python(str(KILL_POINTS), scenario, str(tmp_path / "x"), fault)
    assert int(steps) >= SCENARIOS[scenario]


@pytest.mark.parametrize("name", ["file/run", "file/a/b"])
def test_f36_a_place_that_cannot_be_is_a_fault(name: str, tmp_path: Path) -> None:
    """A folder below a file: one line that names it, exit code 73."""
    (tmp_path / "file").touch()
    with (
        pytest.raises(CannotCreate, match="cannot be written") as caught,
        RunFolder.open(tmp_path / name, "f1"),
    ):
        pass
    assert "\n" not in str(caught.value)
    with pytest.raises(CannotCreate), atomic_folder(tmp_path / name):
        pass

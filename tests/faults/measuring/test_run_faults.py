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
from tests.archives_made import github_pin, github_tarball, save
from tests.loopback import body, serving
from tests.slow_cases import first_fast

ROOT = Path(__file__).parents[3]
PIN = github_pin()
KILL_POINTS = ROOT / "tests/faults/kill_points.py"
SCENARIOS = {"completions": 8, "fetch": 8, "one_file": 4, "out": 10, "out_slow": 12}


def _steps(scenario: str, folder: Path, fault: str, **variables: str) -> int:
    """Return the number of steps at which a scenario was interrupted."""
    done = subprocess.run(
        [sys.executable, str(KILL_POINTS), scenario, str(folder / "x"), fault],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def _mirror(folder: Path) -> None:
    save(folder / "mirror", PIN.file_names[0], github_tarball())


@pytest.mark.parametrize("scenario", first_fast(1, sorted(SCENARIOS, reverse=True)))
def test_f35_killed_at_any_step_the_same_command_arrives(
    scenario: str, tmp_path: Path
) -> None:
    """SIGKILL before each write, flush and rename: old or new, never a mix."""
    _mirror(tmp_path)
    assert _steps(scenario, tmp_path, "kill") >= SCENARIOS[scenario]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["ENOSPC", "EACCES", "EROFS", "EIO"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_f36_an_error_of_the_disk_at_any_step_is_one_line(
    scenario: str, fault: str, tmp_path: Path
) -> None:
    """It ends with exit code 73 and what was there untouched, or is survived."""
    _mirror(tmp_path)
    assert _steps(scenario, tmp_path, fault) >= SCENARIOS[scenario]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["kill", "ENOSPC"])
def test_f35_f36_whatever_ends_a_download_the_same_command_arrives(
    fault: str, tmp_path: Path
) -> None:
    """From a server: a whole pack or none, and nothing half-written."""
    with serving() as server:
        path = f"/{PIN.repository}/tar.gz/{PIN.commit}"
        server.on(path, body(github_tarball()))
        assert _steps("fetch", tmp_path, fault, CSBDATA_GITHUB_BASE=server.base) >= 8


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

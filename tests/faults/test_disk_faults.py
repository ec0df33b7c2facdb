"""F33 to F40: what is killed, starved, ended or moved still converges."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from curation.system.atomic_files import atomic_folder
from curation.system.errors import CannotCreate
from curation.workers.run_folder import RunFolder
from tests.curation.archives_made import github_pin, github_tarball, save
from tests.faults.kill_points import tree
from tests.loopback import body, serving
from tests.programs import ended
from tests.slow_cases import first_fast
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
PIN = github_pin()
#: The least number of steps of each.
SCENARIOS = {"completions": 8, "fetch": 8, "one_file": 4, "out": 10, "out_slow": 12}


def _python(
    *words: str, cwd: Path = ROOT, variables: Mapping[str, str] = MappingProxyType({})
) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **variables}
    return ended(sys.executable, *words, cwd=cwd, env=env, timeout=1000)


def _steps(
    scenario: str, folder: Path, fault: str, stride: int = 1, **variables: str
) -> int:
    """Return the number of steps at which a scenario was interrupted."""
    if not variables:
        save(folder / "mirror", PIN.file_names[0], github_tarball())
    words = ("-m", "tests.faults.kill_points", scenario, str(folder / "x"), fault)
    done = _python(*words, str(stride), variables=variables)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", first_fast(1, sorted(SCENARIOS, reverse=True)))
def test_f35_killed_at_any_step_the_same_command_arrives(
    scenario: str, tmp_path: Path
) -> None:
    """SIGKILL before each write, flush and rename: old or new, never a mix."""
    assert _steps(scenario, tmp_path, "kill") >= SCENARIOS[scenario]


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["ENOSPC", "EACCES", "EROFS", "EIO"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_f36_an_error_of_the_disk_at_any_step_is_one_line(
    scenario: str, fault: str, tmp_path: Path
) -> None:
    """It ends with exit code 73 and what was there untouched, or is survived."""
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


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["clean", "paper"])
def test_f35_a_build_killed_on_its_way_ends_in_the_same_bytes(
    rules: str, tmp_path: Path
) -> None:
    """The same command completes, wherever it was killed; behind it is all or none."""
    assert _steps(f"sample {rules}", tmp_path, "kill", stride=61) > 150


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["clean", "paper"])
def test_f33_f39_jobs_place_and_settings_do_not_enter_the_bytes(
    rules: str, tmp_path: Path
) -> None:
    """Jobs, folder, time zone, locale, hash seed, matplotlibrc: all the same bytes."""
    plain, other = tmp_path / "plain", tmp_path / "a b" / "Öther"
    drawing = tmp_path / "matplotlibrc"
    drawing.write_text("font.size: 20\naxes.grid: True\nbackend: svg\n")
    settings = {
        **dict.fromkeys(("LC_ALL", "LANG"), "tr_TR.UTF-8"),
        "TZ": "Pacific/Kiritimati",
        "PYTHONHASHSEED": "4711",
        "MATPLOTLIBRC": str(drawing),
        "HOME": str(tmp_path),
    }
    build = ("-m", "curation", "build", "--sample", "--rules", rules, "--out")
    for folder, jobs, given in ((plain, "1", {}), (other, "3", settings)):
        cache = {"CSBDATA_CACHE": str(folder / "cache")}
        out = str(folder / "o[u]t")
        done = _python(
            *build, out, "--jobs", jobs, cwd=tmp_path, variables={**cache, **given}
        )
        assert done.returncode == 0, done.stderr
    assert len(tree(plain / "o[u]t")) > 10
    assert tree(other / "o[u]t") == tree(plain / "o[u]t")


@pytest.mark.slow
def test_a_card_ended_by_sigterm_leaves_nothing_behind(
    folder: Path, sample_build: Path, tmp_path: Path
) -> None:
    """The folder is as it was, and what stood beside it is gone."""
    command = [sys.executable, "-m", "curation", "card", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        wait_until(lambda: any(tmp_path.glob(".built.*.unfinished/*")), 60, pause=0.01)
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 128 + signal.SIGTERM
    assert not list(tmp_path.glob(".built.*.unfinished"))
    assert tree(folder) == tree(sample_build)

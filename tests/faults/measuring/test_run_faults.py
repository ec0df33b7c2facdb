"""F35 to F40: a run that is killed, starved, doubled or moved still converges."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from curation.system.atomic_folders import atomic_folder
from curation.system.errors import CannotCreate, TemporarilyUnavailable
from curation.workers.fingerprint import fingerprint
from curation.workers.limits import Limits
from curation.workers.outcomes import Ending
from curation.workers.pool import Pool
from curation.workers.process import Program
from curation.workers.run_folder import RunFolder

ROOT = Path(__file__).parents[3]
KILL_POINTS = ROOT / "tests/faults/kill_points.py"
MINIATURE = ROOT / "tests" / "miniature_worker.py"
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


@pytest.mark.parametrize("scenario", SCENARIOS)
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


def test_f36_a_file_that_may_not_grow_is_a_fault(tmp_path: Path) -> None:
    """A real refusal of the system to write leaves no completion behind."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with RunFolder.open(tmp_path, "f1") as run:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            with pytest.raises(CannotCreate, match="File too large") as caught:
                run.store("big", b"x" * 100_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert caught.value.exit_code == 73
        assert run.done("big") is None
    assert [each.name for each in tmp_path.rglob("*big*")] == []


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


def test_f37_two_runs_in_one_folder_are_one_too_many(tmp_path: Path) -> None:
    """Another process is turned away with exit code 75, and changes nothing."""
    code = (
        "import sys; from pathlib import Path\n"
        "from curation.system.errors import CsbdataError\n"
        "from curation.workers.run_folder import RunFolder\n"
        "try:\n"
        "    with RunFolder.open(Path(sys.argv[1]), 'f2'): print('in')\n"
        "except CsbdataError as fault: print(fault.exit_code)\n"
    )
    with RunFolder.open(tmp_path, "f1") as run:
        run.store("one", b"1")
        assert _python("-c", code, str(tmp_path)) == "75\n"
        assert run.done("one") == b"1"
        with pytest.raises(TemporarilyUnavailable), RunFolder.open(tmp_path, "f1"):
            pass
    assert _python("-c", code, str(tmp_path)) == "in\n"


@pytest.mark.parametrize("part", ["code", "limits", "inputs", "rules", "versions"])
def test_f38_whatever_changes_the_work_is_done_again(part: str, tmp_path: Path) -> None:
    """A completion of another fingerprint is never found."""
    parts: dict[str, object] = dict.fromkeys(
        ("code", "limits", "inputs", "rules", "versions"), "same"
    )
    with RunFolder.open(tmp_path, fingerprint(**parts)) as run:
        run.store("one", b"1")
    with RunFolder.open(tmp_path, fingerprint(**parts)) as run:
        assert run.done("one") == b"1"
    with RunFolder.open(tmp_path, fingerprint(**{**parts, part: "other"})) as run:
        assert run.done("one") is None


FINGERPRINT = """
from curation.json.text import digest, parse, write
from curation.workers.fingerprint import code_digest, fingerprint, versions
value = parse('{"b": 1.50, "\\u0131": [1e23, "I\\u0307"], "a": {}}'.encode())
print(write(value).encode(), digest(value))
print(fingerprint(code=code_digest(), versions=versions(), value={"b": 1, "a": 2}))
"""


@pytest.mark.parametrize(
    "variables",
    [
        {"TZ": "Pacific/Kiritimati"},
        {"LC_ALL": "C"},
        {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "4711", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=str,
)
def test_f39_the_place_and_the_settings_do_not_enter(variables: dict[str, str]) -> None:
    """Time zone, locale and hash seed change neither bytes nor fingerprints."""
    assert _python("-c", FINGERPRINT, **variables) == _python("-c", FINGERPRINT)


def test_f40_a_worker_that_the_kernel_kills_costs_one_document() -> None:
    """SIGKILL is out of memory for the unit it was on; all others are answered."""
    units: list[list[str | int]] = [["echo", n] for n in range(5)]
    units[2] = ["die", "SIGKILL"]
    program = Program(file=MINIATURE)
    with Pool(program, jobs=2, limits=Limits(memory_mb=256)) as pool:
        (result,) = pool.run_batches([units])
    endings = [each.ending for each in result.results]
    assert endings == [Ending.OK, Ending.OK, Ending.OUT_OF_MEMORY, Ending.OK, Ending.OK]

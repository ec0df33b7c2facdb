"""What a worker is given: an interpreter, cores, threads, and no secret of ours."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import venv
from typing import TYPE_CHECKING

import psutil
import pytest

from evaluation.asking.header import header
from evaluation.core.cases import Result, WalkVerdict
from evaluation.results.reader import open_run
from evaluation.setup.engine_files import find_engine
from evaluation.setup.selected_engines import EngineUnderTest
from evaluation.tasks.registry import task_named
from evaluation.walking.plan import RunPlan
from evaluation.walking.run import run
from tests.evaluation.measuring import (
    MINIATURES,
    measured,
    miniature,
    request_of,
    sample,
    tokenizer,
)
from tests.evaluation.walking.opened_folder import open_results_folder

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.core.cases import Row


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """Return an interpreter that has no package at all."""
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    path = tmp_path / "bare" / "bin" / "python"
    asked = (
        "from importlib.util import find_spec as f; print(f('curation'), f('orjson'))"
    )
    said = subprocess.run([path, "-P", "-c", asked], capture_output=True, check=True)
    assert said.stdout.split() == [b"None", b"None"]
    return str(path)


def test_an_engine_lives_in_an_environment_that_knows_nothing(
    tmp_path: Path, bare: str
) -> None:
    """A bare interpreter, with no package at all, is enough for the worker."""
    participant = EngineUnderTest(
        file=find_engine(miniature("accept_all")), interpreter=bare, version="1"
    )
    request = request_of(tmp_path, [sample("well", '{"a": 1}')])
    task = task_named("masks")
    plan = RunPlan(
        tasks=[task],
        records=lambda: [sample("well", '{"a": 1}')],
        tokenizer=tokenizer(tmp_path),
        settings=request.settings,
        bounds=request.bounds,
    )
    head = header([participant], plan, {}, None)
    with open_results_folder(tmp_path / "run", head) as out:
        run([participant], plan, out)
    (row,) = open_run(tmp_path / "run").rows()
    assert row.result is Result.OK
    assert row.walks[0].verdict is WalkVerdict.ACCEPTED


def _spied(folder: Path, code: str, preset: str = "faithful") -> Row:
    """Return the row of an engine that accepts all, and runs some code besides."""
    spy = folder / "spy.py"
    accepting = (MINIATURES / "accept_all.py").read_text("utf-8")
    spy.write_text(f"{accepting}\n\nimport os\n{code}", "utf-8")
    request = request_of(folder, [sample("well", "{}")], preset=preset)
    _, done = measured(folder, [str(spy)], request)
    (row,) = done.rows()
    return row


def test_no_token_reaches_an_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What we know of hosts and credentials stays here, and out of every file."""
    planted = "hf_" + "x" * 30
    monkeypatch.setenv("HF_TOKEN", planted)
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # Longer than a line.
    row = _spied(
        tmp_path,
        "print(dict(os.environ))\n"
        "_Engine.compile = lambda self, schema: print(dict(os.environ)) or schema\n",
    )
    assert any("PYTHONHASHSEED" in each for each in row.warnings)
    for path in (tmp_path / "run").rglob("*"):
        assert not path.is_file() or planted.encode() not in path.read_bytes()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux alone pins")
@pytest.mark.parametrize("preset", ["faithful", "vendor"])
def test_timed_work_stays_on_one_core_unless_a_vendor_chooses(
    preset: str, tmp_path: Path
) -> None:
    """The worker is pinned to one core, with one thread, and we are back after.

    What a library does by itself, preset `vendor`, is not done so.
    """
    before = os.sched_getaffinity(0)
    row = _spied(
        tmp_path,
        "PRESETS = {'faithful': {}, 'vendor': {}, 'paper': {}}\n"
        "_Engine.compile = lambda self, schema: print("
        "len(os.sched_getaffinity(0)), os.environ.get('OMP_NUM_THREADS')) or schema\n",
        preset=preset,
    )
    wanted = "1 1" if preset == "faithful" else f"{len(before)} None"
    assert row.warnings == (wanted,)
    assert preset == "vendor" or isinstance(row.quiet, bool)
    assert os.sched_getaffinity(0) == before


def test_a_worker_dies_with_its_driver(tmp_path: Path) -> None:
    """SIGKILL of the driver leaves no engine behind that hangs, and no file of it."""
    script = (
        "import sys; from pathlib import Path\n"
        "from tests.evaluation.measuring import *\n"
        "folder = Path(sys.argv[1])\n"
        "request = request_of(folder, [sample('hang-compile', '{}')],"
        " bounds=Bounds(compile_seconds=60))\n"
        "measured(folder, [miniature('troubled')], request)\n"
    )
    left = tmp_path / "temporary"
    left.mkdir()
    driver = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        env={**os.environ, "TMPDIR": str(left)},
    )
    try:
        worker = _child_of(driver.pid)
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    assert _gone(worker)
    assert list(left.iterdir()) == []


def _child_of(pid: int) -> int:
    for _ in range(600):
        for child in psutil.Process(pid).children():
            if any(word.endswith("engine_process.py") for word in child.cmdline()):
                return int(child.pid)
        time.sleep(0.05)
    raise AssertionError("no worker was started")


def _gone(pid: int) -> bool:
    for _ in range(200):
        if not psutil.pid_exists(pid):
            return True
        if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    return False

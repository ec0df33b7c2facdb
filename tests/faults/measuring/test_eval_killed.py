"""SIGKILL at any moment, the same command again: the same results, each once."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson
import psutil
import pytest

from evaluation.results.reader import open_run
from tests.evaluation.measuring import BRISK, measured, miniature, request_of, sample

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.asking.request import RunRequest
    from evaluation.core.cases import Row
    from evaluation.core.records import Record
    from evaluation.results.reader import RecordedRun

_UNITS = 30
_SCRIPT = """
import sys
from pathlib import Path
from tests.evaluation.measuring import measured, miniature
from tests.faults.measuring.test_eval_killed import request
folder = Path(sys.argv[1])
measured(folder, [miniature("troubled")], request(folder))
"""


def samples() -> list[Record]:
    """Return cases that take some fiftieths of a second each, and a few that fail."""
    listed = [sample(f"slow-walk-{each}", "{}", "[1]") for each in range(_UNITS)]
    return [*listed[:10], sample("refuse", "{}"), *listed[10:], sample("lie", "{}")]


def request(folder: Path, **fields: Any) -> RunRequest:  # noqa: ANN401 (its fields)
    """Return a request whose cases have time enough on a busy machine."""
    patient = replace(BRISK, wall_times=30.0)
    return request_of(folder, samples(), bounds=patient, **fields)


def _timeless(row: Row) -> Row:
    walks = tuple(
        replace(walk, mask_ns=(), commit_ns=(), waited_ns=None) for walk in row.walks
    )
    return replace(
        row,
        walks=walks,
        compile_ns=None,
        compile_waited_ns=None,
        first_mask_ns=None,
        calibration_ns=None,
        rss_bytes=None,
        quiet=None,
    )


def _same(run: RecordedRun, other: RecordedRun) -> None:
    assert list(map(_timeless, run.rows())) == list(map(_timeless, other.rows()))


def _fingerprints(folder: Path) -> list[str]:
    """Return the fingerprints of all lines there are, in the file's order."""
    (lines,) = (folder / "run").glob("rows-*.jsonl")
    return [
        orjson.loads(each)["fingerprint"] for each in lines.read_bytes().splitlines()
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> RecordedRun:
    """Return the run that nobody killed."""
    folder = tmp_path_factory.mktemp("whole")
    _, run = measured(folder, [miniature("troubled")], request(folder))
    return run


@pytest.mark.slow
def test_a_driver_killed_at_random_goes_on(tmp_path: Path, whole: RecordedRun) -> None:
    """Ten times SIGKILL, then the end: nothing is lost, nothing is there twice."""
    chance = random.Random(5)
    for _ in range(10):
        driver = subprocess.Popen([sys.executable, "-c", _SCRIPT, str(tmp_path)])
        try:
            driver.wait(chance.uniform(0.5, 3.0))
        except subprocess.TimeoutExpired:
            driver.send_signal(signal.SIGKILL)
            driver.wait()
    subprocess.run([sys.executable, "-c", _SCRIPT, str(tmp_path)], check=True)
    _same(open_run(tmp_path / "run"), whole)
    found = _fingerprints(tmp_path)
    assert len(found) == len(set(found)) == _UNITS + 2


@pytest.mark.slow
def test_a_worker_killed_at_random_is_replaced(
    tmp_path: Path, whole: RecordedRun
) -> None:
    """Ten times SIGKILL of the worker: its case is tried again, and not blamed."""
    chance, over = random.Random(7), threading.Event()
    lines = tmp_path / "run" / "rows-tasks.jsonl"

    def kill() -> None:
        for _ in range(10):
            # A case has had its row since the last time: never the same one four times.
            size = lines.stat().st_size if lines.exists() else 0
            while not (lines.exists() and lines.stat().st_size > size):
                if over.wait(0.01):
                    return
            over.wait(chance.uniform(0.0, 0.3))
            for child in psutil.Process().children():
                with contextlib.suppress(psutil.NoSuchProcess):
                    if any(
                        word.endswith("/engine_process.py") for word in child.cmdline()
                    ):
                        child.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        own = request(tmp_path)
        totals, run = measured(tmp_path, [miniature("troubled")], own)
    finally:
        over.set()
        killer.join()
    assert totals.ran == _UNITS + 2
    _same(run, whole)

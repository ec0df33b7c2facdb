"""F38 to F59: killed, other code, engines and models; noise; a poisoned cache."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import psutil
import pytest

import csbdata
from curation.pipeline.build import compute_fingerprint
from curation.system.errors import CannotCreate
from curation.workers.limits import Limits
from evaluation.core.run_header import usable_cores
from evaluation.masks import run as walking_run
from evaluation.results.reader import open_run
from evaluation.runner import run as asking_run
from evaluation.setup.engine_files import find_engine
from evaluation.setup.selected_engines import EngineUnderTest
from tests.evaluation.measuring import (
    BRISK,
    engine_processes,
    measured,
    miniature,
    miniature_with,
    request_of,
    sample,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evaluation.core.cases import Row
    from evaluation.core.records import Record
    from evaluation.results.reader import RecordedRun
    from evaluation.runner.request import RunRequest

ROOT = Path(__file__).parents[3]


@pytest.fixture
def neighbour() -> Iterator[None]:
    """Keep busy, in other processes, every core: also that on which times are taken."""
    with ExitStack() as running:
        for core in usable_cores():
            code = f"import os; os.sched_setaffinity(0, [{core}])\nwhile True: pass"
            busy = running.enter_context(subprocess.Popen([sys.executable, "-c", code]))
            running.callback(busy.kill)
        yield


_SPINS = """
import time
def _spin(self, schema):
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        pass
    return schema
_Engine.compile = _spin
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux alone pins")
def test_f54_a_disturbed_case_is_flagged_and_counted(
    neighbour: None, tmp_path: Path
) -> None:
    """Its row says that it had not the core to itself, and the totals how many."""
    slow = miniature_with(tmp_path, _SPINS)
    request = request_of(tmp_path, [sample("one", "{}")])
    totals, run = measured(tmp_path, [slow], request)
    (row,) = run.rows()
    assert row.quiet is False
    assert totals.disturbed == 1


def test_f58_another_backend_is_another_identity() -> None:
    """What one has written is not found as finished work of the other."""
    from evaluation.servers.client import ServerConnection  # noqa: PLC0415 (heavy)
    from evaluation.servers.model_server import server_participants  # noqa: PLC0415 (heavy)
    from evaluation.servers.provider import providers  # noqa: PLC0415 (heavy)

    provider = providers()["vllm"]
    connection = ServerConnection(base=provider.base, model="m", provider=provider)
    (server,) = server_participants(connection, ["strict"])
    told = []
    for backend in ("xgrammar", "guidance"):
        config = f"structured_outputs_config=Config(backend='{backend}')"
        told.append(replace(server, about={"/server_info": {"vllm_config": config}}))
        assert told[-1].header()["options"] == {"backend": backend}
    assert len({each.identity for each in (server, *told)}) == 3


def _request(folder: Path, **fields: object) -> csbdata.RunRequest:
    return request_of(
        folder,
        [sample("one", "{}"), sample("two", "[1]")],
        engines=[miniature("accept_all")],
        run_dir=folder / "run",
        **fields,
    )


_OTHERS = {"code_digest": lambda: "other", "versions": lambda: {"python": "2.7"}}


@pytest.mark.parametrize("part", ["code_digest", "versions", "LIMITS"])
def test_f38_a_build_of_other_code_is_done_again(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code, versions of libraries and limits decide a build's fingerprint."""
    before = compute_fingerprint("clean", [], [])
    assert compute_fingerprint("clean", [], []) == before
    other: object = Limits(seconds=1.0) if part == "LIMITS" else _OTHERS[part]
    monkeypatch.setattr(f"curation.pipeline.build.{part}", other)
    assert compute_fingerprint("clean", [], []) != before


def test_f38_rows_of_other_code_are_not_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The folder is refused by name; a folder of its own has every row anew."""
    assert csbdata.run(_request(tmp_path)).totals.ran == 2
    for module in (asking_run, walking_run):
        monkeypatch.setattr(module, "measuring_digest", lambda: "of tomorrow")
    with pytest.raises(CannotCreate, match=r"another run: measuring code"):
        csbdata.run(_request(tmp_path))
    (tmp_path / "run" / "run.json").unlink()
    (tmp_path / "run").rename(tmp_path / "old")
    assert csbdata.run(_request(tmp_path)).totals.reused == 0
    fingerprints = [
        {row.fingerprint for row in open_run(folder).rows()}
        for folder in (_with_header(tmp_path / "old"), tmp_path / "run")
    ]
    assert not fingerprints[0] & fingerprints[1]


def _with_header(folder: Path) -> Path:
    (folder / "run.json").write_text("{}", "utf-8")
    return folder


def test_f38_an_engine_of_another_version_is_another_engine(tmp_path: Path) -> None:
    """Its version, its options and every byte of its file decide its answers."""
    engine = EngineUnderTest(file=find_engine(miniature("accept_all")), version="1")
    path = tmp_path / "accept_all.py"
    path.write_bytes(engine.file.path.read_bytes() + b"\n")
    others = [
        replace(engine, version="2"),
        replace(engine, options={"strict": True}),
        replace(engine, file=find_engine(str(path))),
        replace(engine, file=find_engine(miniature("refuse_all"))),
    ]
    identities = [each.identity for each in (engine, *others)]
    assert len(set(identities)) == len(identities)
    assert replace(engine, interpreter="/elsewhere/python").identity == engine.identity


_UNITS = 30
_SCRIPT = """
import sys
from pathlib import Path
from tests.evaluation.measuring import measured, miniature
from tests.faults.measuring.test_measuring_faults import request
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
    measured = ("compile_ns", "compile_waited_ns", "first_mask_ns", "calibration_ns")
    none: dict[str, Any] = dict.fromkeys((*measured, "rss_bytes", "quiet"))
    return replace(row, walks=walks, **none)


def _same(run: RecordedRun, other: RecordedRun) -> None:
    assert list(map(_timeless, run.rows())) == list(map(_timeless, other.rows()))


def _fingerprints(folder: Path) -> list[str]:
    """Return the fingerprints of all lines there are, in the file's order."""
    (lines,) = (folder / "run").glob("attempts.jsonl")
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
    lines = tmp_path / "run" / "attempts.jsonl"

    def kill() -> None:
        for _ in range(10):
            # A case has had its row since the last time: never the same one four times.
            size = lines.stat().st_size if lines.exists() else 0
            while not (lines.exists() and lines.stat().st_size > size):
                if over.wait(0.01):
                    return
            over.wait(chance.uniform(0.0, 0.3))
            with suppress(psutil.NoSuchProcess):
                for child in engine_processes(os.getpid()):
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

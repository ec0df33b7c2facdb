"""Suites whose folder is in S3, in a store in trouble or with a driver killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from evaluation.core.suite_records import SuiteRecord
from evaluation.suite_runs.records import encode_records
from tests.evaluation.servers.loopback import answer, loopback
from tests.faults.measuring.s3_commands import (
    RUN,
    csbdata,
    environment,
    merged_ids,
    store_with_bucket,
)

pytestmark = pytest.mark.slow
pytest.importorskip("s3fs", reason="csbdata[s3] is not installed")
pytest.importorskip("moto", reason="moto is not installed")

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from tests.evaluation.servers.loopback import Said
    from tests.store_server import FaultyStore

_RECORDS = 8
_PATIENCE = 120.0


@pytest.fixture
def store() -> Iterator[FaultyStore]:
    """A store with one empty bucket."""
    with store_with_bucket() as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with records."""
    records = (
        SuiteRecord(id=f"r{number}", schema='{"type": "object"}')
        for number in range(_RECORDS)
    )
    (tmp_path / "records.jsonl").write_bytes(encode_records(records))
    return tmp_path


def _words(folder: Path, base: str) -> list[str]:
    words = [sys.executable, "-m", "curation", "suite", "passrate", "run"]
    words += ["--data", str(folder / "records.jsonl"), "--jobs", "1", "--run-dir", RUN]
    return [*words, "--batch", "2", "--model", f"{base}#small", "--format", "json"]


def _all() -> list[str]:
    return [f"r{number}" for number in range(_RECORDS)]


def _kill_driver(store: FaultyStore, folder: Path, words: list[str], sent: str) -> None:
    """Run a driver until it sends its first batch of a kind, and kill it."""
    with subprocess.Popen(
        words,
        cwd=folder,
        env=environment(store, folder, "cache"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as driver:
        end = time.monotonic() + _PATIENCE
        while not any(
            method == "PUT" and sent in path for method, path in list(store.asked)
        ):
            assert driver.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        driver.send_signal(signal.SIGKILL)


def test_a_suite_is_run_into_a_store_in_trouble(
    store: FaultyStore, folder: Path
) -> None:
    """503s, lost answers, lists that lag; what a full store refused is sent later."""
    with loopback(lambda _body, _number: answer("{}")) as server:
        words = _words(folder, server.base)
        store.refusals, store.refusal = (
            10**6,
            (507, "XMinioStorageFull", "Storage Full"),
        )
        store.refused = lambda method, path: method == "PUT" and "responses-" in path
        full = csbdata(store, folder, words)
        assert full.returncode == 73, full.stderr
        assert "make room there" in full.stderr.splitlines()[-1]
        store.refusals, store.lost_answers = 2, 1
        store.refusal = (503, "SlowDown", "Please reduce your request rate.")
        store.refused = lambda _method, _path: True
        store.unlisted = (b"responses-", b"units-")
        done = csbdata(store, folder, words)
        assert done.returncode == 0, done.stderr
        assert f"0 answers written now, {_RECORDS} found there" in done.stderr
        assert len(server.asked) == _RECORDS
    assert merged_ids(store, folder) == _all()


@pytest.mark.parametrize("cache", ["cache", "another machine's"])
def test_a_driver_killed_while_a_model_answers_is_followed_by_another(
    store: FaultyStore, folder: Path, cache: str
) -> None:
    """What was sent is not asked for again; every record is scored once."""
    killed = threading.Event()

    def reply(_body: dict[str, Any], number: int) -> Said:
        if number >= _RECORDS // 2:
            killed.wait(_PATIENCE)
        return answer("{}")

    with loopback(reply) as server:
        words = _words(folder, server.base)
        _kill_driver(store, folder, words, "responses-")
        under_way = len(server.asked) - _RECORDS // 2
        killed.set()
        done = csbdata(store, folder, words, cache)
        assert done.returncode == 0, done.stderr
        assert "4 answers written now, 4 found there" in done.stderr
        assert len(server.asked) == _RECORDS + under_way
    assert merged_ids(store, folder) == _all()


@pytest.mark.parametrize("cache", ["cache", "another machine's"])
def test_a_driver_killed_while_it_sends_scores_is_followed_by_another(
    store: FaultyStore, folder: Path, cache: str
) -> None:
    """No record is asked for again, and none has two rows, whether or not they came."""
    with loopback(lambda _body, _number: answer("{}")) as server:
        words = _words(folder, server.base)
        store.put_seconds = 0.2
        _kill_driver(store, folder, words, "units-")
        store.put_seconds = 0.0
        done = csbdata(store, folder, words, cache)
        assert done.returncode == 0, done.stderr
        assert f"0 answers written now, {_RECORDS} found there" in done.stderr
        assert len(server.asked) == _RECORDS
    assert merged_ids(store, folder) == _all()

"""Runs whose folder is in S3, on a store in which much goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest

import curation
from evaluation.core.suite_records import SuiteRecord
from evaluation.suite_runs.records import encode_records
from tests.evaluation.measuring import miniature
from tests.evaluation.servers.loopback import answer, loopback
from tests.evaluation.tokenizers import made

pytestmark = pytest.mark.slow
pytest.importorskip("s3fs", reason="csbdata[s3] is not installed")
_SERVER = pytest.importorskip("tests.store_server", reason="moto is not installed")

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.store_server import FaultyStore

_ROOT = Path(curation.__file__).parents[1]
_RUN = "s3://bucket/runs/one"
_SCHEMAS = 40
#: Both made up; the first has the form of AWS's own.
_KEY, _SECRET = "AKIA" + "Q3EGRZ7XVN2WDKLB", "s3cr3t" * 6


@pytest.fixture
def store() -> Iterator[FaultyStore]:
    """A store with one empty bucket."""
    with _SERVER.serving() as found:
        request = urllib.request.Request(f"{found.url}/bucket", method="PUT")  # noqa: S310 - our own, on loopback
        urllib.request.urlopen(request).close()  # noqa: S310 - the same
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with schemas, one of which crashes its engine, and a tokenizer."""
    (tmp_path / "schemas").mkdir()
    for number in range(_SCHEMAS):
        title = "crash" if number == 7 else f"o{number}"
        text = orjson.dumps({"title": title, "type": "object"})
        (tmp_path / "schemas" / f"{number}.json").write_bytes(text)
    made.byte_level(tmp_path / "tokenizer")
    return tmp_path


def _environment(store: FaultyStore, folder: Path, cache: str) -> dict[str, str]:
    own = {
        "AWS_ENDPOINT_URL": store.url,
        "AWS_ACCESS_KEY_ID": _KEY,
        "AWS_SECRET_ACCESS_KEY": _SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
        # What these libraries try again by themselves is not what is looked at.
        "AWS_MAX_ATTEMPTS": "1",
        "CSBDATA_CACHE": str(folder / cache),
        "PYTHONPATH": str(_ROOT),
    }
    return {**os.environ, **own}


def _words(*more: str) -> list[str]:
    words = [sys.executable, "-m", "curation", "eval", "--engine", miniature("crash")]
    words += ["--task", "declared", "--data", "schemas", "--tokenizer", "tokenizer"]
    return [*words, "--format", "json", "--run-dir", _RUN, *more]


def _csbdata(
    store: FaultyStore, folder: Path, words: list[str], cache: str = "cache"
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        words,
        cwd=folder,
        env=_environment(store, folder, cache),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert _SECRET not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def _merged(store: FaultyStore, folder: Path, out: str = "out") -> list[str]:
    """Return the ids of the merged run, with a cache that knows nothing."""
    words = [sys.executable, "-m", "curation", "results", "merge", _RUN]
    words += ["--out", out, "--format", "json"]
    done = _csbdata(store, folder, words, f"cache-of-{out}")
    assert done.returncode == 0, done.stderr
    lines = (folder / out / "units-1-of-1.jsonl").read_bytes().splitlines()
    return sorted(orjson.loads(line)["id"] for line in lines)


def _all() -> list[str]:
    return sorted(str(number) for number in range(_SCHEMAS))


def test_a_run_in_s3_is_whole_and_hides_its_keys(
    store: FaultyStore, folder: Path
) -> None:
    """Every unit once; neither its output nor any object has a credential."""
    done = _csbdata(store, folder, _words())
    assert done.returncode == 0, done.stderr
    assert orjson.loads(done.stdout)["run"] == _RUN
    assert _merged(store, folder) == _all()
    for path in (folder / "cache").rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            assert _SECRET.encode() not in held
            assert _KEY.encode() not in held
    again = _csbdata(store, folder, _words())
    assert f"{_SCHEMAS} found in the folder" in again.stderr


def test_busy_slow_and_forgetful(store: FaultyStore, folder: Path) -> None:
    """503s, slow puts, answers that are lost and lists that lag change no row."""
    store.refusals, store.put_seconds, store.lost_answers = 2, 0.3, 1
    store.unlisted = (b"units-",)
    done = _csbdata(store, folder, _words())
    assert done.returncode == 0, done.stderr
    assert store.lost_answers == 0
    assert _merged(store, folder) == _all()


@pytest.mark.parametrize(
    ("refusal", "code", "words"),
    [
        ((503, "SlowDown", "Please reduce your request rate."), 75, "request rate"),
        ((507, "XMinioStorageFull", "Storage Full"), 73, "make room there"),
        (
            (
                403,
                "RequestTimeTooSkewed",
                "The difference between the request time and the current time is large",
            ),
            77,
            "request time and the current time",
        ),
    ],
)
def test_a_store_that_refuses_ends_the_run_in_one_line(
    store: FaultyStore,
    folder: Path,
    refusal: tuple[int, str, str],
    code: int,
    words: str,
) -> None:
    """And loses nothing: when it takes rows again, the same command sends them."""
    store.refusals, store.refusal = 10**6, refusal
    store.refused = lambda method, path: method == "PUT" and "units-" in path
    done = _csbdata(store, folder, _words())
    assert done.returncode == code, done.stderr
    assert words in done.stderr.splitlines()[-1]
    assert _RUN in done.stderr.splitlines()[-1]
    store.refusals = 0
    again = _csbdata(store, folder, _words())
    assert again.returncode == 0, again.stderr
    assert f"{_SCHEMAS} found in the folder" in again.stderr
    assert _merged(store, folder) == _all()


def test_a_suite_is_run_into_a_store_in_trouble(
    store: FaultyStore, folder: Path
) -> None:
    """503s, lost answers, lists that lag; what a full store refused is sent later."""
    words = [sys.executable, "-m", "curation", "suite", "passrate", "run"]
    words += ["--data", str(folder / "records.jsonl"), "--jobs", "1", "--run-dir", _RUN]
    records = [
        SuiteRecord(id=f"r{number}", schema='{"type": "object"}') for number in range(4)
    ]
    (folder / "records.jsonl").write_bytes(encode_records(records))
    with loopback(lambda _body, _number: answer("{}")) as server:
        words += ["--model", f"{server.base}#small", "--format", "json"]
        store.refusals, store.refusal = (
            10**6,
            (507, "XMinioStorageFull", "Storage Full"),
        )
        store.refused = lambda method, path: method == "PUT" and "responses-" in path
        full = _csbdata(store, folder, words)
        assert full.returncode == 73, full.stderr
        assert "make room there" in full.stderr.splitlines()[-1]
        store.refusals, store.lost_answers = 2, 1
        store.refusal = (503, "SlowDown", "Please reduce your request rate.")
        store.refused = lambda _method, _path: True
        store.unlisted = (b"responses-", b"units-")
        done = _csbdata(store, folder, words)
        assert done.returncode == 0, done.stderr
        assert "0 answers written now, 4 found there" in done.stderr
        assert len(server.asked) == 4
    assert _merged(store, folder) == [f"r{number}" for number in range(4)]


def test_no_bucket_is_said(store: FaultyStore, folder: Path) -> None:
    """Before anything is measured."""
    words = _words()
    words[words.index(_RUN)] = "s3://nowhere/run"
    done = _csbdata(store, folder, words)
    assert done.returncode == 66, done.stderr
    assert "bucket does not exist" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_driver_that_is_stopped_is_followed_by_another(
    store: FaultyStore, folder: Path, number: signal.Signals
) -> None:
    """Ctrl-C leaves no lock; a kill one whose count stands still. Another machine."""
    store.put_seconds = 0.2
    words = _words("--jobs", "1")
    with subprocess.Popen(
        words,
        cwd=folder,
        env=_environment(store, folder, "cache"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as driver:
        end = time.monotonic() + 120
        while not any("/run.json" in path for _, path in store.asked):
            assert time.monotonic() < end
            time.sleep(0.05)
        second = _csbdata(store, folder, words, "other-cache")
        assert second.returncode in {0, 75}
        if second.returncode:
            assert "another run" in second.stderr.splitlines()[-1]
        driver.send_signal(number)
        driver.wait(60)
    after = _csbdata(store, folder, words, "other-cache")
    assert after.returncode == 0, after.stderr
    assert _merged(store, folder) == _all()

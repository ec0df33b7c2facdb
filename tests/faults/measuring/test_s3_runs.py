"""Runs whose folder is in S3, on a store in which much goes wrong."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import orjson
import pytest

from tests.evaluation.measuring import miniature
from tests.evaluation.tokenizers import made
from tests.faults.measuring.s3_commands import (
    KEY,
    RUN,
    SECRET,
    csbdata,
    environment,
    merged_ids,
    store_with_bucket,
)
from tests.waiting import wait_until

pytestmark = pytest.mark.slow
pytest.importorskip("s3fs", reason="csbdata[s3] is not installed")
pytest.importorskip("moto", reason="moto is not installed")

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.store_server import FaultyStore

_SCHEMAS = 40


@pytest.fixture
def store() -> Iterator[FaultyStore]:
    """A store with one empty bucket."""
    with store_with_bucket() as found:
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


def _words(*more: str) -> list[str]:
    words = [sys.executable, "-m", "curation", "eval", "--engine", miniature("crash")]
    words += ["--task", "declared", "--data", "schemas", "--tokenizer", "tokenizer"]
    return [*words, "--format", "json", "--run-dir", RUN, *more]


def _all() -> list[str]:
    return sorted(str(number) for number in range(_SCHEMAS))


def test_a_run_in_s3_is_whole_and_hides_its_keys(
    store: FaultyStore, folder: Path
) -> None:
    """Every unit once; neither its output nor any object has a credential."""
    done = csbdata(store, folder, _words())
    assert done.returncode == 0, done.stderr
    assert orjson.loads(done.stdout)["run"] == RUN
    assert merged_ids(store, folder) == _all()
    for path in (folder / "cache").rglob("*"):
        if path.is_file():
            held = path.read_bytes()
            assert SECRET.encode() not in held
            assert KEY.encode() not in held
    again = csbdata(store, folder, _words())
    assert f"{_SCHEMAS} found in the folder" in again.stderr


def test_a_run_is_merged_and_exported_into_a_bucket(
    store: FaultyStore, folder: Path
) -> None:
    """What lies there is read from there; a full store ends in one line."""
    assert csbdata(store, folder, _words()).returncode == 0
    results = [sys.executable, "-m", "curation", "results"]
    whole = "s3://bucket/whole"
    store.refusals = 2
    done = csbdata(store, folder, [*results, "merge", RUN, "--out", whole])
    assert done.returncode == 0, done.stderr
    shown = [
        csbdata(store, folder, [*results, "show", place, "--failures"], cache)
        for place, cache in ((RUN, "one"), (whole, "other"))
    ]
    assert shown[0].stdout == shown[1].stdout != ""
    export = [*results, "export", whole, "--as", "csv", "--out", "s3://bucket/csv"]
    done = csbdata(store, folder, export)
    assert "s3://bucket/csv/units.csv" in done.stdout.splitlines()
    store.refusals, store.refusal = 10**6, (507, "XMinioStorageFull", "Storage Full")
    store.refused = lambda method, path: method == "PUT" and "/csv/" in path
    done = csbdata(store, folder, export)
    assert done.returncode == 73, done.stderr
    assert "s3://bucket/csv" in done.stderr.splitlines()[-1]


def test_busy_slow_and_forgetful(store: FaultyStore, folder: Path) -> None:
    """503s, slow puts, answers that are lost and lists that lag change no row."""
    store.refusals, store.put_seconds, store.lost_answers = 2, 0.3, 1
    store.unlisted = (b"units-",)
    done = csbdata(store, folder, _words())
    assert done.returncode == 0, done.stderr
    assert store.lost_answers == 0
    assert merged_ids(store, folder) == _all()


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
    done = csbdata(store, folder, _words())
    assert done.returncode == code, done.stderr
    assert words in done.stderr.splitlines()[-1]
    assert RUN in done.stderr.splitlines()[-1]
    store.refusals = 0
    again = csbdata(store, folder, _words())
    assert again.returncode == 0, again.stderr
    assert f"{_SCHEMAS} found in the folder" in again.stderr
    assert merged_ids(store, folder) == _all()


def test_no_bucket_is_said(store: FaultyStore, folder: Path) -> None:
    """Before anything is measured."""
    words = _words()
    words[words.index(RUN)] = "s3://nowhere/run"
    done = csbdata(store, folder, words)
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
        env=environment(store, folder, "cache"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as driver:
        wait_until(lambda: any("/run.json" in path for _, path in store.asked), 120)
        second = csbdata(store, folder, words, "other-cache")
        assert second.returncode in {0, 75}
        if second.returncode:
            assert "another run" in second.stderr.splitlines()[-1]
        driver.send_signal(number)
        driver.wait(60)
    after = csbdata(store, folder, words, "other-cache")
    assert after.returncode == 0, after.stderr
    assert merged_ids(store, folder) == _all()

"""Two Ray nodes give the bytes of one machine, one of them killed or not."""

from __future__ import annotations

import filecmp
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest

import curation
from tests.evaluation.measuring import miniature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow
pytest.importorskip("ray", reason="csbdata[ray] is not installed")

_ROOT = Path(curation.__file__).parents[1]
_PATIENCE = 240.0


class _Nodes:
    """A running `tests/ray_nodes.py`.

    It is Ray alone, which gives up where its parts start too slowly: a machine on which
    it does says nothing of ours, and the test is skipped with its last words.
    """

    def __init__(self, process: subprocess.Popen[str], words: Path) -> None:
        self._process = process
        self._words = words
        self.address = self._read()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            last = self._words.read_text("utf-8", "replace").splitlines()[-1:]
            pytest.skip(f"not run: Ray's own nodes ended: {''.join(last)}")
        return line

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        assert self._read() == line.split(maxsplit=1)[0]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Nodes]:
    """Two nodes of one CPU each."""
    words = tmp_path_factory.mktemp("nodes") / "stderr"
    with words.open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, str(_ROOT / "tests" / "ray_nodes.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
    with process:
        found = _Nodes(process, words)
        yield found
        assert process.stdin is not None
        process.stdin.close()
        process.wait(_PATIENCE)


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "curation", *words]


def _csbdata(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(*words),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        check=False,
    )


@contextmanager
def _started(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        _command(*words),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        yield process


def _wait_until(there: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE
    while not there() and time.monotonic() < end:
        time.sleep(0.05)
    assert there()


def _same_bytes(first: Path, second: Path) -> None:
    names = sorted(
        path.relative_to(first).as_posix()
        for path in first.rglob("*")
        if path.is_file()
    )
    others = sorted(
        path.relative_to(second).as_posix()
        for path in second.rglob("*")
        if path.is_file()
    )
    assert names == others
    assert filecmp.cmpfiles(first, second, names, shallow=False)[0] == names


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, built by child processes."""
    folder = tmp_path_factory.mktemp("local")
    built = _csbdata(folder, "build", "--sample", "--out", "here", "--jobs", "2")
    assert built.returncode == 0, built.stderr
    return folder / "here"


def _ray(nodes: _Nodes) -> list[str]:
    return ["--executor", "ray", "--address", nodes.address]


def test_a_build_on_two_nodes_has_the_same_bytes(
    tmp_path: Path, nodes: _Nodes, local: Path
) -> None:
    """Every file of the folder."""
    words = ["build", "--sample", "--out", "there", *_ray(nodes)]
    built = _csbdata(tmp_path, *words)
    assert built.returncode == 0, built.stderr
    assert "Ray: 2 workers on 2 nodes" in built.stderr
    _same_bytes(local, tmp_path / "there")


def test_a_driver_that_is_killed_goes_on_with_the_same_bytes(
    tmp_path: Path, nodes: _Nodes, local: Path
) -> None:
    """The batches that were finished are found again."""
    words = ["build", "--sample", "--out", "there", *_ray(nodes)]
    done = tmp_path / "there.run" / "completions"
    with _started(tmp_path, *words) as driver:
        _wait_until(lambda: any(done.glob("*/batch-*")))
        driver.send_signal(signal.SIGKILL)
    built = _csbdata(tmp_path, *words)
    assert built.returncode == 0, built.stderr
    _same_bytes(local, tmp_path / "there")


def test_a_run_on_two_nodes_has_the_rows_of_one_machine(
    tmp_path: Path, nodes: _Nodes
) -> None:
    """A crash among them; what the engine's process does never ends its actor."""
    data = tmp_path / "schemas"
    data.mkdir()
    for number in range(40):
        title = "crash" if number in {7, 23} else f"o{number}"
        text = orjson.dumps({"title": title, "type": "object"})
        (data / f"{number}.json").write_bytes(text)
    words = ["eval", "--engine", miniature("crash"), "--task", "declared"]
    words += ["--data", str(data), "--format", "json"]
    here = _csbdata(tmp_path, *words, "--run-dir", "here", "--jobs", "2")
    assert here.returncode == 0, here.stderr
    there = _csbdata(tmp_path, *words, "--run-dir", "there", *_ray(nodes))
    assert there.returncode == 0, there.stderr
    assert _rows(tmp_path / "here") == _rows(tmp_path / "there")
    assert sum("crash" in row for row in _rows(tmp_path / "there")) == 2
    head = orjson.loads((tmp_path / "there" / "run.json").read_bytes())
    assert head["executor"]["nodes"] == 2
    assert head["executor"]["exclusive"] is False


def _rows(folder: Path) -> list[tuple[str, ...]]:
    """Return who came to what, and by which fingerprint; times are left out."""
    (path,) = folder.glob("units-*.jsonl")
    rows = map(orjson.loads, path.read_bytes().splitlines())
    return sorted((row["id"], row["result"], row["fingerprint"]) for row in rows)


def test_a_node_with_other_code_is_refused(tmp_path: Path, nodes: _Nodes) -> None:
    """One line that names it, before anything is measured."""
    copy = tmp_path / "copy"
    for name in ("curation", "evaluation", "raw", "cards"):
        shutil.copytree(
            _ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    with (copy / "curation" / "core" / "rule.py").open("a", encoding="utf-8") as file:
        file.write("# another version\n")
    nodes.tell("kill")
    nodes.tell(f"add {copy}")
    said = _csbdata(tmp_path, "build", "--sample", "--out", "x", *_ray(nodes))
    nodes.tell("kill")
    nodes.tell("add")
    assert said.returncode == 78
    assert "other code of csbdata than here" in said.stderr.splitlines()[-1]
    assert "Traceback" not in said.stderr


def test_a_node_killed_on_the_way_is_said_and_costs_nothing(
    tmp_path: Path, nodes: _Nodes, local: Path
) -> None:
    """What it was on is done again; last, since the node does not come back."""
    words = ["build", "--sample", "--out", "there", *_ray(nodes)]
    done = tmp_path / "there.run" / "completions"
    with _started(tmp_path, *words) as driver:
        _wait_until(lambda: any(done.glob("*/batch-*")))
        nodes.tell("kill")
        printed, _ = driver.communicate(timeout=_PATIENCE)
    assert driver.returncode == 0, printed
    assert "was lost; what it was on is done again" in printed
    _same_bytes(local, tmp_path / "there")

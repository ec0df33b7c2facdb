"""Two Ray nodes give the bytes of one machine, one of them killed or not."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.faults.kill_points import tree
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="csbdata[ray] is missing"),
]


ROOT = Path(__file__).parents[3]
#: Seconds after which a process is given up.
PATIENCE = 240.0


class Nodes:
    """A `ray_nodes.py`, started anew where Ray's own nodes gave up.

    It is Ray alone, which gives up where its parts start too slowly: a machine on which
    it does so time after time says nothing of ours, and the test is skipped with Ray's
    last words (continuous integration does not accept that).
    """

    def __init__(self, folder: Path) -> None:
        """Start nothing yet; the folder is for what Ray says."""
        self._words = folder / "stderr"
        self._process: subprocess.Popen[str] | None = None
        self.address = ""

    def start(self) -> None:
        """Start them if they are not alive, at most three times."""
        for _ in range(3):
            if self._process and self._process.poll() is None:
                return
            self.end()
            with self._words.open("wb") as errors:
                self._process = subprocess.Popen(
                    [sys.executable, str(Path(__file__).with_name("ray_nodes.py"))],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                    start_new_session=True,
                )
            self.address = self._read()
            if self.address:
                return
        self._skip()

    def _read(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def _skip(self) -> None:
        last = self._words.read_text("utf-8", "replace").splitlines()[-1:]
        pytest.skip(f"not run: Ray's own nodes ended: {''.join(last)}")

    def tell(self, line: str) -> None:
        """Have a word of `ray_nodes.py` carried out."""
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        if self._read() != line.split(maxsplit=1)[0]:
            self._skip()

    def end(self) -> None:
        """End what was started, and what a node that failed has left running."""
        if self._process is not None:
            self._process.communicate(timeout=PATIENCE)
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """Two nodes of one CPU each, or none yet."""
    found = Nodes(tmp_path_factory.mktemp("nodes"))
    yield found
    found.end()


@pytest.fixture
def nodes(kept: Nodes) -> Iterator[Nodes]:
    """Two nodes of one CPU each, which the test may leave in any state."""
    kept.start()
    yield kept
    kept.tell("mend")


@contextmanager
def _started(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "curation", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        yield process


def _csbdata(folder: Path, *words: str) -> tuple[int, str]:
    """Return the exit code of a command and what it said."""
    with _started(folder, *words) as process:
        said, _ = process.communicate(timeout=PATIENCE)
        return process.returncode, said


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, built by child processes."""
    folder = tmp_path_factory.mktemp("local")
    words = ["build", "--sample", "--out", "here", "--jobs", "2"]
    code, said = _csbdata(folder, *words)
    assert code == 0, said
    return folder / "here"


def _ray(nodes: Nodes) -> list[str]:
    return ["--executor", f"ray:{nodes.address}"]


def test_a_build_on_two_nodes_has_the_same_bytes(
    tmp_path: Path, nodes: Nodes, local: Path
) -> None:
    """Every file of the folder."""
    words = ["build", "--sample", "--out", "there", *_ray(nodes)]
    code, said = _csbdata(tmp_path, *words)
    assert code == 0, said
    assert re.search(r"Ray: [12] nodes?, [12] CPUs?", said)
    assert tree(tmp_path / "there") == tree(local)


def test_a_driver_that_is_killed_goes_on_with_the_same_bytes(
    tmp_path: Path, nodes: Nodes, local: Path
) -> None:
    """The batches that were finished are not worked on again."""
    words = ["build", "--sample", "--out", "there", *_ray(nodes)]
    done = tmp_path / "there.run" / "completions"
    with _started(tmp_path, *words) as driver:
        wait_until(lambda: any(done.glob("*/batch-*")), PATIENCE)
        driver.send_signal(signal.SIGKILL)
    stamps = {file: file.stat().st_mtime_ns for file in done.glob("*/batch-*")}
    code, said = _csbdata(tmp_path, *words)
    assert code == 0, said
    assert stamps == {file: file.stat().st_mtime_ns for file in stamps}
    assert tree(tmp_path / "there") == tree(local)


def test_a_node_with_other_code_is_refused(tmp_path: Path, nodes: Nodes) -> None:
    """One line that names it, before anything is measured."""
    copy = tmp_path / "copy"
    for name in ("curation", "evaluation", "raw", "cards"):
        shutil.copytree(
            ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    with (copy / "curation" / "core" / "rule.py").open("a", encoding="utf-8") as file:
        file.write("# another version\n")
    nodes.tell("kill")
    nodes.tell(f"add {copy}")
    code, said = _csbdata(tmp_path, "build", "--sample", "--out", "x", *_ray(nodes))
    assert code == 78
    # Ray may say more of the node that is gone.
    assert re.search(r"^csbdata: .*has code \w+, not", said, re.MULTILINE)
    assert "Traceback" not in said


def test_a_node_killed_on_the_way_is_said_and_costs_nothing(
    tmp_path: Path, nodes: Nodes, local: Path
) -> None:
    """What it was on is done again."""
    words = ["build", "--sample", "--out", "there", *_ray(nodes)]
    with _started(tmp_path, *words) as driver:
        assert driver.stdout is not None
        # Every node has its first batch then, and starts a worker for it.
        assert any(line.startswith("Ray: ") for line in driver.stdout)
        nodes.tell("kill")
        printed, _ = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 0, printed
    assert "was lost; its batches are run again" in printed
    assert tree(tmp_path / "there") == tree(local)

"""Two Ray nodes give the bytes of one machine, one of them killed or not."""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.faults.ray_cluster import PATIENCE, ROOT, KeptNodes, Nodes
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="csbdata[ray] is missing"),
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeptNodes]:
    """Two nodes of one CPU each, or none yet."""
    found = KeptNodes(tmp_path_factory.mktemp("nodes"))
    yield found
    found.end()


@pytest.fixture
def nodes(kept: KeptNodes) -> Iterator[Nodes]:
    """Two nodes of one CPU each, which the test may leave in any state."""
    found = kept.nodes()
    yield found
    found.tell("mend")


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "curation", *words]


def _csbdata(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(*words),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@contextmanager
def _started(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        _command(*words),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        yield process


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


def _ray(nodes: Nodes) -> list[str]:
    return ["--executor", f"ray:{nodes.address}"]


def test_a_build_on_two_nodes_has_the_same_bytes(
    tmp_path: Path, nodes: Nodes, local: Path
) -> None:
    """Every file of the folder."""
    words = ["build", "--sample", "--out", "there", *_ray(nodes)]
    built = _csbdata(tmp_path, *words)
    assert built.returncode == 0, built.stderr
    assert re.search(r"Ray: (\d+) of \1 shards to do on \d nodes?", built.stderr)
    _same_bytes(local, tmp_path / "there")


def test_a_driver_that_is_killed_goes_on_with_the_same_bytes(
    tmp_path: Path, nodes: Nodes, local: Path
) -> None:
    """The shards that were finished are not worked on again."""
    words = ["build", "--sample", "--out", "there", *_ray(nodes)]
    done = tmp_path / "there.run" / "ray" / "finished"
    with _started(tmp_path, *words) as driver:
        wait_until(lambda: any(done.glob("*/[0-9]*")), PATIENCE)
        driver.send_signal(signal.SIGKILL)
    built = _csbdata(tmp_path, *words)
    assert built.returncode == 0, built.stderr
    # A node that another test has killed may still count when the shards are cut.
    left = re.search(r"Ray: (\d+) of (\d+) shards to do on \d nodes?", built.stderr)
    assert left, built.stderr
    assert int(left[1]) < int(left[2])
    _same_bytes(local, tmp_path / "there")


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
    said = _csbdata(tmp_path, "build", "--sample", "--out", "x", *_ray(nodes))
    assert said.returncode == 78
    assert "other code of csbdata than here" in said.stderr.splitlines()[-1]
    assert "Traceback" not in said.stderr


def test_a_node_killed_on_the_way_is_said_and_costs_nothing(
    tmp_path: Path, nodes: Nodes, local: Path
) -> None:
    """What it was on is done again."""
    words = ["build", "--sample", "--out", "there", *_ray(nodes)]
    done = tmp_path / "there.run" / "ray" / "finished"
    with _started(tmp_path, *words) as driver:
        # Before a shard is done: a quick build may end before the loss is noticed.
        wait_until(lambda: any(done.glob("*/parts")), PATIENCE)
        nodes.tell("kill")
        printed, _ = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 0, printed
    assert "was lost; its shards are run again" in printed
    _same_bytes(local, tmp_path / "there")

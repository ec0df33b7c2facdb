"""Two Ray nodes give the bytes of one machine, one of them killed or not."""

from __future__ import annotations

import filecmp
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import orjson
import pytest

from evaluation.generation.generation_rows import text_from_row
from evaluation.results.reader import open_run
from tests.evaluation.measuring import miniature
from tests.evaluation.small_model import small_model
from tests.faults.ray_cluster import PATIENCE, ROOT, KeptNodes, Nodes
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow
pytest.importorskip("ray", reason="csbdata[ray] is not installed")


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
    return ["--executor", "ray", "--address", nodes.address]


def test_a_build_on_two_nodes_has_the_same_bytes(
    tmp_path: Path, nodes: Nodes, local: Path
) -> None:
    """Every file of the folder."""
    words = ["build", "--sample", "--out", "there", *_ray(nodes)]
    built = _csbdata(tmp_path, *words)
    assert built.returncode == 0, built.stderr
    assert "Ray: 2 workers on 2 nodes" in built.stderr
    _same_bytes(local, tmp_path / "there")


def test_a_driver_that_is_killed_goes_on_with_the_same_bytes(
    tmp_path: Path, nodes: Nodes, local: Path
) -> None:
    """The batches that were finished are found again."""
    words = ["build", "--sample", "--out", "there", *_ray(nodes)]
    done = tmp_path / "there.run" / "completions"
    with _started(tmp_path, *words) as driver:
        wait_until(lambda: any(done.glob("*/batch-*")), PATIENCE)
        driver.send_signal(signal.SIGKILL)
    built = _csbdata(tmp_path, *words)
    assert built.returncode == 0, built.stderr
    _same_bytes(local, tmp_path / "there")


def test_a_run_on_two_nodes_has_the_rows_of_one_machine(
    tmp_path: Path, nodes: Nodes
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


_SCHEMAS = {
    "ferry": {"enum": ["upper", "lower"]},
    "tide": {"type": "object", "properties": {"up": {"type": "boolean"}}},
    "odd": {"type": "array", "uniqueItems": True, "items": {"type": "null"}},
    "deep": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
}


def test_a_model_on_two_nodes_writes_the_texts_of_one_machine(
    tmp_path: Path, nodes: Nodes
) -> None:
    """Two copies of it, each under both engines; the same command finds all rows."""
    data = tmp_path / "schemas"
    data.mkdir()
    for name, schema in _SCHEMAS.items():
        (data / f"{name}.json").write_bytes(orjson.dumps(schema))
    words = ["eval", "--engine", "llguidance", "--engine", "none", "--task", "coverage"]
    words += ["--model", str(small_model(tmp_path / "model")), "--dtype", "fp32"]
    words += ["--device", "cpu", "--data", str(data), "--budget", "40"]
    words += ["--format", "json"]
    here = _csbdata(tmp_path, *words, "--run-dir", "here")
    assert here.returncode == 0, here.stderr
    there = _csbdata(tmp_path, *words, "--run-dir", "there", *_ray(nodes))
    assert there.returncode == 0, there.stderr
    assert _texts(tmp_path / "here") == _texts(tmp_path / "there")
    assert len(_texts(tmp_path / "there")) == 2 * len(_SCHEMAS)
    again = _csbdata(tmp_path, *words, "--run-dir", "there", *_ray(nodes))
    assert "8 found in the folder" in again.stderr


def test_a_node_lost_under_a_model_costs_no_text(tmp_path: Path, nodes: Nodes) -> None:
    """What its copy was on is written by the one that is left, and that is said."""
    data = tmp_path / "schemas"
    data.mkdir()
    # Every mask of these waits for 50 ms, on however fast a machine.
    for number in range(16):
        schema = {"title": f"slow-walk {number}", "type": "array"}
        (data / f"s{number}.json").write_bytes(orjson.dumps(schema))
    words = ["eval", "--engine", miniature("troubled"), "--task", "coverage"]
    words += ["--model", str(small_model(tmp_path / "model")), "--dtype", "fp32"]
    words += ["--device", "cpu", "--data", str(data), "--budget", "40"]
    here = _csbdata(tmp_path, *words, "--run-dir", "here")
    assert here.returncode == 0, here.stderr
    there = tmp_path / "there"
    with _started(tmp_path, *words, "--run-dir", "there", *_ray(nodes)) as driver:
        wait_until(
            lambda: any(path.stat().st_size for path in _unit_files(there)), PATIENCE
        )
        nodes.tell("kill")
        printed, _ = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 0, printed
    assert "was lost" in printed, printed
    assert _texts(tmp_path / "here") == _texts(there)


def _unit_files(folder: Path) -> list[Path]:
    return list(folder.glob("units-*.jsonl"))


def _texts(folder: Path) -> list[tuple[str, ...]]:
    """Return who wrote what, judged how, under which fingerprint; no times."""
    found = []
    for row in open_run(folder).rows():
        text = text_from_row(row)
        about = (row.engine, row.id, row.fingerprint, row.result.value)
        found.append((*about, text.generation.text, text.outcome.value))
    return sorted(found)


def test_a_suite_scored_on_two_nodes_has_the_verdicts_of_one_machine(
    tmp_path: Path, nodes: Nodes, local: Path
) -> None:
    """Of a model that writes here."""
    model = str(small_model(tmp_path / "model"))
    words = ["suite", "passrate", "run", "--model", model, "--engine", "llguidance"]
    words += [
        "--data",
        str(local),
        "--limit",
        "6",
        "--budget",
        "24",
        "--dtype",
        "fp32",
        "--device",
        "cpu",
    ]
    words += ["--format", "json"]
    here = _csbdata(tmp_path, *words, "--run-dir", "here", "--jobs", "1")
    assert here.returncode == 0, here.stderr
    there = _csbdata(tmp_path, *words, "--run-dir", "there", *_ray(nodes))
    assert there.returncode == 0, there.stderr
    verdicts = [
        sorted(
            (row.engine, row.id, orjson.dumps(row.label["verdicts"]))
            for row in open_run(tmp_path / name).rows()
        )
        for name in ("here", "there")
    ]
    assert verdicts[0] == verdicts[1]
    assert verdicts[0]


def test_a_node_whose_clock_is_a_day_ahead_gives_the_same_rows(
    tmp_path: Path, nodes: Nodes
) -> None:
    """No time of a node is compared with another's."""
    ahead = "import time\n_now = time.time\ntime.time = lambda: _now() + 86_400\n"
    (tmp_path / "sitecustomize.py").write_text(ahead, "utf-8")
    data = tmp_path / "schemas"
    data.mkdir()
    for name, schema in _SCHEMAS.items():
        (data / f"{name}.json").write_bytes(orjson.dumps(schema))
    words = ["eval", "--engine", miniature("accept_all"), "--task", "declared"]
    words += ["--data", str(data), "--format", "json"]
    here = _csbdata(tmp_path, *words, "--run-dir", "here", "--jobs", "2")
    assert here.returncode == 0, here.stderr
    nodes.tell("kill")
    nodes.tell(f"add {tmp_path}")
    there = _csbdata(tmp_path, *words, "--run-dir", "there", *_ray(nodes))
    assert there.returncode == 0, there.stderr
    assert _rows(tmp_path / "here") == _rows(tmp_path / "there")


def test_ctrl_c_and_a_second_driver_are_one_line_each(
    tmp_path: Path, nodes: Nodes
) -> None:
    """Nothing lost, nothing twice: the same command then does what is left."""
    data = tmp_path / "schemas"
    data.mkdir()
    for number in range(400):
        text = orjson.dumps({"title": f"o{number}", "type": "object"})
        (data / f"{number}.json").write_bytes(text)
    words = ["eval", "--engine", miniature("accept_all"), "--task", "declared"]
    words += ["--data", str(data), "--format", "json", "--run-dir", "there"]
    words += _ray(nodes)
    lines = tmp_path / "there" / "units-1-of-1.jsonl"
    with _started(tmp_path, *words) as driver:
        wait_until(lambda: lines.exists() and lines.stat().st_size > 0, PATIENCE)
        second = _csbdata(tmp_path, *words)
        driver.send_signal(signal.SIGINT)
        printed, _ = driver.communicate(timeout=PATIENCE)
    assert driver.returncode in {0, 130}, printed
    assert "Traceback" not in printed
    if second.returncode:
        assert second.returncode == 75, second.stderr
        assert "another run is at work here" in second.stderr.splitlines()[-1]
    done = _csbdata(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert len({row[0] for row in _rows(tmp_path / "there")}) == 400
    assert len(_rows(tmp_path / "there")) == 400


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
    done = tmp_path / "there.run" / "completions"
    with _started(tmp_path, *words) as driver:
        wait_until(lambda: any(done.glob("*/batch-*")), PATIENCE)
        nodes.tell("kill")
        printed, _ = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 0, printed
    assert "was lost; what it was on is done again" in printed
    _same_bytes(local, tmp_path / "there")

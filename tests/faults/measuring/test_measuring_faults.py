"""F54, F58, F59: a noisy machine, a server that falls back, and a poisoned cache."""

from __future__ import annotations

import os
import pickle
import re
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import csbdata
from curation.system.errors import BadConfiguration, CsbdataError
from evaluation.results.conditions import check_participants
from evaluation.results.reader import open_run
from evaluation.setup.machine import usable_cores
from evaluation.walking.rows import build_row
from tests.evaluation.made_runs import many, write_run
from tests.evaluation.measuring import (
    MINIATURES,
    measured,
    miniature,
    request_of,
    sample,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
#: What may run code of others while it reads their bytes.
_POISONABLE = frozenset(
    {"pickle", "_pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
)
_IMPORT = re.compile(r"^\s*(?:import|from)\s+(\w+)", re.MULTILINE)


@pytest.fixture
def neighbour() -> Iterator[None]:
    """Keep busy, in other processes, every core: also that on which times are taken."""
    with ExitStack() as running:
        for core in usable_cores():
            code = f"import os; os.sched_setaffinity(0, [{core}])\nwhile True: pass"
            busy = running.enter_context(subprocess.Popen([sys.executable, "-c", code]))
            running.callback(busy.kill)
        yield


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux alone pins")
def test_f54_a_disturbed_case_is_flagged_and_counted(
    neighbour: None, tmp_path: Path
) -> None:
    """Its row says that it had not the core to itself, and the totals how many."""
    slow = tmp_path / "slow.py"
    slow.write_text(
        (MINIATURES / "accept_all.py").read_text("utf-8")
        + "\n\nimport time\n\n\ndef _spin(self, schema):\n"
        "    end = time.monotonic() + 0.5\n"
        "    while time.monotonic() < end:\n        pass\n    return schema\n\n\n"
        "_Engine.compile = _spin\n",
        "utf-8",
    )
    request = request_of(tmp_path, [sample("one", "{}")])
    totals, run = measured(tmp_path, [str(slow)], request)
    (row,) = run.rows()
    assert row.quiet is False
    assert totals.disturbed == 1


def test_f54_what_the_clock_costs_stands_beside_the_times(tmp_path: Path) -> None:
    """A time of 50 ns is none where a reading of the clock takes as long."""
    _, run = measured(
        tmp_path, [miniature("accept_all")], request_of(tmp_path, [sample("one", "{}")])
    )
    assert run.header.timer_ns
    (row,) = run.rows()
    assert row.quiet in {True, False}


def test_f54_nothing_is_said_of_a_case_that_nobody_watched() -> None:
    """A worker that died said nothing of its core: unknown is neither yes nor no."""
    from evaluation.core.cases import Case  # noqa: PLC0415 (here alone)

    case = Case(task="masks", id="x", config="Made", schema="{}")
    assert build_row("e", case, [], [None], None, "f").quiet is None


def _served(folder: Path, name: str, backend: str) -> Path:
    """Write a run of one server whose structured output comes from a backend."""
    label = "vllm small"
    head = {
        "csbdata": "0.1.0",
        "tasks": ["coverage"],
        "engines": [
            {
                "engine": label,
                "name": "vllm",
                "model": "small",
                "server": "http://127.0.0.1:8000/v1",
                "options": {"backend": backend},
            }
        ],
    }
    rows = [replace(row, id=f"{name}-{row.id}") for row in many(label, 3)]
    return write_run(folder / name, rows, head)


def test_f58_texts_of_two_backends_are_not_joined(tmp_path: Path) -> None:
    """One server that has fallen back to another library is another participant."""
    folders = [_served(tmp_path, "a", "xgrammar"), _served(tmp_path, "b", "outlines")]
    with pytest.raises(BadConfiguration, match=r"options .*outlines.*xgrammar"):
        check_participants([open_run(folder) for folder in folders])


def test_f58_another_backend_is_another_identity() -> None:
    """What one has written is not found as finished work of the other."""
    from evaluation.servers.client import ServerConnection  # noqa: PLC0415 (heavy)
    from evaluation.servers.model_server import server_participants  # noqa: PLC0415 (heavy)
    from evaluation.servers.provider import providers  # noqa: PLC0415 (heavy)

    provider = providers()["vllm"]
    connection = ServerConnection(base=provider.base, model="m", provider=provider)
    (server,) = server_participants(connection, ["strict"])
    told = [
        replace(server, about={"/server_info": {"vllm_config": _config(backend)}})
        for backend in ("xgrammar", "guidance")
    ]
    assert len({each.identity for each in (server, *told)}) == 3
    assert [each.header()["options"] for each in told] == [
        {"backend": "xgrammar"},
        {"backend": "guidance"},
    ]


def _config(backend: str) -> str:
    return f"structured_outputs_config=StructuredOutputsConfig(backend='{backend}')"


def test_f59_nothing_of_ours_reads_what_can_run_code() -> None:
    """No cache and no message is a pickle: JSON and msgpack hold data alone."""
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for package in ("curation", "evaluation")
        for path in (ROOT / package).rglob("*.py")
        for name in _imported(path)
        if name in _POISONABLE
    ]
    assert found == []


def _imported(path: Path) -> list[str]:
    return _IMPORT.findall(path.read_text("utf-8"))


class _Poison:
    """Makes a file where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.mark,)


def test_f59_a_poisoned_cache_is_data_that_is_refused(tmp_path: Path) -> None:
    """Pickles in the place of every cached file: one line, and none of them is run."""
    samples = [sample("one", "{}"), sample("two", "[1]")]
    request = request_of(tmp_path, samples)
    measured(tmp_path, [miniature("accept_all")], request)
    mark = tmp_path / "mark"
    poison = pickle.dumps(_Poison(mark))
    assert pickle.loads(poison) is None  # noqa: S301 (the poison works)
    mark.unlink()
    cached = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert cached
    for path in cached:
        path.write_bytes(poison)
    again = replace(request, engines=[miniature("accept_all")])
    with suppress(CsbdataError):
        csbdata.run(replace(again, run_dir=tmp_path / "again"))
    assert not mark.exists()


@pytest.mark.slow
def test_f59_a_poisoned_store_of_instances_is_refused(tmp_path: Path) -> None:
    """A pickle in a row of the database is no instance, and is not run."""
    schema = tmp_path / "mine.json"
    schema.write_text('{"type": "object", "properties": {"a": {"type": "integer"}}}')
    request = replace(
        request_of(tmp_path, []), data=str(schema), engines=[miniature("accept_all")]
    )
    csbdata.run(replace(request, run_dir=tmp_path / "first"))
    store = tmp_path / "cache" / "instances.sqlite"
    mark = tmp_path / "mark"
    with sqlite3.connect(store) as connection:
        poison = pickle.dumps(_Poison(mark))
        connection.execute("update made set content = ?", (poison,))
    with pytest.raises(CsbdataError) as caught:
        csbdata.run(replace(request, run_dir=tmp_path / "second"))
    assert "instances.sqlite" in str(caught.value)
    assert not mark.exists()

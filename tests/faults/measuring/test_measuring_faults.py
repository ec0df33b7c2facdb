"""F54, F58, F59: a noisy machine, a server that falls back, and a poisoned cache."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import csbdata
from curation.system.errors import CsbdataError
from evaluation.setup.machine import usable_cores
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


@pytest.fixture
def neighbour() -> Iterator[None]:
    """Keep busy, in other processes, every core: also that on which times are taken."""
    with ExitStack() as running:
        for core in usable_cores():
            code = f"import os; os.sched_setaffinity(0, [{core}])\nwhile True: pass"
            busy = running.enter_context(subprocess.Popen([sys.executable, "-c", code]))
            running.callback(busy.kill)
        yield


@pytest.mark.slow
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

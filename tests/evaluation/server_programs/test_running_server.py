"""A server program runs for the length of a block, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
import requests

from curation.system.errors import BadConfiguration, BadUsage, Unavailable
from evaluation.measurement.wanted_server import WantedServer
from evaluation.server_programs.registry import environment_of, server_program
from evaluation.server_programs.running_server import ServerStart, running_server

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT = Path(__file__).parents[3]
_STAND_IN = Path(__file__).with_name("stand_in.py")


def install(cache: Path, name: str = "vllm", how: str = "") -> Path:
    """Put our stand-in where an environment would have the program.

    Args:
        cache: Where environments are.
        name: Of the server program.
        how: What the stand-in is to do beside serving; see its file.
    """
    program = server_program(name)
    file = environment_of(program, cache) / "bin" / program.executable
    file.parent.mkdir(parents=True)
    notes = cache / "told.json"
    words = f'"{sys.executable}" "{_STAND_IN}" "{notes}" "{how}"'
    file.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    file.chmod(0o755)
    return notes


def _start(name: str = "vllm", seconds: float = 60.0, **more: str) -> ServerStart:
    program = server_program(name)
    return ServerStart(program=program, model="small", seconds=seconds, **more)  # type: ignore[arg-type]  # the backend alone


def _pids(notes: Path) -> list[int]:
    found = json.loads(notes.read_text())
    return [found["pid"], found["child"]]


def _are_gone(pids: Sequence[int]) -> bool:
    for _ in range(200):
        left = [pid for pid in pids if psutil.pid_exists(pid)]
        if all(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE for pid in left):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("vllm", ["serve", "small", "--host", "127.0.0.1"]),
        ("sglang", ["-m", "sglang.launch_server", "--model-path", "small"]),
    ],
)
def test_a_server_answers_in_the_block_and_is_gone_after_it(
    tmp_path: Path, name: str, wanted: list[str]
) -> None:
    """Started by the arguments of its program, with the backend that was asked for."""
    notes = install(tmp_path, name)
    said: list[str] = []
    with running_server(
        _start(name, backend="xgrammar"), tmp_path, said.append
    ) as base:
        assert requests.get(f"{base}/v1/models", timeout=5).ok
        pids = _pids(notes)
    assert _are_gone(pids)
    arguments = json.loads(notes.read_text())["arguments"]
    assert arguments[: len(wanted)] == wanted
    assert "xgrammar" in " ".join(arguments)
    assert any("answers after" in line for line in said)


@pytest.mark.slow
def test_a_child_in_a_session_of_its_own_is_ended_too(tmp_path: Path) -> None:
    """The engine processes of vLLM may be no members of its group."""
    notes = install(tmp_path, how="own-session deaf")
    with running_server(_start(), tmp_path, lambda _line: None):
        pids = _pids(notes)
    assert _are_gone(pids)


@pytest.mark.slow
def test_a_server_that_ends_at_its_start_shows_its_last_lines(tmp_path: Path) -> None:
    """What it said last is said, and the block is never entered."""
    install(tmp_path, how="crash")
    said: list[str] = []
    with (
        pytest.raises(Unavailable, match=r"ended before it answered \(exit code 3\)"),
        running_server(_start(), tmp_path, said.append),
    ):
        pytest.fail("it never answered")
    assert "  no CUDA device is there" in said


@pytest.mark.slow
def test_a_server_that_does_not_answer_in_time_is_ended(tmp_path: Path) -> None:
    """The deadline is said, with the option that moves it."""
    notes = install(tmp_path, how="silent")
    with (
        pytest.raises(Unavailable, match=r"within 3 s: .*--serve-seconds"),
        running_server(_start(seconds=3.0), tmp_path, lambda _line: None),
    ):
        pytest.fail("it never answered")
    assert not notes.exists() or _are_gone(_pids(notes))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_when_we_are_stopped(
    tmp_path: Path, number: signal.Signals
) -> None:
    """Ctrl-C, SIGTERM and SIGKILL end the server and all that it has started."""
    notes = install(tmp_path)
    script = f"""
        import pathlib, sys, time
        from curation.cli import _clean_up_when_terminated
        from evaluation.server_programs.registry import server_program
        from evaluation.server_programs.running_server import (
            ServerStart, running_server,
        )
        _clean_up_when_terminated()
        start = ServerStart(program=server_program("vllm"), model="small")
        with running_server(start, pathlib.Path({str(tmp_path)!r}), print):
            print("up", flush=True)
            time.sleep(60)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as ours:
        assert ours.stdout is not None
        for line in ours.stdout:
            if line.strip() == "up":
                break
        pids = _pids(notes)
        ours.send_signal(number)
        ours.wait(60)
    assert ours.returncode != 0
    assert _are_gone(pids)


def test_a_program_that_is_not_installed_is_told_how_to_be(tmp_path: Path) -> None:
    """The commands make the environment in which it is looked for."""
    with (
        pytest.raises(Unavailable, match=r"venv .*servers/vllm && .*install vllm"),
        running_server(_start(), tmp_path, lambda _line: None),
    ):
        pytest.fail("it is not there")


def test_an_unknown_program_an_address_and_bad_quotes_are_refused() -> None:
    """One line each, before anything is started."""
    with pytest.raises(BadConfiguration, match="vlm"):
        WantedServer(program="vlm").start("small", ())
    with pytest.raises(BadUsage, match="name the model alone"):
        WantedServer(program="vllm").start("http://127.0.0.1:1/v1", ())
    with pytest.raises(BadUsage, match="--serve-args"):
        WantedServer(program="vllm", arguments="'").start("small", ())


def test_results_call_a_server_by_its_command_without_its_port() -> None:
    """The same command is the same participant, wherever it listens."""
    wanted = WantedServer(program="vllm", arguments="--max-model-len 4096")
    name = wanted.start("small", ["vllm.backend=guidance"]).name
    assert name.startswith("vllm serve small --host 127.0.0.1 --port 0")
    assert "guidance" in name
    assert name.endswith("--max-model-len 4096")

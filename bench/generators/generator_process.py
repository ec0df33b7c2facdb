"""The parent's side of a generator process: it asks, waits, and kills what hangs."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
#: Seconds above the time budget within which an answer must be there, written out.
_GRACE = 10.0
#: Seconds for a start, imports and all; not measured.
_START = 120.0
_MEMORY = 4 * 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """How a generator is started."""

    words: tuple[str, ...]
    #: Whether its address space may be bounded; a JavaScript engine reserves more.
    bounded: bool = True


class DiedError(Exception):
    """The process gave no answer: killed at the deadline, or ended by itself."""


class Generator:
    """A generator in a process of its own, started anew after each end."""

    def __init__(self, command: Command) -> None:
        """Start the process.

        Raises:
            DiedError: it does not come up.
        """
        self._command = command
        self._child = self._started()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._end()

    def _started(self) -> subprocess.Popen[str]:
        limit = _bound_memory if self._command.bounded else None
        child = subprocess.Popen(
            self._command.words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
            preexec_fn=limit,  # noqa: PLW1509 (no thread is running at a start)
        )
        self.version = str(_read(child, _START)["version"])
        return child

    def ask(self, schema: Any, dialect: str, seconds: float) -> dict[str, Any]:  # noqa: ANN401 (any JSON)
        """Return the values made of a schema, and the seconds they took.

        A generator that hangs or dies has made nothing in the whole budget.
        """
        task = {"schema": schema, "dialect": dialect, "seconds": seconds}
        try:
            _write(self._child, json.dumps(task) + "\n")
            return _read(self._child, seconds + _GRACE)
        except DiedError:
            self._end()
            self._child = self._started()
            return {"values": [], "seconds": seconds, "ended": "killed"}

    def _end(self) -> None:
        self._child.kill()
        self._child.communicate()


def _bound_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def _write(child: subprocess.Popen[str], text: str) -> None:
    assert child.stdin is not None  # noqa: S101 (piped)
    try:
        child.stdin.write(text)
        child.stdin.flush()
    except OSError as error:
        raise DiedError from error


def _read(child: subprocess.Popen[str], seconds: float) -> dict[str, Any]:
    assert child.stdout is not None  # noqa: S101 (piped)
    timer = Timer(seconds, child.kill)
    timer.start()
    try:
        line = child.stdout.readline()
    finally:
        timer.cancel()
    if not line.endswith("\n"):
        child.kill()
        child.wait()
        raise DiedError
    answer: dict[str, Any] = json.loads(line)
    return answer

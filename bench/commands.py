"""Run a command and measure it, its child processes included."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT = Path(__file__).resolve().parents[1]


class Run(NamedTuple):
    """A command that has ended."""

    output: bytes
    wall_seconds: float
    cpu_seconds: float
    largest_mb: float

    @property
    def figures(self) -> dict[str, float]:
        """All but its output."""
        return {
            "wall_seconds": round(self.wall_seconds, 3),
            "cpu_seconds": round(self.cpu_seconds, 3),
            "largest_mb": round(self.largest_mb, 1),
        }


def timed(
    command: Sequence[str],
    folder: Path | None = None,
    codes: Sequence[int] = (0,),
    stderr: int | None = None,
) -> Run:
    """Run a command with these packages importable, and measure it.

    Args:
        command: Its words.
        folder: In which folder it runs; here by default.
        codes: Exit codes that are no failure.
        stderr: Where its messages go, as in `subprocess`; to ours by default.

    Raises:
        SystemExit: it failed.
    """
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    # What is installed has its bytecode.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=stderr, cwd=folder
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        output.seek(0)
        printed = output.read()
    if process.returncode not in codes:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    cpu_seconds = usage.ru_utime + usage.ru_stime
    return Run(printed, seconds, cpu_seconds, usage.ru_maxrss / 1024)

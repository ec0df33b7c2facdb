"""Measure what publishing a whole build takes: its card and plots, and its checks.

`csbdata card` makes anew what is derived from the rows, `csbdata verify` judges them.
Both are whole commands, their workers included, so that starting Python counts.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from shutil import copytree
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.builds import clean_build

if TYPE_CHECKING:
    import argparse

_ROOT = Path(__file__).resolve().parents[2]
#: Seconds for both together on two cores.
TARGET = 30.0
_COMMANDS = ("card", "verify")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--rounds", type=int, default=3, help="times to verify")


def _measured(command: str, folder: Path) -> dict[str, float]:
    """Run a command on a build; return its seconds and the processor's.

    Raises:
        SystemExit: it failed otherwise than by finding something.
    """
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-m", "curation", command, str(folder)],
        stdout=sys.stderr,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        check=False,
    )
    if ended.returncode not in (0, 1):
        raise SystemExit(f"{command}: exit code {ended.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime
        - before.ru_stime,
        "largest_process_mb": after.ru_maxrss / 1024,
    }  # fmt: skip


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the median of each figure of both commands."""
    with (
        clean_build(options.build, "--instances") as build,
        tempfile.TemporaryDirectory() as temporary,
    ):
        folder = copytree(build.folder, Path(temporary) / "JSONSchemaBench")
        rounds = [
            {command: _measured(command, folder) for command in _COMMANDS}
            for _ in range(options.rounds)
        ]
        figures = {
            command: {
                name: round(median(turn[command][name] for turn in rounds), 3)
                for name in rounds[0][command]
            }
            for command in _COMMANDS
        }
        return {"measured_with": build.name, **figures, "target_seconds": TARGET}

"""Processor time of commands on one small schema, beside that of typer and rich alone.

Each is the least of some tries in turn, child processes included.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.commands import timed

if TYPE_CHECKING:
    import argparse

_COMMANDS = ("--version", "--help", "check a.json", "fit a.json", "instances a.json")
_BARE = "import rich.table, typer._adapters"


def add_options(group: argparse._ArgumentGroup) -> None:
    """Add the number of tries."""
    group.add_argument("--starts", type=int, default=10, help="tries of each command")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds of the bare libraries, and each command's as times that."""
    csbdata = str(Path(sys.executable).with_name("csbdata"))
    commands = {"bare": [sys.executable, "-c", _BARE]}
    commands |= {words: [csbdata, *words.split()] for words in _COMMANDS}
    tries: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.json").write_text('{"type": "object"}', "utf-8")
        for _ in range(options.starts):
            for name, command in commands.items():
                # `fit` tells its verdict by the exit code.
                run = timed(command, Path(folder), (0, 3, 4), subprocess.DEVNULL)
                tries[name].append(run.cpu_seconds)
    least = {name: min(seconds) for name, seconds in tries.items()}
    bare = least.pop("bare")
    ratios = {name: round(seconds / bare, 2) for name, seconds in least.items()}
    return {"typer_and_rich_seconds": round(bare, 3), "times_that": ratios}

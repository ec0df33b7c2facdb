"""Measure what publishing a whole build takes: its card and plots, and its checks.

`csbdata card` makes anew what is derived from the rows, `csbdata verify` judges them.
Both are whole commands, their workers included, so that starting Python counts.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from shutil import copytree
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.builds import clean_build
from bench.commands import timed

if TYPE_CHECKING:
    import argparse

_CSBDATA = (sys.executable, "-m", "curation")
#: Seconds for both together on two cores.
TARGET = 30.0
_COMMANDS = ("card", "verify")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument("--rounds", type=int, default=3, help="times to verify")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the median of each figure of both commands."""
    with (
        clean_build(options.build, "--instances") as build,
        tempfile.TemporaryDirectory() as temporary,
    ):
        folder = copytree(build.folder, Path(temporary) / "JSONSchemaBench")
        rounds = [
            {
                command: timed([*_CSBDATA, command, str(folder)], codes=(0, 1)).figures
                for command in _COMMANDS
            }
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

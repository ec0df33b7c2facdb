"""Measure verifying a whole build, and packing it anew from its own rows.

Verifying is done with the sample of instances that it judges, and without it, by turns:
the ratio says what that sample costs.

Packing writes every table again, row group by row group, through the writer that a
build uses, then licences, plots, card and digests. Both run as commands of
their own, so that starting Python and its libraries counts.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench.builds import clean_build

if TYPE_CHECKING:
    import argparse

_ROOT = Path(__file__).resolve().parents[2]
#: Seconds for both together on two cores.
TARGET = 30.0
#: The check that judges the sample.
LABELS = "labels"
#: What is told of memory, as `bench.data.verify` names it.
MEMORY = ("largest_process_mb", "all_processes_mb", "all_processes_proportional_mb")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this part."""
    parser.add_argument(
        "--rounds", type=int, default=3, help="times to verify and to pack"
    )


def _cpu() -> float:
    """Return the processor's seconds that ended children have taken so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _timed(*command: str) -> tuple[float, float, str]:
    """Run a module of ours; return its seconds, the processor's, what it printed.

    Raises:
        SystemExit: it failed otherwise than by finding something.
    """
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    start, before = time.perf_counter(), _cpu()
    ended = subprocess.run(
        [sys.executable, "-m", *command],
        stdout=subprocess.PIPE,
        env=environment,
        check=False,
        text=True,
    )
    if ended.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: exit code {ended.returncode}")
    return time.perf_counter() - start, _cpu() - before, ended.stdout


def _verified(folder: Path, *options: str) -> dict[str, Any]:
    """Verify once, in a process of its own."""
    _, _, report = _timed("bench.data.verify", str(folder), *options)
    figures: dict[str, Any] = json.loads(report)
    return figures


def _round(folder: Path, turn: int) -> dict[str, Any]:
    """Pack once, verify once with the sample of instances and once without."""
    ways = {"whole": (), "bare": ("--without", LABELS)}
    with tempfile.TemporaryDirectory() as temporary:
        packed = Path(temporary) / "packed"
        pack, pack_cpu, text = _timed("bench.data.pack", str(folder), str(packed))
        order = list(ways)[:: -1 if turn % 2 else 1]
        done = {way: _verified(packed, *ways[way]) for way in order}
    whole, bare = done["whole"], done["bare"]
    return {
        "pack_seconds": pack,
        "verify_seconds": whole["seconds"],
        "cpu_seconds": pack_cpu + whole["cpu_seconds"],
        "sample_to_the_rest": whole["cpu_seconds"] / bare["cpu_seconds"] - 1,
        "verify_cpu_seconds": whole["cpu_seconds"],
        "memory_mb": {name: whole[name] for name in MEMORY},
        "pack_steps": json.loads(text),
        "counted": whole["counted"],
        "failures": whole["failures"],
    }


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds of packing and verifying, and what was looked at."""
    with clean_build(options.build, "--instances") as build:
        rounds = [_round(build.folder, turn) for turn in range(options.rounds)]
        size = sum(
            path.stat().st_size for path in build.folder.rglob("*") if path.is_file()
        )
    together = [turn["pack_seconds"] + turn["verify_seconds"] for turn in rounds]
    middle = {
        name: round(median(turn[name] for turn in rounds), 3)
        for name in (
            "pack_seconds",
            "verify_seconds",
            "verify_cpu_seconds",
            "cpu_seconds",
            "sample_to_the_rest",
        )
    }
    return {
        "measured_with": build.name,
        "rounds": options.rounds,
        "bytes": size,
        "counted": rounds[0]["counted"],
        "failures": max(turn["failures"] for turn in rounds),
        **middle,
        "sample_to_the_rest_all": [
            round(turn["sample_to_the_rest"], 3) for turn in rounds
        ],
        "memory_mb": {
            name: round(max(turn["memory_mb"][name] for turn in rounds))
            for name in MEMORY
        },
        "pack_steps": rounds[0]["pack_steps"],
        "together_seconds": round(median(together), 3),
        "together_seconds_all": [round(seconds, 3) for seconds in together],
        "target_seconds": TARGET,
    }

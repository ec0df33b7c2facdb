"""Measure verifying a whole build, and packing it anew from its own rows.

Packing writes every table again, row group by row group, through the writer that a
build uses, then licences, plots, card, Croissant and digests. Both run as commands of
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


def _round(folder: Path) -> dict[str, Any]:
    """Pack and verify once."""
    with tempfile.TemporaryDirectory() as temporary:
        packed = Path(temporary) / "packed"
        pack, pack_cpu, text = _timed("bench.data.pack", str(folder), str(packed))
        verify, verify_cpu, report = _timed(
            "curation", "verify", str(packed), "--format", "json", "--jobs", "2"
        )
    found = json.loads(report)
    return {
        "pack_seconds": pack,
        "verify_seconds": verify,
        "cpu_seconds": pack_cpu + verify_cpu,
        "pack_steps": json.loads(text),
        "counted": found["counted"],
        "failures": sum(finding["failure"] for finding in found["findings"]),
    }


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds of packing and verifying, and what was looked at."""
    with clean_build(options.build, "--instances") as build:
        rounds = [_round(build.folder) for _ in range(options.rounds)]
        size = sum(
            path.stat().st_size for path in build.folder.rglob("*") if path.is_file()
        )
    together = [turn["pack_seconds"] + turn["verify_seconds"] for turn in rounds]
    return {
        "measured_with": build.name,
        "rounds": options.rounds,
        "bytes": size,
        "counted": rounds[0]["counted"],
        "failures": max(turn["failures"] for turn in rounds),
        "pack_seconds": round(median(turn["pack_seconds"] for turn in rounds), 3),
        "pack_steps": rounds[0]["pack_steps"],
        "verify_seconds": round(median(turn["verify_seconds"] for turn in rounds), 3),
        "together_seconds": round(median(together), 3),
        "together_seconds_all": [round(seconds, 3) for seconds in together],
        "cpu_seconds": round(median(turn["cpu_seconds"] for turn in rounds), 3),
        "target_seconds": TARGET,
    }

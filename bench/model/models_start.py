"""Measure how long `csbdata eval` takes to its first row."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.core.records import Record

_SECONDS = 600.0


def seconds_to_first_row(sample: Record) -> dict[str, Any]:
    """Return how long a run of one schema and one short text takes to its row."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "one.json").write_text(json.dumps(json.loads(sample.constraint)))
        run = folder / "run"
        command = [
            *(sys.executable, "-m", "curation", "eval", "--engine", "llguidance"),
            *("--task", "coverage", "--data", str(folder / "one.json")),
            *("--set", "budget=1", "--device", "cpu", "--run-dir", str(run)),
        ]
        start = time.perf_counter()
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as child:
            while child.poll() is None and time.perf_counter() - start < _SECONDS:
                if any(file.stat().st_size for file in run.glob("attempts.jsonl")):
                    break
                time.sleep(0.02)
            seconds = time.perf_counter() - start
            child.terminate()
    return {"seconds_to_first_row": round(seconds, 1)}

"""Verify a folder, with or without its instances; print what that took as JSON.

Memory is what all processes of the command hold at a time, looked at ten times a
second, and what the largest one held at most.

Usage: python -m bench.data.verify FOLDER [--without CHECK]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import threading
import time
from pathlib import Path

from curation.verification.registry import CHECKS
from curation.verification.run import verify_folder

_SECONDS_BETWEEN = 0.1
_PAGE = os.sysconf("SC_PAGE_SIZE")


def _descendants() -> list[int]:
    """Return the ids of this process and of all that it has started."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parent = int(stat.rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(entry.name))
    found = [os.getpid()]
    for process in found:
        found += parents.get(process, [])
    return found


def _held() -> tuple[int, int]:
    """Return the bytes that all processes hold, and those with shared ones shared.

    The second is Linux's proportional set size, which counts a page that two
    processes map by half for each; the first counts it twice.
    """
    resident = proportional = 0
    for process in _descendants():
        folder = Path("/proc", str(process))
        try:
            pages = int((folder / "statm").read_text().split()[1])
            lines = (folder / "smaps_rollup").read_text().splitlines()
        except (OSError, IndexError):
            continue  # it has ended meanwhile
        resident += pages * _PAGE
        for line in lines:
            if line.startswith("Pss:"):
                proportional += int(line.split()[1]) * 1024
    return resident, proportional


class MemoryWatch(threading.Thread):
    """Looks at what is held until it is told to end."""

    def __init__(self) -> None:
        """Start nothing yet."""
        super().__init__(daemon=True)
        self.resident = 0
        self.proportional = 0
        self.ended = threading.Event()

    def run(self) -> None:
        """Remember the most that was seen."""
        while not self.ended.wait(_SECONDS_BETWEEN):
            resident, proportional = _held()
            self.resident = max(self.resident, resident)
            self.proportional = max(self.proportional, proportional)


def _cpu() -> float:
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(who) for who in both]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    """Verify and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--without", default="", help="the name of a check")
    given = parser.parse_args()
    watch = MemoryWatch()
    watch.start()
    start = time.perf_counter()
    checks = [check for check in CHECKS if check.name != given.without]
    found = verify_folder(given.folder, jobs=2, checks=checks)
    seconds = time.perf_counter() - start
    watch.ended.set()
    watch.join()
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    largest = max(resource.getrusage(who).ru_maxrss for who in both) * 1024
    figures = {
        "seconds": seconds,
        "cpu_seconds": _cpu(),
        "largest_process_mb": largest / 1e6,
        "all_processes_mb": watch.resident / 1e6,
        "all_processes_proportional_mb": watch.proportional / 1e6,
        "failures": sum(finding.failure for finding in found.findings),
        "counted": dict(found.counted),
    }
    json.dump(figures, sys.stdout)


if __name__ == "__main__":
    main()

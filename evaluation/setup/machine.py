"""Facts about this machine, for the header of a run."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter_ns

import psutil

from curation.core.json_types import Json

_READINGS = 10_001
#: Seconds for which cores are watched, and per cent of them below which one is idle.
_WATCHED = 0.04
_IDLE = 50
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def machine() -> dict[str, Json]:
    """Return what decides times on this machine; no name of host or user is in it."""
    return {
        "processor": _processor(),
        "cores": len(usable_cores()),
        "memory_bytes": psutil.virtual_memory().total,
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def usable_cores() -> list[int]:
    """Return the numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def idle_last(cores: Sequence[int]) -> list[int]:
    """Return cores in their order, those last that have nothing to do just now.

    Another run may keep its engine on one of them.
    """
    load = dict(enumerate(psutil.cpu_percent(_WATCHED, percpu=True)))
    return sorted(cores, key=lambda core: (load.get(core, 0) < _IDLE, core))


def clock_cost_ns() -> int:
    """Return what reading the clock takes; each measured time is too long by it."""
    readings = [perf_counter_ns() for _ in range(_READINGS)]
    return (readings[-1] - readings[0]) // (_READINGS - 1)


def cpu_governor() -> str | None:
    """Return how the system chooses the speed of its cores; None where unknown."""
    try:
        return _GOVERNOR.read_text(encoding="utf-8").strip()
    except OSError:
        return None


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - not a file to write about
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()

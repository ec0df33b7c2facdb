"""The machine that a run was made on: what decides whether times may be compared."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from curation.documents import Json


def machine() -> dict[str, Json]:
    """Return what the machine says of itself; no name of host or user is told."""
    return {
        "processor": _processor(),
        "cores": len(cores()),
        "memory_bytes": psutil.virtual_memory().total,
        "platform": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def cores() -> list[int]:
    """Return the numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - not a file to write about
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()

"""On what a model runs: its device, with driver, and the libraries that drive it."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

import torch

from curation.system.programs import environment_for_others, run_to_end
from evaluation.models.device.clock import DeviceClock

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json

#: Whose versions decide, beside torch's, what a model writes, and how fast.
_OTHERS: Final = ("transformers", "tokenizers", "accelerate", "numpy")
_DRIVER: Final = Path("/proc/driver/nvidia/version")
#: What `nvidia-smi` is asked for, by the name that headers give it.
_SETTINGS: Final = {
    "sm_clock_mhz": "clocks.sm",
    "highest_sm_clock_mhz": "clocks.max.sm",
    "memory_clock_mhz": "clocks.mem",
    "power_cap_w": "power.limit",
}
_NOT_KNOWN: Final = "not known"
#: Seconds for which `nvidia-smi` may think.
_PATIENCE: Final = 10.0
_VERSION: Final = re.compile(r"\b\d+\.\d+(\.\d+)?\b")


def device_facts(device: torch.device) -> Mapping[str, Json]:
    """Return what a run's header records of a device and of the libraries."""
    facts: dict[str, Json] = {
        "device": str(device),
        "device_name": "",
        "driver": "",
        "cuda": "",
        "clock": DeviceClock(device).name,
        # torch's own version names what it was built for, its metadata may not.
        "libraries": {
            "torch": str(torch.__version__),
            **{name: version(name) for name in _OTHERS},
        },
    }
    if device.type == "cuda":
        facts["device_name"] = torch.cuda.get_device_name(device)
        facts["driver"] = nvidia_driver(_DRIVER)
        facts["cuda"] = torch.version.cuda or ""
        unique = getattr(torch.cuda.get_device_properties(device), "uuid", "")
        facts["gpu_settings"] = {**gpu_settings(f"GPU-{unique}" if unique else "0")}
    return facts


def make_current(device: torch.device) -> None:
    """Make a GPU the one on which streams, events and graphs are made without a name.

    Otherwise those are of the first GPU, also where the model is on another one.
    """
    if device.type == "cuda":
        torch.cuda.set_device(device.index or 0)


def nvidia_driver(file: Path) -> str:
    """Return the version of the GPU's driver; empty where the system does not say."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    found = _VERSION.search(lines[0]) if lines else None
    return found.group() if found else ""


def gpu_settings(gpu: str, program: str = "nvidia-smi") -> Mapping[str, str]:
    """Return clocks and power cap of a GPU as its own tool tells them now.

    Args:
        gpu: Its unique id or its number, as the tool takes it.
        program: The tool.

    Returns:
        Each figure in the unit of its name, `not known` where it is not told.
    """
    unknown = dict.fromkeys(_SETTINGS, _NOT_KNOWN)
    found = shutil.which(program)
    if found is None:
        return unknown
    query = f"--query-gpu={','.join(_SETTINGS.values())}"
    command = [found, f"--id={gpu}", query, "--format=csv,noheader,nounits"]
    try:
        ended = run_to_end(command, _PATIENCE, environment=environment_for_others())
    except (OSError, subprocess.TimeoutExpired):
        return unknown
    told = [part.strip() for part in ended.printed.strip().split(",")]
    if ended.code or len(told) != len(_SETTINGS):
        return unknown
    return {
        name: figure if figure.replace(".", "", 1).isdecimal() else _NOT_KNOWN
        for name, figure in zip(_SETTINGS, told, strict=True)
    }

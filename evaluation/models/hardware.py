"""On what a model runs: its device, with driver, and the libraries that drive it."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

import torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json

#: Whose versions decide what a model writes, and how fast.
_LIBRARIES: Final = ("torch", "transformers", "tokenizers", "accelerate", "numpy")
_DRIVER: Final = Path("/proc/driver/nvidia/version")
_VERSION: Final = re.compile(r"\b\d+\.\d+(\.\d+)?\b")


def device_facts(device: torch.device) -> Mapping[str, Json]:
    """Return what a run's header records of a device and of the libraries."""
    facts: dict[str, Json] = {
        "device": str(device),
        "device_name": "",
        "driver": "",
        "cuda": "",
        "libraries": {name: version(name) for name in _LIBRARIES},
    }
    if device.type == "cuda":
        facts["device_name"] = torch.cuda.get_device_name(device)
        facts["driver"] = nvidia_driver(_DRIVER)
        facts["cuda"] = torch.version.cuda or ""
    return facts


def nvidia_driver(file: Path) -> str:
    """Return the version of the GPU's driver; empty where the system does not say."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    found = _VERSION.search(lines[0]) if lines else None
    return found.group() if found else ""

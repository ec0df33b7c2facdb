"""What a header says of a GPU is what its own tool tells, or that it is not known."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from evaluation.models.hardware import device_facts, gpu_settings, shared_tensor

if TYPE_CHECKING:
    from pathlib import Path


def _tool(folder: Path, script: str) -> str:
    file = folder / "nvidia-smi"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return str(file)


def test_clocks_and_power_cap_are_read_off_the_tool(tmp_path: Path) -> None:
    """A figure that the tool does not support is not known."""
    program = _tool(tmp_path, 'echo "1980, 1980, [N/A], 700.00"')
    assert gpu_settings("0", program) == {
        "sm_clock_mhz": "1980",
        "highest_sm_clock_mhz": "1980",
        "memory_clock_mhz": "not known",
        "power_cap_w": "700.00",
    }


@pytest.mark.parametrize("script", ["exit 9", "echo no devices were found", ":"])
def test_a_tool_that_does_not_tell_leaves_it_unknown(
    tmp_path: Path, script: str
) -> None:
    """A failure, other words, and nothing at all."""
    found = gpu_settings("0", _tool(tmp_path, script))
    assert set(found.values()) == {"not known"}


def test_without_the_tool_nothing_is_known() -> None:
    """No path is made up for it."""
    assert set(gpu_settings("0", "no-such-tool").values()) == {"not known"}


def test_a_processor_has_a_clock_and_no_settings_of_a_gpu() -> None:
    """The header says what times were taken with."""
    facts = device_facts(torch.device("cpu"))
    assert facts["clock"] == "time.perf_counter_ns"
    assert "gpu_settings" not in facts


def test_memory_of_another_process_is_pinned_once_and_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As long as it is there; where the driver refuses, it is sent all the same."""
    calls: list[tuple[str, int]] = []
    refuses = [False]

    def register(place: int, size: int, _flags: int) -> int:
        calls.append(("pinned", size))
        return 1 if refuses[0] else 0

    def unregister(place: int) -> None:
        calls.append(("given back", place))

    driver = SimpleNamespace(cudaHostRegister=register, cudaHostUnregister=unregister)
    monkeypatch.setattr(torch.cuda, "cudart", lambda: driver)
    monkeypatch.setattr(torch, "zeros", lambda *_given, **_named: None)
    array = np.zeros((2, 8), np.uint8)
    place = shared_tensor(array, torch.device("cuda")).data_ptr()
    assert place == array.ctypes.data
    assert calls == [("pinned", 16)]
    del array
    gc.collect()
    assert calls == [("pinned", 16), ("given back", place)]
    refuses[0] = True
    array = np.zeros((2, 8), np.uint8)
    assert shared_tensor(array, torch.device("cuda")).data_ptr() == array.ctypes.data
    del array
    gc.collect()
    assert calls[2:] == [("pinned", 16)]

"""The device of a model: its memory, clock, transfers, failures and facts."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from time import perf_counter_ns
from typing import Any, Final, TypeAlias

import psutil
import torch

from curation.core.json_types import Json
from curation.system.errors import Unavailable
from curation.system.programs import environment_for_others, run_to_end

#: Work that a device was given, between two of its moments: returns how long it took,
#: in nanoseconds, and waits until it is done.
TimedWork: TypeAlias = Callable[[], int]


def to_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a tensor of the processor on a device, without waiting for the device."""
    if device.type != "cuda":
        return tensor.to(device)
    pinned = tensor if tensor.is_pinned() else tensor.pin_memory()
    return pinned.to(device, non_blocking=True)


_NS_IN_MS: Final = 1e6


class DeviceClock:
    """Notes the moments of a device.

    Example:
        >>> clock = DeviceClock(torch.device("cpu"))
        >>> begun = clock.moment()
        >>> clock.since(begun)()
    """

    def __init__(self, device: torch.device) -> None:
        """Take the device whose work is timed."""
        self._on_gpu = device.type == "cuda"
        #: What headers call it.
        self.name = (
            "CUDA events for passes and choices, time.perf_counter_ns for the rest"
            if self._on_gpu
            else "time.perf_counter_ns"
        )

    def moment(self) -> Any:  # noqa: ANN401 - nanoseconds, or an event of a GPU
        """Return the moment at which all that the device was given so far is done."""
        if not self._on_gpu:
            return perf_counter_ns()
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch's own
        event.record()
        return event

    def since(self, begun: Any) -> TimedWork:  # noqa: ANN401 - as `moment` returns it
        """Return the work that the device was given since a moment."""
        over = self.moment()
        if not self._on_gpu:
            took: int = over - begun
            return lambda: took
        # Every text of a batch asks.
        return cache(lambda: _between(begun, over))


def _between(begun: torch.cuda.Event, over: torch.cuda.Event) -> int:
    """Return the nanoseconds between two events."""
    over.synchronize()
    milliseconds: float = begun.elapsed_time(over)
    return round(milliseconds * _NS_IN_MS)


def free_memory(device: torch.device) -> int:
    """Return the bytes that a device can still give."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return psutil.virtual_memory().available


#: Phrases of other exceptions of libraries for a lack of memory.
_NO_MEMORY: Final = (
    "out of memory",
    "can't allocate memory",
    "not enough memory",
    "cublas_status_alloc_failed",
)
#: torch's phrases for a failed device: in this process nothing can be
#: computed there any more.
_DEVICE_LOST: Final = ("cuda error", "cublas_status", "cudnn_status", "hip error")


def is_memory_used_up(error: Exception) -> bool:
    """Return whether an exception means a lack of memory."""
    return isinstance(error, MemoryError) or _has_any(error, _NO_MEMORY)


def check_device(error: Exception) -> None:
    """Check that an exception is not the device's own failure.

    Raises:
        Unavailable: it is; all later work on the device would fail (exit 69).
    """
    if not is_memory_used_up(error) and _has_any(error, _DEVICE_LOST):
        raise Unavailable(
            f"the model's device has failed ({_first_line(error)})",
            hint="look at nvidia-smi; the same command goes on from here",
        ) from error


@contextmanager
def failures_of_loading(model: str) -> Iterator[None]:
    """Report in one line the faults of a device while a model is put there and tried.

    Raises:
        Unavailable: it is busy, fails, or has no memory left (exit 69).
    """
    try:
        yield
    except RuntimeError as error:
        check_device(error)
        if not is_memory_used_up(error):
            raise
        raise Unavailable(
            f"--model {model}: the device has no memory left for it "
            f"({_first_line(error)})",
            hint="see what else is on it (nvidia-smi), or take --device cpu",
        ) from error


def _has_any(error: Exception, words: tuple[str, ...]) -> bool:
    message = str(error).lower()
    return any(word in message for word in words)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


#: Libraries whose versions, besides torch's, decide texts and speed.
_LIBRARIES: Final = ("transformers", "tokenizers", "accelerate", "numpy")
#: What `nvidia-smi` is asked for, by the name that headers give it.
_SETTINGS: Final = {
    "driver": "driver_version",
    "sm_clock_mhz": "clocks.sm",
    "highest_sm_clock_mhz": "clocks.max.sm",
    "memory_clock_mhz": "clocks.mem",
    "power_cap_w": "power.limit",
}
_NOT_KNOWN: Final = "not known"
#: Seconds for which `nvidia-smi` may think.
_PATIENCE: Final = 10.0


def device_facts(device: torch.device) -> Mapping[str, Json]:
    """Return the facts on a device and the libraries for a run's header."""
    facts: dict[str, Json] = {
        "device": str(device),
        "device_name": "",
        "driver": "",
        "cuda": "",
        "clock": DeviceClock(device).name,
        # torch's own version names its build, its metadata may not.
        "libraries": {
            "torch": str(torch.__version__),
            **{name: version(name) for name in _LIBRARIES},
        },
    }
    if device.type == "cuda":
        facts["device_name"] = torch.cuda.get_device_name(device)
        facts["cuda"] = torch.version.cuda or ""
        facts["attention_kernels"] = "flash, memory-efficient or math, not cuDNN"
        unique = getattr(torch.cuda.get_device_properties(device), "uuid", "")
        settings = gpu_settings(f"GPU-{unique}" if unique else "0")
        facts["driver"] = settings.pop("driver")
        facts["gpu_settings"] = {**settings}
    return facts


def make_current(device: torch.device) -> None:
    """Make a GPU current: unnamed streams, events and graphs use it.

    The default is the first GPU, even if the model is on another. cuDNN does not
    compute attention there: it may build a plan for every length of a text.
    """
    if device.type == "cuda":
        torch.cuda.set_device(device.index or 0)
        torch.backends.cuda.enable_cudnn_sdp(enabled=False)


def gpu_settings(gpu: str, program: str = "nvidia-smi") -> dict[str, str]:
    """Return driver, clocks and power cap of a GPU as its own tool prints them now.

    Args:
        gpu: Its unique id or its number, as the tool takes it.
        program: The tool.

    Returns:
        Each figure in the unit of its name, `not known` if it is missing.
    """
    unknown = dict.fromkeys(_SETTINGS, _NOT_KNOWN)
    path = shutil.which(program)
    if path is None:
        return unknown
    query = f"--query-gpu={','.join(_SETTINGS.values())}"
    command = [path, f"--id={gpu}", query, "--format=csv,noheader,nounits"]
    try:
        ended = run_to_end(command, _PATIENCE, environment=environment_for_others())
    except (OSError, subprocess.TimeoutExpired):
        return unknown
    values = [part.strip() for part in ended.printed.strip().split(",")]
    if ended.code or len(values) != len(_SETTINGS):
        return unknown
    return {
        name: figure if figure.replace(".", "").isdecimal() else _NOT_KNOWN
        for name, figure in zip(_SETTINGS, values, strict=True)
    }

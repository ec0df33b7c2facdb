"""The clock of a device: the one place where times of its work are taken.

A GPU works behind the processor's back: what the processor's clock says when a call
returns is when the work was handed over. So the moments of a GPU are CUDA events, which
the device notes itself when it comes to them, and which are read once the chosen
tokens are back: reading them waits for nothing. On a processor a call returns when the
work is done, and its moments are those of `time.perf_counter_ns`.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import Final

import torch

from evaluation.models.base import TimedWork

_NS_IN_MS: Final = 1e6


class DeviceClock:
    """Notes the moments of a device.

    Example:
        >>> clock = DeviceClock(torch.device("cpu"))
        >>> begun = clock.moment()
        >>> clock.since(begun).ns()
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

    def moment(self) -> int | torch.cuda.Event:
        """Return the moment at which all that the device was given so far is done."""
        if not self._on_gpu:
            return perf_counter_ns()
        event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch's own
        event.record()
        return event

    def since(self, begun: int | torch.cuda.Event) -> TimedWork:
        """Return the work that the device was given since a moment."""
        over = self.moment()
        if isinstance(begun, int) and isinstance(over, int):
            took = over - begun
            return TimedWork(lambda: took)
        return TimedWork(lambda: _between(begun, over))


def _between(begun: int | torch.cuda.Event, over: int | torch.cuda.Event) -> int:
    """Return the nanoseconds between two events.

    Raises:
        TypeError: they are none.
    """
    if isinstance(begun, int) or isinstance(over, int):
        raise TypeError
    over.synchronize()
    milliseconds: float = begun.elapsed_time(over)
    return round(milliseconds * _NS_IN_MS)

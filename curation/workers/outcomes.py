"""How one unit of work in a child process ended, and how that is known."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.workers.process import Child

#: What runtimes say on standard error when an allocation fails.
MEMORY_WORDS = ("MemoryError", "memory allocation of", "bad_alloc", "out of memory")


class Ending(StrEnum):
    """How one unit of work ended."""

    OK = "ok"
    """The worker answered."""
    ERROR = "error"
    """The worker's function raised; the process lives on."""
    TIMEOUT = "timeout"
    """No answer within the deadline; the process was killed."""
    CRASH = "crash"
    """The process died of a signal or ended by itself."""
    OUT_OF_MEMORY = "out_of_memory"
    """An allocation failed, the resident memory grew over the limit, or the
    kernel killed the process (SIGKILL that we did not send)."""
    PROTOCOL = "protocol"
    """What came back is not an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessResult:
    """What became of one unit."""

    ending: Ending
    #: What the worker's function returned; None unless `ok`.
    answer: UntypedJson = None
    #: What exactly was seen: the exception, the signal, the limit.
    detail: str = ""
    #: The end of the child's standard error where it died.
    stderr: str = ""
    #: Seconds by the parent's clock.
    seconds: float = 0.0


def post_mortem(child: Child) -> tuple[Ending, str]:
    """Say of what a child died that closed its pipe."""
    if not child.wait(1.0):
        child.stop()
        return Ending.PROTOCOL, "closed its pipe and went on"
    status, partial = child.returncode or 0, child.unfinished
    child.stop()
    if status < 0:
        detail = f"killed by {_signal_name(-status)}"
    else:
        detail = f"ended with status {status} without an answer"
    if partial:
        detail += f", {partial:,} bytes into one"
    short_of_memory = any(word in child.noise for word in MEMORY_WORDS)
    if status == -signal.SIGKILL or (status and short_of_memory):
        return Ending.OUT_OF_MEMORY, detail
    return Ending.CRASH, detail


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

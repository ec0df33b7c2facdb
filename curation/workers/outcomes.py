"""Outcomes of one request to a child process."""

from __future__ import annotations

import signal
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from curation.system.errors import TemporarilyUnavailable

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_T = TypeVar("_T")
#: What runtimes write to standard error when an allocation fails.
MEMORY_WORDS = ("MemoryError", "memory allocation of", "bad_alloc", "out of memory")


class Ending(StrEnum):
    """How one request ended."""

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


class ProcessResult(NamedTuple):
    """What became of one request that a worker process was given."""

    ending: Ending
    #: What the worker's function returned, as JSON text; `null` unless `ok`.
    text: bytes = b"null"
    #: What exactly was seen: the exception, the signal, the limit.
    detail: str = ""
    #: Number of the signal of which the process died, if it died of one; a signal
    #: that we sent ourselves does not count.
    signal: int | None = None
    #: The end of the child's standard error where it died.
    stderr: str = ""
    #: Seconds by the parent's clock.
    seconds: float = 0.0
    #: Of a time-out: the wall clock ended it, its processor time was not used up or not
    #: looked at.
    by_wall_clock: bool = False
    #: Whether the process then spent most of the time that it did not compute in
    #: waiting for a core: the machine was busy, and the process not idle.
    for_want_of_core: bool = False

    @property
    def was_killed(self) -> bool:
        """Whether somebody else sent SIGKILL: the kernel for memory, or a person."""
        return self.signal == signal.SIGKILL

    @property
    def answer(self) -> UntypedJson:
        """The value that the worker's function returned, read at each use."""
        return msgspec.json.decode(self.text)

    def answer_as(self, answer_type: type[_T]) -> _T:
        """Return the answer as a value of a type that msgspec knows.

        Args:
            answer_type: A `msgspec.Struct`, a dataclass, a TypedDict, an enumeration or
                a container of them; fields are found by name.

        Raises:
            msgspec.DecodeError: the answer is not of this type.

        Example:
            >>> ProcessResult(ending=Ending.OK, text=b"[1]").answer_as(tuple[int, ...])
            (1,)
        """
        return msgspec.json.decode(self.text, type=answer_type)


def refuse_endless(outcome: ProcessResult, place: str) -> None:
    """Refuse a request that a clock has ended: no limit of time decides on data.

    Limits of data are counted, the same on every machine, and bind long before this.

    Args:
        outcome: What became of the request.
        place: What it was about, for the message.

    Raises:
        TemporarilyUnavailable: it was ended by a clock.
    """
    if outcome.ending is Ending.TIMEOUT:
        raise TemporarilyUnavailable(
            f"{outcome.detail}, and no limit of time decides what is in a dataset",
            place,
            "the same command goes on from here; without this file it ends as well",
        )

"""Limits of one document and one child process, their messages, and their outcomes.

The largest of the 82,094 files of json-schema-corpus has 1.6 MB; the defaults are
about ten times what real schemas need.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import NamedTuple, TypeAlias, TypeVar

import msgspec

from curation.core.documents import Reason, Rejected
from curation.core.json_types import Json, UntypedJson
from curation.json.text import nested_values
from curation.system.errors import TemporarilyUnavailable

#: Bytes of one raw document.
DOCUMENT_BYTES = 16 * 2**20
#: Objects with an `id` or `$id` inside each other. Validators take cubic time and space
#: for them; SchemaStore and WitnessGeneration have ten at most.
IDENTIFIERS = 32
#: JSON values (members and elements) in one document.
NODES = 1_000_000
#: Seconds of processor time after which a request of a build is taken for endless.
#: What counted limits let through takes a tenth of it on a slow machine.
BACKSTOP = 600.0

#: What a worker can be given, as its set-up or as a request: msgspec writes it as JSON.
Message: TypeAlias = "Json | msgspec.Struct | Mapping[str, Message] | Sequence[Message]"


class WorkerLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a worker; its fields decide its meaning."""

    #: The worker waits for requests.
    ready: bool = False
    #: It cannot start: why.
    failed: str | None = None
    #: Position of the request in its batch.
    request: int | None = None
    #: What the function returned, as the JSON text that it is.
    answer: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    #: The exception of the function.
    error: str | None = None
    #: The same, where memory was short.
    memory: str | None = None


_LINES = msgspec.json.Decoder(WorkerLine)


def decode_line(line: bytes) -> WorkerLine:
    """Return one line of a worker; an empty one for other text."""
    try:
        return _LINES.decode(line)
    except (ValueError, RecursionError):
        return WorkerLine()


#: `Limits.wall_times` of work whose result must not turn on how busy the machine is:
#: decisions about documents, and answers about schemas.
BUSY_MACHINE = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a worker and its requests; part of a build's fingerprint."""

    #: Seconds for one document (request) in a worker: by the wall clock, unless
    #: `wall_times` is more than 1, then of processor time.
    seconds: float = 20.0
    #: How many times that long a request may take by the wall clock at most, while its
    #: processor time is not used up: where a machine is busy or a worker waits.
    wall_times: float = 1.0
    #: Seconds by the wall clock until a worker is ready.
    start_seconds: float = 60.0
    #: MiB that a worker may take above its memory when it is ready.
    memory_mb: int = 1024
    #: MiB of the largest file that a worker may write.
    file_mb: int = 64
    #: Files that a worker may have open.
    open_files: int = 256
    #: Bytes of one answer.
    answer_bytes: int = 256 * 2**20
    #: Batches after which a worker is replaced by a fresh one.
    recycle_after: int = 200


def too_big(content: bytes) -> Rejected | None:
    """Return why a text is too long to be read, or None if it may be read."""
    if len(content) <= DOCUMENT_BYTES:
        return None
    detail = f"{len(content):,} bytes, over the limit of {DOCUMENT_BYTES:,}"
    return Rejected(reason=Reason.TOO_LARGE, detail=detail)


def too_many(value: Json, most: int = NODES) -> Rejected | None:
    """Return why a parsed document has too many JSON values, or None.

    The root counts too. They are counted until there are too many.
    """
    if sum(1 for _ in islice(nested_values(value), most + 1)) <= most:
        return None
    return Rejected(reason=Reason.TOO_LARGE, detail=f"more than {most:,} JSON values")


def too_identified(value: Json) -> Rejected | None:
    """Return why identifiers are nested too deep, or None."""
    stack = [(value, 0)]
    while stack:
        outer, level = stack.pop()
        if isinstance(outer, dict):
            level += isinstance(outer.get("$id"), str) or isinstance(
                outer.get("id"), str
            )
            if level > IDENTIFIERS:
                detail = f"over {IDENTIFIERS} identifiers inside each other"
                return Rejected(reason=Reason.TOO_DEEP, detail=detail)
            stack += [(inner, level) for inner in outer.values()]
        elif isinstance(outer, list):
            stack += [(inner, level) for inner in outer]
    return None


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
    #: For a time-out: the wall clock ended it, its processor time was unused or not
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

"""What the parent says to a worker and reads of it, as types.

The other end is `curation.workers.protocol`, which an engine's own Python may run: it
knows the standard library only, and names the same fields as `TypedDict`s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec

from curation.core.json_types import Json, UntypedJson

#: What a worker can be given, as its set-up or as a unit: msgspec writes it as JSON.
Message: TypeAlias = "Json | msgspec.Struct | Mapping[str, Message] | Sequence[Message]"


class WorkerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker may use, which it sets on itself once it is ready."""

    #: Bytes above what it holds when it is ready.
    memory_bytes: int
    #: Bytes of the largest file that it may write.
    file_bytes: int
    #: Files that it may have open.
    open_files: int


class Greeting(msgspec.Struct, frozen=True, kw_only=True):
    """The first line that a worker reads."""

    #: What the worker's `start` function is given.
    setup: Message
    limits: WorkerLimits
    #: Process id of the parent, without which the worker ends.
    parent: int


class UnitBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Units that a worker is to answer, one line each, in order."""

    units: Sequence[Message]


class WorkerLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a worker; which fields are there tells what it means."""

    #: The worker waits for units.
    ready: bool = False
    #: It cannot start: why.
    failed: str | None = None
    #: Position of the unit in its batch.
    unit: int | None = None
    #: What the function returned, as JSON.
    answer: UntypedJson = msgspec.UNSET
    #: The exception of the function.
    error: str | None = None
    #: The same, where memory was short.
    memory: str | None = None


class UnreadLine(WorkerLine, frozen=True, kw_only=True):
    """One line of a worker whose answer is left as the JSON text that it is."""

    answer: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_ENCODER = msgspec.json.Encoder()
_LINES = msgspec.json.Decoder(WorkerLine)
_UNREAD_LINES = msgspec.json.Decoder(UnreadLine)
_NO_LINE = WorkerLine()


def encode_message(message: Greeting | UnitBatch) -> bytes:
    """Return a message as one line, without its end.

    Raises:
        TypeError: it holds what JSON cannot say.
    """
    return _ENCODER.encode(message)


def decode_line(line: bytes, *, unread: bool = False) -> WorkerLine:
    """Return one line of a worker; of what is no message an empty one.

    Args:
        line: What the worker has sent.
        unread: Whether its answer is left as the JSON text that it is.
    """
    try:
        return (_UNREAD_LINES if unread else _LINES).decode(line)
    except (ValueError, RecursionError):
        return _NO_LINE

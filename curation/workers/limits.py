"""Limits of one document and one child process, and the messages that carry them.

The largest of the 82,094 files of json-schema-corpus has 1.6 MB; the defaults are
about ten times what real schemas need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from curation.core.documents import Reason, Rejected
from curation.core.json_types import Json

#: Bytes of one raw document.
DOCUMENT_BYTES: Final = 16 * 2**20
#: Objects with an `id` or `$id` inside each other. Validators take cubic time and space
#: for them; SchemaStore and WitnessGeneration have ten at most.
IDENTIFIERS: Final = 32
#: JSON values (members and elements) in one document.
NODES: Final = 1_000_000
#: Seconds of processor time after which a request of a build is taken for endless.
#: What counted limits let through takes a tenth of it on a slow machine.
BACKSTOP: Final = 600.0

#: What a worker can be given, as its set-up or as a request: msgspec writes it as JSON.
Message: TypeAlias = "Json | msgspec.Struct | Mapping[str, Message] | Sequence[Message]"


class WorkerLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a worker; which fields are there tells what it means."""

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
    """Return one line of a worker; of what is no message an empty one."""
    try:
        return _LINES.decode(line)
    except (ValueError, RecursionError):
        return WorkerLine()


#: `Limits.wall_times` of work whose result must not turn on how busy the machine is:
#: what becomes of a document, and what is found out about a schema.
BUSY_MACHINE: Final = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a worker and its requests; of a build part of its fingerprint."""

    #: Seconds for one document (request) in a worker: by the wall clock, unless
    #: `wall_times` is more than 1, then of processor time.
    seconds: float = 20.0
    #: How many times that long a request may take by the wall clock at most, while its
    #: processor time is not used up: where a machine is busy or a worker waits.
    wall_times: float = 1.0
    #: Seconds by the wall clock until a worker is ready.
    start_seconds: float = 60.0
    #: MiB that a worker may take above what it holds when it is ready.
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
    """Return why a parsed document has too many JSON values, or None."""
    if count_nodes(value, most) <= most:
        return None
    return Rejected(reason=Reason.TOO_LARGE, detail=f"more than {most:,} JSON values")


def too_identified(value: Json) -> Rejected | None:
    """Return why identifiers stand too deep inside each other, or None."""
    stack = [(value, 0)]
    while stack:
        outer, level = stack.pop()
        if isinstance(outer, dict):
            level += any(isinstance(outer.get(name), str) for name in ("$id", "id"))
            if level > IDENTIFIERS:
                detail = f"over {IDENTIFIERS} identifiers inside each other"
                return Rejected(reason=Reason.TOO_DEEP, detail=detail)
            stack += [(inner, level) for inner in outer.values()]
        elif isinstance(outer, list):
            stack += [(inner, level) for inner in outer]
    return None


def count_nodes(value: Json, enough: int) -> int:
    """Count JSON values, the root included; stop once there are more than enough."""
    count, stack = 1, [value]
    while stack and count <= enough:
        inner = stack.pop()
        if isinstance(inner, dict):
            count += len(inner)
            stack.extend(inner.values())
        elif isinstance(inner, list):
            count += len(inner)
            stack.extend(inner)
    return count

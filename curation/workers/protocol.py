"""The child's side of `curation.workers.pool`: JSON lines over two private pipes.

Only the standard library is imported here, so that a worker can load this file
by its path in an environment that knows nothing of csbdata. The parent sends a
greeting, then batches of requests; each request is answered by one line, in order, so
the parent knows at any moment which request the child is on:

    -> {"setup": ..., "limits": {...}, "parent": 4711}
    <- {"ready": true}                   or {"failed": "why"}
    -> {"requests": [..., ...]}
    <- {"request": 0, "answer": ...}     or {"request": 0, "error": "ValueError: ..."}
    <- {"request": 1, "memory": "MemoryError"}

End of file on the command pipe means: end. Standard output leads to standard
error, so that a library which prints cannot break the protocol. The parent's side
of these messages is `curation.workers.limits`.

    def start(setup):
        return lambda request: request * setup["factor"]

    serve(start)
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, TypeVar

_Setup = TypeVar("_Setup")
_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")

#: Name of the environment variable with the two file descriptors.
CHANNEL = "CSBDATA_CHANNEL"
_PR_SET_PDEATHSIG = 1
#: Bytes that a child may print with one answer: a little less than the largest file
#: that it may write.
MAX_PRINTED_BYTES = 60 * 2**20


def encode_json(value: object) -> bytes:
    """Return one JSON text without line ends; NaN and infinities are refused."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def serve(
    start: Callable[[_Setup], Callable[[_Request], _Answer]],
    *,
    encode: Callable[[object], bytes] = encode_json,
    decode: Callable[[bytes], Any] = json.loads,
) -> None:
    """Answer the parent until it closes its end.

    Args:
        start: Called once with the parent's set-up value; returns the function that
            answers one request. Limits are set after it, so that its imports and
            maps does not count. An exception of the function is that request's error.
        encode: Writes a value as one line of JSON.
        decode: Reads a line of JSON.
    """
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - only Linux needs it

        # Elsewhere end of file must do when the parent dies.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    reading, writing = map(int, os.environ.pop(CHANNEL).split(","))
    for descriptor in (reading, writing):
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - positional only
    commands = os.fdopen(reading, "rb")
    answers = os.fdopen(writing, "wb", buffering=0)
    greeting = decode(commands.readline())
    if os.getppid() != greeting["parent"]:
        return
    try:
        handle = start(greeting["setup"])
    except Exception as error:  # noqa: BLE001 - any exception is reported to the parent
        _send(answers, encode({"failed": describe(error)}))
        return
    gc.collect()
    gc.freeze()
    _limit(greeting["limits"])
    _send(answers, encode({"ready": True}))
    for line in commands:
        for index, request in enumerate(decode(line)["requests"]):
            try:
                answer = encode({"request": index, "answer": handle(request)})
            except MemoryError as error:
                answer = encode({"request": index, "memory": describe(error)})
            except Exception as error:  # noqa: BLE001 - any exception is the request's result
                answer = encode({"request": index, "error": describe(error)})
            _send(answers, answer)


def describe(error: BaseException) -> str:
    """Return the error's type and message, and the innermost place it comes from."""
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f" ({os.path.basename(code.co_filename)}:{trace.tb_lineno})"  # noqa: PTH119 - pathlib is slow to import
        trace = trace.tb_next
    text = f"{type(error).__name__}: {str(error)[:2000]}{place}"
    return text.encode("utf-8", "backslashreplace").decode()


def _send(answers: BinaryIO, line: bytes) -> None:
    unsent = memoryview(line + b"\n")
    while unsent:
        unsent = unsent[answers.write(unsent) :]


def _limit(limits: dict[str, int]) -> None:
    """Set the limits on this process; memory counts from the present use.

    They are `memory_bytes`, `file_bytes` of the largest file, and `open_files`.
    """
    try:
        import resource  # noqa: PLC0415 - POSIX only
    except ImportError:
        return
    memory = limits["memory_bytes"]
    # The private writable memory, as RLIMIT_DATA counts it.
    with (
        contextlib.suppress(OSError),
        open("/proc/self/status", encoding="ascii", errors="replace") as status,  # noqa: PTH123 - pathlib is slow to import
    ):
        sizes = [line.split()[1] for line in status if line.startswith("VmData:")]
        memory += 1024 * sum(map(int, sizes))
    ceilings = {
        "RLIMIT_DATA": memory,
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": limits["file_bytes"],
        "RLIMIT_NOFILE": limits["open_files"],
    }
    for name, value in ceilings.items():
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (lower, lower))

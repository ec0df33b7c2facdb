"""A worker that behaves as badly as it is told to; run by its path."""

from __future__ import annotations

import atexit
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.workers.protocol import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    UntypedJson = Any

#: The descriptor of the answers, before `serve` takes it.
ANSWERS = int(os.environ["CSBDATA_CHANNEL"].split(",")[1])


def echo(value: UntypedJson) -> UntypedJson:
    """Answer what was asked."""
    return value


def die(name: str) -> None:
    """Die of a signal."""
    os.kill(os.getpid(), signal.Signals[name])
    time.sleep(60)


def leave(status: int) -> None:
    """End without an answer."""
    os._exit(status)


def nap(seconds: float) -> str:
    """Wait, and use no memory."""
    time.sleep(seconds)
    return "awake"


def say_goodbye(file: str) -> None:
    """Leave a file at the end of the process, if it has a moment."""

    def leave_it() -> None:
        time.sleep(0.2)
        Path(file).touch()

    atexit.register(leave_it)


def backtrack(length: int) -> UntypedJson:
    """Search in a native loop that no signal handler interrupts."""
    import regress  # noqa: PLC0415 - only this one needs it

    return regress.Regex("^(a+)+$").find("a" * length + "b") is None


def hold(megabytes: int) -> int:
    """Take memory all at once."""
    return len(bytearray(megabytes * 2**20))


def hog(_: UntypedJson) -> None:
    """Take memory until there is none."""
    taken = []
    while True:
        taken.append(bytearray(2**20))


def map_shared(megabytes: int) -> int:
    """Take resident memory of a kind that no data limit counts."""
    import mmap  # noqa: PLC0415 - only this one needs it

    with mmap.mmap(-1, megabytes * 2**20) as taken:
        for page in range(0, len(taken), 4096):
            taken[page] = 1
        time.sleep(60)
        return len(taken)


def abort_for_memory(_: UntypedJson) -> None:
    """Die as a Rust or C++ library does where an allocation fails."""
    sys.stderr.write("memory allocation of 4096 bytes failed\n")
    sys.stderr.flush()
    os.abort()


def babble(count: int) -> str:
    """Write junk to standard output, by Python and by the descriptor."""
    for _ in range(count):
        sys.stdout.write("junk " * 20 + "\n")
    sys.stdout.flush()
    os.write(1, b'{"request": 0, "answer": "a lie"}\n')
    return "answered"


def inject(line: str) -> str:
    """Write into the private channel what is no answer."""
    os.write(ANSWERS, line.encode())
    return "too late"


def half(_: UntypedJson) -> None:
    """Begin an answer and end."""
    os.write(ANSWERS, b'{"request": 0, "answ')
    os._exit(3)


def close_channel(_: UntypedJson) -> None:
    """Close the channel and go on."""
    os.close(ANSWERS)
    time.sleep(60)


def flood(megabytes: int) -> None:
    """Send a line that does not end."""
    for _ in range(megabytes):
        rest = memoryview(b"x" * 2**20)
        while rest:
            rest = rest[os.write(ANSWERS, rest) :]


def write_file(given: tuple[str, int]) -> int:
    """Write a file of so many bytes."""
    path, size = given
    return Path(path).write_bytes(b"x" * size)


def once(path: str) -> str:
    """Die at the first call, answer at the second."""
    if Path(path).exists():
        return "second"
    Path(path).touch()
    os.abort()


def limits(_: UntypedJson) -> dict[str, int]:
    """Tell what limits are set."""
    names = ("RLIMIT_CORE", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_DATA")
    return {each: resource.getrlimit(getattr(resource, each))[0] for each in names}


def environment(_: UntypedJson) -> dict[str, str]:
    """Tell what environment it sees."""
    return dict(os.environ)


def paths(_: UntypedJson) -> list[str]:
    """Tell where it imports from."""
    return sys.path


def identity(_: UntypedJson) -> int:
    """Tell the process id."""
    return os.getpid()


def grandchild(_: UntypedJson) -> int:
    """Start a process of its own and hang."""
    child = os.fork()
    if child == 0:
        time.sleep(600)
    sys.stdout.write(f"grandchild {child}\n")
    sys.stdout.flush()
    time.sleep(600)
    return child


def fail(message: str) -> None:
    """Raise."""
    raise ValueError(message)


def not_json(_: UntypedJson) -> UntypedJson:
    """Answer with what no JSON text can hold."""
    return float("nan")


def die_counted(file: str) -> None:
    """Die every time, and leave a byte for each."""
    with Path(file).open("ab") as counter:
        counter.write(b".")
    os._exit(3)


def stubborn(_: UntypedJson) -> None:
    """Ignore the kind signal and hang."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def start(setup: UntypedJson) -> Callable[[UntypedJson], UntypedJson]:
    """Obey requests of the form [name, argument]."""
    if setup == "raise":
        raise RuntimeError("cannot start")
    if setup == "die":
        os.abort()
    if setup == "hang":
        time.sleep(600)

    def handle(request: UntypedJson) -> UntypedJson:
        name, argument = request
        return setup if name == "setup" else globals()[name](argument)

    return handle


if __name__ == "__main__":
    serve(start)

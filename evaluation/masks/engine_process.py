"""The process of one engine.

Run by its path with the interpreter of the engine's own environment, which may know
nothing of csbdata: only the standard library is imported, and everything else is
loaded by its path.

    engine_process.py PROTOCOL.py PRINTED SESSION.py

PROTOCOL is `curation/workers/protocol.py`. SESSION is `walk_session.py` or
`generation_session.py`: its `open_session(engine, setup, printed)` returns the function
that answers a question. What an engine prints, from Python or from native code, goes to
the file PRINTED.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib.util
import os
import re
import sys
from functools import cached_property
from time import perf_counter_ns, process_time_ns, thread_time_ns
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from evaluation.core.engine_protocol import Engine, Matcher

    class TokenizerSetup(TypedDict):
        """The parent's message about the tokenizer: files and numbers."""

        #: Path of a JSON list: base64 by id, or null.
        tokens: str
        vocab_size: int
        eos_id: int
        special_ids: list[int]
        tokenizer_json: str

    class EngineSetup(TypedDict, total=False):
        """The parent's setup of the process; a session reads its part."""

        #: Path of the engine's file.
        engine: str
        #: What its `load` is given.
        options: dict[str, object]
        tokenizer: TokenizerSetup
        #: The cores to stay on; none for any.
        cores: list[int]
        #: Whether a token outside the mask may be offered to `commit`.
        checks_commit: bool
        #: The token of each single byte, by byte; -1 without one.
        byte_ids: list[int]
        #: Path of the file that masks are written to, the bytes of each, and the
        #: place of this process's.
        masks: str
        mask_bytes: int
        row: int
        #: The tokens that may come next where a text may end.
        ends: list[int]

    #: What is asked and answered: a JSON object.
    Question = dict[str, Any]
    Answer = dict[str, Any]

#: The engine's module, and the folder of those that come with csbdata.
_ENGINE = "csbdata_engine"
_OUR_ENGINES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "engines")  # noqa: PTH118, PTH120 - pathlib is slow to import
#: Errors that nobody raises to refuse a schema.
_MISTAKES = (NameError, AttributeError, TypeError, LookupError, ImportError)
#: Bytes of output that come back with one answer.
_MAX_RETURNED = 8 * 1024
_MAX_WARNINGS = 50
#: The calibration work: the number of sums, and of entries of their table.
_SUMS = 600
_ENTRIES = 509


class Vocabulary:
    """What an engine's `load` is given, see `engine_protocol.Tokenizer`."""

    def __init__(self, setup: TokenizerSetup) -> None:
        """Take the parent's message about the tokenizer."""
        self._tokens = setup["tokens"]
        self.vocab_size = setup["vocab_size"]
        self.eos_id = setup["eos_id"]
        self.special_ids = setup["special_ids"]
        self.tokenizer_json = setup["tokenizer_json"]

    @cached_property
    def token_bytes(self) -> list[bytes | None]:
        """The bytes of every token by id, read when an engine first asks for them."""
        import json  # noqa: PLC0415 - once a process
        from binascii import a2b_base64  # noqa: PLC0415 - once a process

        with open(self._tokens, "rb") as file:  # noqa: PTH123 - pathlib is slow to import
            tokens = json.load(file)
        return [None if token is None else a2b_base64(token) for token in tokens]


class PrintedOutput:
    """The file that standard output and standard error lead to."""

    def __init__(self, path: str, max_bytes: int) -> None:
        """Turn both there, for Python and for native code alike."""
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(descriptor, stream)
        self._file = descriptor
        self._max_bytes = max_bytes
        #: Whether as much was printed as may be, before the last call of `take`.
        self.too_much = False
        self._flushes: list[Callable[[], object]] = [
            sys.stdout.flush,
            sys.stderr.flush,
        ]
        with contextlib.suppress(ImportError, OSError, AttributeError, TypeError):
            import ctypes  # noqa: PLC0415 - not on every platform

            native = ctypes.CDLL(None).fflush
            self._flushes.append(lambda: native(None))

    def take(self) -> str:
        """Return the output since the last call, its end where it is long."""
        for flush in self._flushes:
            with contextlib.suppress(OSError, ValueError):
                flush()
        size = os.fstat(self._file).st_size
        self.too_much = size >= self._max_bytes
        if not size:
            return ""
        content = os.pread(self._file, _MAX_RETURNED, max(0, size - _MAX_RETURNED))
        os.ftruncate(self._file, 0)
        return content.decode("utf-8", "replace")


def compile_schema(
    engine: Engine, schema: str, waits: CoreWaits | None = None
) -> tuple[object, Answer]:
    """Return a grammar, what its compilation took, and warnings; or the refusal.

    Args:
        engine: The engine.
        schema: The schema's text.
        waits: Measures how long the call waited for its core; None: not measured.
    """
    gc.collect()
    if waits is not None:
        waits.since_last()
    start = perf_counter_ns()
    try:
        grammar = engine.compile(schema)
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - a native panic is not an Exception
        return None, {"refusal": describe_error(error)}
    answer: Answer = {"compile_ns": perf_counter_ns() - start}
    if waits is not None:
        answer["waited_ns"] = waits.since_last()
    answer["warnings"] = engine_warnings(engine, grammar)
    return grammar, answer


def engine_warnings(engine: Engine, grammar: object) -> list[str]:
    """Return an engine's warnings about a grammar, their first lines."""
    warnings = getattr(engine, "warnings", lambda _grammar: ())(grammar)
    return [encodable(str(warning)[:1000]) for warning in warnings][:_MAX_WARNINGS]


def error_reader(matcher: Matcher) -> Callable[[], str]:
    """Return the function that describes a matcher's failure, empty without one.

    An engine that cannot be asked raises: `str()` is empty.
    """
    error: Callable[[], str] = getattr(matcher, "error", str)
    return error


def take_token(matcher: Matcher, token: int) -> bool:
    """Commit a token; return whether it was taken.

    Raises:
        RuntimeError: the matcher reports a failure.
    """
    accepted = bool(matcher.commit(token))
    raise_failure(matcher)
    return accepted


def raise_failure(matcher: Matcher) -> None:
    """Raise a matcher's reported failure, if any.

    Raises:
        RuntimeError: it has.
    """
    if failure := error_reader(matcher)():
        raise RuntimeError(failure)


def describe_error(error: BaseException) -> str:
    """Return an error's type and message, in characters that JSON can hold."""
    text = f"{type(error).__name__}: {str(error)[:2000]}"
    return encodable(text + _line_of_mistake(error))


def _line_of_mistake(error: BaseException) -> str:
    """Return the line of a user's engine file that a programming mistake comes from."""
    path = str(getattr(sys.modules.get(_ENGINE), "__file__", _OUR_ENGINES))
    if not isinstance(error, _MISTAKES) or path.startswith(_OUR_ENGINES):
        return ""
    trace, line = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f" ({os.path.basename(path)}:{line})" if line else ""  # noqa: PTH119 - pathlib is slow to import


def encodable(text: str) -> str:
    """Return a text with an escape for each half of a surrogate pair."""
    return text.encode("utf-8", "backslashreplace").decode()


class Deadline:
    """The deadline of a case's walks: processor time, and the wall clock.

    Reading the processor time takes as long as a short mask, so it is read only when it
    may be used up.
    """

    def __init__(
        self, seconds: float, wall_seconds: float, waits: CoreWaits | None = None
    ) -> None:
        """Begin to count.

        Args:
            seconds: Processor time of all threads together.
            wall_seconds: By the wall clock.
            waits: Tells how long this thread has waited for its core.
        """
        self._processor = process_time_ns() + int(seconds * 1e9)
        self._wall = perf_counter_ns() + int(wall_seconds * 1e9)
        self._seconds, self._wall_seconds = seconds, wall_seconds
        self._cores = _usable_cores()
        self._begun = perf_counter_ns(), process_time_ns()
        self._waits = waits
        self._waited_before = self._waited()
        #: Why it has passed; empty while it has not.
        self.passed = ""
        self.by_wall_clock = False
        #: Whether most of the time without work was waiting for a core.
        self.for_want_of_core = False
        #: The reading of the wall clock before which it cannot have passed.
        self.next_look = 0
        self.look(perf_counter_ns())

    def look(self, now: int) -> bool:
        """Return whether it has passed; otherwise set the time of the next look."""
        remaining = self._processor - process_time_ns()
        if remaining <= 0:
            self.passed = f"not finished within {self._seconds:g} s of processor time"
        elif now >= self._wall:
            self.passed = f"not finished within {self._wall_seconds:g} s"
            self.passed += " by the wall clock"
            self.by_wall_clock = True
            wall, processor = self._begun
            idle = now - wall - (process_time_ns() - processor)
            waited = self._waited() - self._waited_before
            self.for_want_of_core = 2 * waited > idle
        self.next_look = min(now + max(remaining // self._cores, 1_000_000), self._wall)
        return bool(self.passed)

    def _waited(self) -> int:
        return (self._waits and self._waits.total()) or 0


#: As the logs of native code begin; rows are the same whenever they are made.
_CLOCK = re.compile(r"^\[\d\d:\d\d:\d\d\] ")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")


def printed_lines(text: str) -> list[str]:
    """Return the output, line by line, without the time of day before it."""
    lines = (_CLOCK.sub("", line.strip()) for line in text.splitlines())
    return [without_addresses(line[:1000]) for line in lines if line]


def without_addresses(text: str) -> str:
    """Return a text without addresses in memory, which the next run has elsewhere."""
    return _ADDRESS.sub("0x...", text)


class CoreWaits:
    """How long this thread waited for its core, as Linux counts it."""

    def __init__(self) -> None:
        """Open the system's account of this thread, where it has one."""
        self._file: int | None = None
        with contextlib.suppress(OSError):
            self._file = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        self._last = 0

    def close(self) -> None:
        """Close the system's account."""
        if self._file is not None:
            os.close(self._file)

    def total(self) -> int | None:
        """Return the nanoseconds since the thread began; None if not counted."""
        if self._file is None:
            return None
        try:
            return int(os.pread(self._file, 96, 0).split()[1])
        except (OSError, ValueError, IndexError):
            return None

    def since_last(self) -> int | None:
        """Return the nanoseconds since the last call; None if not counted."""
        now = self.total()
        if now is None:
            return None
        waited, self._last = now - self._last, now
        return max(0, waited)


def calibration_ns() -> int:
    """Return the processor time of a fixed piece of work: sums in a table.

    It shows how fast the machine is. Done once, not repeated: with its data in the
    core's caches it would take as long on a busy machine as on a quiet one, unlike
    engines. Work that mostly moves memory slows down twice as much as engines do.
    """
    start = thread_time_ns()
    table: dict[int, int] = {}
    for number in range(_SUMS):
        entry = number * 7919 % _ENTRIES
        table[entry] = table.get(entry, 0) + number
    return thread_time_ns() - start


def freeze() -> None:
    """Exclude all present objects from garbage collection.

    An engine's library has up to 180,000 objects (torch): to look through them takes
    80 ms, which would be paid before every schema.
    """
    gc.collect()
    gc.freeze()


def interruptions() -> int | None:
    """Return how often this process was interrupted; None if not counted."""
    try:
        import resource  # noqa: PLC0415 - POSIX only
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def resident_bytes() -> int | None:
    """Return the resident bytes of this process; None where Linux is not."""
    with contextlib.suppress(OSError), open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - pathlib is slow to import
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return None


def _usable_cores() -> int:
    """Return on how many cores this process may run."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _module(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Serve until the other side closes its end."""
    protocol = _module("csbdata_worker_protocol", sys.argv[1])
    printed = PrintedOutput(sys.argv[2], protocol.MAX_PRINTED_BYTES)
    # A session imports this file by its name, where there may be no such package.
    sys.modules["evaluation.masks.engine_process"] = sys.modules["__main__"]
    session = _module("csbdata_session", sys.argv[3])
    faulthandler.enable(2)

    def start(setup: EngineSetup) -> Callable[[Question], Answer]:
        cores = setup.get("cores")
        if cores and hasattr(os, "sched_setaffinity"):
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, cores)
        module = _module(_ENGINE, setup["engine"])
        engine = module.load(Vocabulary(setup["tokenizer"]), setup["options"])
        answer: Callable[[Question], Answer] = session.open_session(
            engine, setup, printed
        )
        return answer

    protocol.serve(start)


if __name__ == "__main__":
    main()

"""One child process: its pipes, its memory, and its end.

The child runs in a separate session: it is killed with all its children, and
Ctrl-C reaches only the parent.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from curation.workers.limits import MEMORY_WORDS, Ending, Message, ProcessResult
from curation.workers.protocol import CHANNEL

if TYPE_CHECKING:
    import psutil

#: What a child may know of our environment; everything else, tokens above all,
#: stays here.
_ALLOWED = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
#: The same for every run, so that no answer depends on the caller's settings.
_FIXED = {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
_PACKAGES = Path(__file__).resolve().parents[2]
_CHUNK = 2**20
_STDERR_TAIL = 8 * 1024
#: Seconds between SIGTERM and SIGKILL.
_GRACE = 0.5


class Program(NamedTuple):
    """What a worker runs.

    Example:
        >>> program = Program(module="curation.relation.worker")
    """

    #: A module of ours with a function `start` (`curation.workers.child`).
    module: str = ""
    #: In its place: a Python file that calls `curation.workers.protocol.serve`.
    file: Path = Path()
    #: What its `start` function is given.
    setup: Message = None
    #: The Python that runs it; it may be another environment's.
    interpreter: str = sys.executable
    arguments: tuple[str, ...] = ()
    #: Environment variables beyond the allow-list.
    environment: Mapping[str, str] = {}
    #: Files and folders that the set-up names.
    files: tuple[Path, ...] = ()
    #: Whether the module is run in a copy of this process, which has imported it: half
    #: a second less. Only for a process without threads of others.
    forked: bool = False

    @property
    def name(self) -> str:
        """The module or the file, for messages."""
        return self.module or str(self.file)

    def command(self) -> list[str]:
        """Return the command line; `-P` keeps the file's folder off the path."""
        words = [str(self.file), *self.arguments]
        if self.module:
            words = ["-m", "curation.workers.child", self.module]
        return [self.interpreter, "-P", *words]

    def variables(self) -> dict[str, str]:
        """Return the whole environment of the child."""
        inherited = {name: os.environ[name] for name in _ALLOWED if name in os.environ}
        if self.interpreter == sys.executable:
            inherited["PYTHONPATH"] = str(_PACKAGES)
        return {**inherited, **_FIXED, **self.environment}


class Child:
    """A running child process. No method here blocks but `stop`."""

    def __init__(self, program: Program) -> None:
        """Start the process.

        Raises:
            OSError: the interpreter cannot be run.
        """
        child_reads, self._commands = os.pipe()
        self._answers, child_writes = os.pipe()
        channel = f"{child_reads},{child_writes}"
        self._process: subprocess.Popen[bytes] | Fork
        try:
            if program.forked:
                inherited = self._commands, self._answers
                self._process = Fork(program.module, channel, inherited)
            else:
                self._process = subprocess.Popen(
                    program.command(),
                    env={**program.variables(), CHANNEL: channel},
                    pass_fds=(child_reads, child_writes),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except BaseException:
            os.close(self._commands)
            os.close(self._answers)
            raise
        finally:
            os.close(child_reads)
            os.close(child_writes)
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        self._output = self._process.stdout.fileno()
        for descriptor in (self._commands, self._answers, self._output):
            os.set_blocking(descriptor, False)
            if sys.platform == "linux":
                # After 64 KiB, one side would wait for the other.
                with contextlib.suppress(OSError):
                    fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _CHUNK)
        self._outgoing = bytearray()
        self._incoming = bytearray()
        self._last_output = b""
        self._input_closed = False
        self._output_ended = False
        self._stopped = False
        #: Whole lines received and not yet taken.
        self.lines: deque[bytes] = deque()
        #: The child has closed its end of the answer pipe.
        self.ended = False

    @property
    def last_output(self) -> str:
        """The end of its standard output and standard error."""
        return self._last_output.decode("utf-8", "replace")

    @property
    def unfinished(self) -> int:
        """Bytes received of a line that has no end yet."""
        return len(self._incoming)

    def rss_bytes(self) -> int:
        """Return the resident memory now; 0 once the process is gone."""
        return int(self._measured(lambda process: process.memory_info().rss))

    def processor_seconds(self) -> float:
        """Return the processor time of all its threads; 0 once the process is gone."""
        return self._measured(lambda process: sum(process.cpu_times()[:2]))

    def _measured(self, measure: Callable[[psutil.Process], float]) -> float:
        import psutil  # noqa: PLC0415 - takes time

        try:
            return measure(psutil.Process(self._process.pid))
        except psutil.Error:
            return 0.0

    def waiting_seconds(self) -> float:
        """Return how long its main thread waited for a core; 0 where nobody counts."""
        try:
            counts = Path(f"/proc/{self._process.pid}/schedstat").read_text("ascii")
            return int(counts.split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

    def send(self, line: bytes) -> None:
        """Hand over one line; what its pipe cannot hold goes as the child reads."""
        if not self._input_closed:
            self._outgoing += line + b"\n"
            self._write()

    def interests(self) -> Iterator[tuple[int, int, Callable[[], object]]]:
        """Yield the descriptors to watch, for which events, and what then to call."""
        if self._stopped:
            return
        if not self.ended:
            yield self._answers, select.POLLIN, self._read_answers
        if not self._output_ended:
            yield self._output, select.POLLIN, self._read_output
        if self._outgoing:
            yield self._commands, select.POLLOUT, self._write

    def _write(self) -> None:
        try:
            written = os.write(self._commands, self._outgoing[:_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._input_closed = True
            written = len(self._outgoing)
        del self._outgoing[:written]

    def _read_answers(self) -> None:
        chunk = _read(self._answers)
        if chunk is None:
            return
        self.ended = not chunk
        *lines, remainder = chunk.split(b"\n")
        for line in lines:
            self.lines.append(bytes(self._incoming) + line)
            self._incoming.clear()
        self._incoming += remainder

    def _read_output(self) -> bool:
        """Read the last output; return whether there was any."""
        chunk = _read(self._output)
        if chunk is not None:
            self._output_ended = not chunk
            self._last_output = (self._last_output + chunk)[-_STDERR_TAIL:]
        return bool(chunk)

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the process; return whether it came in time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
            return True
        return False

    def cause_of_death(self) -> ProcessResult:
        """Return why the child has closed its answer pipe, with the signal, if any.

        A child that lives on is ended.
        """
        if not self.wait(1.0):
            self.stop()
            detail = "closed its pipe and went on"
            return ProcessResult(ending=Ending.PROTOCOL, detail=detail)
        status, partial = self._process.returncode, self.unfinished
        self.stop()
        detail = f"ended with status {status} without an answer"
        if status < 0:
            names = {number.value: number.name for number in signal.Signals}
            detail = f"killed by {names.get(-status, f'signal {-status}')}"
        if partial:
            detail += f", {partial:,} bytes into one"
        short_of_memory = any(phrase in self.last_output for phrase in MEMORY_WORDS)
        ending = Ending.CRASH
        if status == -signal.SIGKILL or (status and short_of_memory):
            ending = Ending.OUT_OF_MEMORY
        number = -status if status < 0 else None
        return ProcessResult(ending=ending, detail=detail, signal=number)

    def stop(self, *, let_it_finish: bool = False) -> None:
        """End the process and all its children, and read its last output.

        Args:
            let_it_finish: Close its commands first, and wait a moment for its own end.
        """
        if self._stopped:
            return
        os.close(self._commands)
        if not (let_it_finish and self.wait(_GRACE)):
            self._signal(signal.SIGTERM)
            self.wait(_GRACE)
        self._signal(signal.SIGKILL)
        self._process.wait()
        while self._read_output():
            pass
        self._stopped = True
        os.close(self._answers)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def exchange(children: Iterable[Child], seconds: float) -> None:
    """Move available bytes on all pipes; wait at most this long for the first."""
    poll, calls = select.poll(), {}
    for child in children:
        for descriptor, events, call in child.interests():
            poll.register(descriptor, events)
            calls[descriptor] = call
    if not calls:
        # No pipe is left to wait for: only the end of a process, which is asked for.
        time.sleep(min(seconds, 0.01))
        return
    for descriptor, _ in poll.poll(max(0.0, seconds) * 1000):
        calls[descriptor]()


def _read(descriptor: int) -> bytes | None:
    """Return available bytes, empty at the end of file, None without any."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None


#: Seconds between two looks at whether it has ended.
_PAUSE = 0.005


class Fork:
    """A forked process, as far as `subprocess.Popen` is used for children.

    It leads a session, reads nothing, and prints into a pipe.
    """

    def __init__(self, module: str, channel: str, inherited: tuple[int, ...]) -> None:
        """Fork, and run a module of ours there (`curation.workers.child`).

        Args:
            module: What to run; it should be imported by now.
            channel: The descriptors of its pipes, as in the variable `CHANNEL`.
            inherited: Descriptors of this process that the child must not keep.
        """
        from curation.workers import child  # noqa: PLC0415 - the forked child runs it

        reading, writing = os.pipe()
        self.returncode = 0
        self.args = module
        with warnings.catch_warnings():
            # Python 3.12 warns of the thread that prints progress.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                # Leave the parent's session, signals, standard streams and pipes.
                os.setsid()
                for number in (signal.SIGINT, signal.SIGTERM):
                    signal.signal(number, signal.SIG_DFL)
                nothing = os.open(os.devnull, os.O_RDONLY)
                os.dup2(nothing, 0)
                os.dup2(writing, 1)
                os.dup2(writing, 2)
                for descriptor in (*inherited, nothing, writing):
                    os.close(descriptor)
                os.environ[CHANNEL] = channel
                child.main(module)
                status = 0
            except BaseException:  # noqa: BLE001 - nothing of the parent may run on here
                os.write(2, traceback.format_exc().encode("utf-8", "replace"))
            finally:
                os._exit(status)
        os.close(writing)
        self.stdout = os.fdopen(reading, "rb", buffering=0)
        self._ended = False

    def wait(self, timeout: float = float("inf")) -> int:
        """Wait for the end; return the exit status, negative after a signal.

        Raises:
            TimeoutExpired: it continues.
        """
        end = time.monotonic() + timeout
        while not self._ended:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._ended = True
                self.returncode = os.waitstatus_to_exitcode(status)
            elif time.monotonic() >= end:
                raise subprocess.TimeoutExpired(self.args, timeout)
            else:
                time.sleep(_PAUSE)
        return self.returncode


class SharedMemory:
    """Bytes that a child writes and this process reads.

    Example:
        >>> with SharedMemory(4096) as memory:
        ...     child_opens(memory.path)
        ...     memory.bytes[:8]
    """

    def __init__(self, size: int) -> None:
        """Make it, filled with zeros; a size of 0 is a file that may grow.

        Raises:
            OSError: memory is short, or no place for it.
        """
        # A child opens the same by its path.
        if hasattr(os, "memfd_create"):
            self._file = os.memfd_create("csbdata")
            self.path = f"/proc/{os.getpid()}/fd/{self._file}"
        else:
            self._file, self.path = tempfile.mkstemp(prefix="csbdata-")
        self.bytes: mmap.mmap | bytes = b""
        if size:
            os.ftruncate(self._file, size)
            # Writable, as a device needs it.
            self.bytes = mmap.mmap(self._file, size)

    def __enter__(self) -> Self:
        """Return the memory."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give it back."""
        os.close(self._file)
        if not self.path.startswith("/proc/"):
            Path(self.path).unlink(missing_ok=True)

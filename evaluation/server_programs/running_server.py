"""A server program that runs for the length of a block, and not a moment longer."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psutil
import requests

from curation.system.errors import Unavailable
from curation.system.escaping import shortened
from curation.system.programs import environment_for_others
from evaluation.server_programs import session_end
from evaluation.server_programs.registry import find_executable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evaluation.server_programs.server_program import ServerProgram

#: Seconds between two looks at a server that starts.
_LOOK: Final = 0.2
#: Seconds between two lines that say that it is still starting.
_SAY: Final = 30.0
#: Seconds for which it may answer whether it is up.
_ANSWER: Final = 5.0
#: Lines and bytes of its log that are shown.
_LINES: Final = 20
_TAIL: Final = 2**14
_LONGEST_LINE: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStart:
    """What is to be served, and by which program."""

    program: ServerProgram
    model: str
    #: Arguments beyond those of the program.
    more: tuple[str, ...] = ()
    #: The library that is to constrain texts; empty: the program's choice.
    backend: str = ""
    #: For how long it may take until it answers.
    seconds: float = 1800.0

    def arguments(self, port: int) -> list[str]:
        """Return the arguments of the program."""
        program = self.program
        chosen = program.backend(self.backend) if self.backend else ()
        return [*program.arguments(self.model, port), *chosen, *self.more]

    @property
    def name(self) -> str:
        """What results call the server: its command, but for where it listens."""
        return shlex.join([self.program.name, *self.arguments(0)])


@contextmanager
def running_server(
    start: ServerStart, cache: Path, say: Callable[[str], None]
) -> Iterator[str]:
    """Start a server, wait until it answers, and end it with the block.

    It stands in a session of its own. However the block is left, the program and all
    that it has started are asked to end, and killed where they do not; where this
    process is killed, another one sees to that.

    Args:
        start: What is served.
        cache: Where environments of server programs are.
        say: Tells people how far it is.

    Yields:
        The server's address, without `/v1`.

    Raises:
        Unavailable: it is not installed, ends, or does not answer in time.
    """
    executable = find_executable(start.program, cache)
    port = _free_port()
    base = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(prefix="csbdata-") as folder:
        log = Path(folder) / "server.log"
        with log.open("wb") as told:
            process = subprocess.Popen(
                [str(executable), *start.arguments(port)],
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=subprocess.STDOUT,
                env=_environment(start.program, executable),
                start_new_session=True,
            )
        with _ended_with_us(process):
            say(f"{start.program.name}: starting, {start.seconds:,.0f} s at most")
            _wait(start, process, base, log, say)
            yield base
            if process.poll() is not None:
                _show(log, say)
                raise Unavailable(
                    f"{start.program.name} has ended (exit code {process.returncode})",
                    then="its last lines are above; the same command goes on",
                )


def _wait(
    start: ServerStart,
    process: subprocess.Popen[bytes],
    base: str,
    log: Path,
    say: Callable[[str], None],
) -> None:
    """Wait until the server answers.

    Raises:
        Unavailable: it ends, or takes too long.
    """
    begun = said = time.monotonic()
    name = start.program.name
    while not _is_up(f"{base}{start.program.health}"):
        now = time.monotonic()
        if process.poll() is not None:
            _show(log, say)
            raise Unavailable(
                f"{name} ended before it answered (exit code {process.returncode})",
                then="its last lines are above",
            )
        if now - begun > start.seconds:
            _show(log, say)
            raise Unavailable(
                f"{name} did not answer within {start.seconds:,.0f} s",
                then="its last lines are above; --serve-seconds allows it more",
            )
        if now - said > _SAY:
            said = now
            last = "".join(_last_lines(log)[-1:])
            say(f"{name}: still starting after {now - begun:,.0f} s; {last}")
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK)
    say(f"{name}: answers after {time.monotonic() - begun:,.0f} s")


def _is_up(url: str) -> bool:
    # Neither a proxy nor a .netrc has anything to do with 127.0.0.1.
    with requests.Session() as session:
        session.trust_env = False
        try:
            return session.get(url, timeout=_ANSWER).ok
        except requests.RequestException:
            return False


@contextmanager
def _ended_with_us(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End a program with the block, or with this process, however that goes."""
    leader = psutil.Process(process.pid)
    guard = subprocess.Popen(
        [sys.executable, session_end.__file__, str(process.pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        session_end.end_session(leader)
        process.wait()
        with suppress(BrokenPipeError):
            guard.communicate(session_end.DONE)


def _environment(program: ServerProgram, executable: Path) -> dict[str, str]:
    """Return what it may know of our environment; its own programs come first."""
    handed = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(program.variables)
    }
    known = {**environment_for_others(), **handed, **program.environment}
    path = os.pathsep.join([str(executable.parent), known.get("PATH", os.defpath)])
    return {**known, "PATH": path}


def _last_lines(log: Path) -> Sequence[str]:
    with log.open("rb") as opened:
        opened.seek(max(0, log.stat().st_size - _TAIL))
        text = opened.read().decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [shortened(line, _LONGEST_LINE) for line in lines[-_LINES:]]


def _show(log: Path, say: Callable[[str], None]) -> None:
    for line in _last_lines(log) or ["it has said nothing"]:
        say(f"  {line}")


def _free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])

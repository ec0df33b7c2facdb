"""Run every block of the README in order, as a stranger types them, and measure each.

Run it in a clean clone (`.ci/run stranger` does) with an empty HOME. Needs Python 3.11
and nothing else. From one command to the next the folder and PATH stay. A block after
a comment `<!-- loopback: ... -->` needs the outside world: it runs against a Hub on
loopback, and pip asks the index that it is configured for.

Prints processor time, in seconds and in floors (`bench/data/floor.py`, median of this
run), and the peak memory of the largest process. Fails on a failed command, a
traceback, or more than twice the figure in `bench/stranger.toml`.

Usage: stranger.py [--table FILE] (writes this run's figures as the new table)
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_suffix(".toml")
PYTHON = str(ROOT / ".venv" / "bin" / "python")
#: Makes the environment, so that its time is not that of the first command.
ENVIRONMENT = "make .venv/.core"
_BLOCK = re.compile(
    r"^(<!-- loopback:[^\n]*-->\n)?```(|console|python)\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
#: Exit codes that mean "problems found".
_ALLOWED = {"csbdata check": 1, "csbdata fit": 1}
#: A build without the archives is partial, and nobody is there to answer.
_ANSWERED = ("csbdata push", "csbdata push --allow-partial --yes")
#: Seconds that one command may take.
_LIMIT = 600
_SMALLEST_FIGURE = 0.2


@dataclass(frozen=True, slots=True)
class Block:
    """One block of the README: its commands, and whether it needs the outside world."""

    commands: tuple[str, ...]
    is_loopback: bool


@dataclass(frozen=True, slots=True)
class Measurement:
    """One command that ran: processor seconds, MB of its largest process, its fault."""

    #: The first line.
    command: str
    cpu_seconds: float
    peak_mb: float
    fault: str


def blocks(readme: str) -> list[Block]:
    """Return the blocks of a README in order."""
    return [
        Block(tuple(_commands(kind, body)), bool(marker))
        for marker, kind, body in _BLOCK.findall(readme)
    ]


def _commands(kind: str, body: str) -> Iterator[str]:
    if kind == "python":
        yield f"python - << 'END'\n{body}END"
        return
    for line in body.replace("\\\n", "").splitlines():
        if kind == "console" and not line.startswith("$ "):
            continue
        command = re.sub(r"(^|\s+)#.*", "", line.removeprefix("$ "))
        if command:
            yield command


class Shell:
    """A shell whose commands are measured one by one."""

    def __init__(self, folder: Path) -> None:
        """Start in the clone, with the caller's environment."""
        self._state = folder / "state.sh"
        self._state.write_text(f"cd {shlex.quote(str(ROOT))}\n")
        self._output = folder / "output.txt"

    def run(self, command: str, exports: str = "") -> Measurement:
        """Run one command line; what it prints is shown if it fails."""
        answered = command.replace(*_ANSWERED)
        script = f". {self._state}\n{exports}\n{answered}\ncode=$?\n"
        script += f'printf "cd %q\\nPATH=%q\\n" "$PWD" "$PATH" > {self._state}\n'
        script += "exit $code\n"
        with self._output.open("wb") as output:
            child = subprocess.Popen(
                ["bash", "-o", "pipefail", "-c", script],  # noqa: S607 (bash as it is here)
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
            with _ended_in_time(child.pid):
                _, status, usage = os.wait4(child.pid, 0)
        code = child.returncode = os.waitstatus_to_exitcode(status)
        text = self._output.read_text("utf-8", "replace")
        return Measurement(
            command.splitlines()[0],
            round(usage.ru_utime + usage.ru_stime, 2),
            round(usage.ru_maxrss / 1024),
            _fault(command, code, text),
        )


@contextmanager
def _ended_in_time(group: int) -> Iterator[None]:
    """Kill a process group at the limit, and when this process is ended."""
    timer = threading.Timer(_LIMIT, os.killpg, (group, signal.SIGKILL))
    timer.start()
    try:
        yield
    except BaseException:
        os.killpg(group, signal.SIGKILL)
        raise
    finally:
        timer.cancel()


def _fault(command: str, code: int, text: str) -> str:
    allowed = {code for start, code in _ALLOWED.items() if command.startswith(start)}
    last = text.strip()[-2000:]
    if code == -signal.SIGKILL:
        return f"killed (its limit is {_LIMIT} s)\n{last}"
    if code not in {0} | allowed:
        return f"exit code {code}\n{last}"
    return f"a traceback\n{last}" if "Traceback (most recent call" in text else ""


@contextmanager
def _hub() -> Iterator[str]:
    """Start a Hub on loopback; give the line that turns a shell to it."""
    command = [PYTHON, "-m", "tests.fake_hub", "--published"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as hub:
        try:
            assert hub.stdout is not None  # noqa: S101 (a pipe was asked for)
            exports = hub.stdout.readline()
            if not exports:
                sys.exit("stranger: no Hub on loopback")
            yield exports
        finally:
            hub.kill()


def _floor() -> float:
    """Return the processor seconds of one floor of the embedded sample."""
    command = [PYTHON, "bench/data/floor.py", "raw/sample", "8"]
    printed = subprocess.check_output(command, cwd=ROOT)
    seconds: float = json.loads(printed)["cpu_seconds"]
    return seconds


def measure() -> tuple[list[Measurement], float]:
    """Make the environment, run the README; return the median floor too."""
    readme = blocks((ROOT / "README.md").read_text("utf-8"))
    outside = sum(block.is_loopback for block in readme)
    print(f"{len(readme)} blocks; {outside} need the outside world: on loopback")
    measured: list[Measurement] = []
    floors: list[float] = []

    def run(command: str, exports: str = "") -> None:
        print(f"$ {command.splitlines()[0]}", flush=True)
        measured.append(shell.run(command, exports))
        if measured[-1].fault:
            print(f"stranger: {measured[-1].fault}", flush=True)

    with TemporaryDirectory() as folder:
        shell = Shell(Path(folder))
        run(ENVIRONMENT)
        if measured[0].fault:
            sys.exit(1)
        with _hub() as exports:
            for block in readme:
                floors.append(_floor())
                for command in block.commands:
                    run(command, exports if block.is_loopback else "")
    middle = median(floors)
    print(f"\na floor: {middle:.2f} s ({min(floors):.2f} to {max(floors):.2f})")
    print("     CPU s   floors  peak MB")
    for each in measured:
        floors_taken = each.cpu_seconds / middle
        figures = f"{each.cpu_seconds:10.2f} {floors_taken:8.2f} {each.peak_mb:8.0f}"
        print(f"{figures}  {each.command}")
    return measured, middle


def faults(
    measured: list[Measurement], floor: float, figures: dict[str, float]
) -> list[str]:
    """Return what is wrong with each command, held against the table's figures."""
    found = [
        f"{each.command}: {each.fault.splitlines()[0]}"
        for each in measured
        if each.fault
    ]
    for each in measured:
        figure = figures.get(each.command)
        floors = each.cpu_seconds / floor
        if figure is None:
            found.append(f"{each.command}: not in {TABLE.name}")
        elif floors > 2 * max(figure, _SMALLEST_FIGURE):
            found.append(f"{each.command}: {floors:.2f} floors; {TABLE.name}: {figure}")
    return found


def main() -> int:
    """Run, compare with the table or write it; return the exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stranger: ended from outside"))
    measured, floor = measure()
    if sys.argv[1:2] == ["--table"]:
        head = "# Processor time of the README's commands, in floors of the same run.\n"
        head += "# Written by `bench/stranger.py --table FILE`.\n"
        lines = [
            f"{json.dumps(each.command)} = {each.cpu_seconds / floor:.2f}\n"
            for each in measured
        ]
        Path(sys.argv[2]).write_text(head + "".join(lines), "utf-8")
    wrong = faults(measured, floor, tomllib.loads(TABLE.read_text("utf-8")))
    for fault in wrong:
        print(f"stranger: {fault}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())

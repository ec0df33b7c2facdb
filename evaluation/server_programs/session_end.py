"""Ending a program that leads a session, and what it has started.

Run by its path with the number of a process, it waits until its own standard input
comes to its end, and ends that process then: who started a server holds the other end,
and the system closes that however it goes, by SIGKILL too. Only the standard library
and psutil are imported.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import Final

import psutil

#: Seconds between SIGTERM and SIGKILL.
GRACE: Final = 15.0
#: Seconds until what was killed has gone.
_GOING: Final = 5.0
#: What is written to say that there is nothing left to be ended.
DONE: Final = b"."


def end_session(leader: psutil.Process, grace: float = GRACE) -> None:
    """Ask a program and all that it has started to end; kill what does not.

    Args:
        leader: The program, leader of a session; it may have ended.
        grace: Seconds between asking and killing.
    """
    started = _descendants(leader)
    _signal_group(leader, signal.SIGTERM)
    psutil.wait_procs([leader], timeout=grace)
    _signal_group(leader, signal.SIGKILL)
    # What has a session of its own is not in the group.
    for child in started:
        with suppress(psutil.NoSuchProcess):
            child.kill()
    psutil.wait_procs([leader, *started], timeout=_GOING)


def _descendants(leader: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.NoSuchProcess):
        return leader.children(recursive=True)
    return []


def _signal_group(leader: psutil.Process, number: signal.Signals) -> None:
    """Signal the group of a program, which may have gone and left others there."""
    if not leader.is_running() and psutil.pid_exists(leader.pid):
        return  # The number is that of another process now.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader.pid, number)


def main() -> None:
    """End a process when whoever asked for it has gone."""
    try:
        leader = psutil.Process(int(sys.argv[1]))
    except psutil.NoSuchProcess:
        return
    if sys.stdin.buffer.read(1) != DONE:
        end_session(leader)


if __name__ == "__main__":
    main()

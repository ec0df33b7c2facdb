"""Run a program of others to its end: in a session of its own, without our secrets."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

#: Variables that hold credentials, which are no business of other programs.
SECRET_VARIABLES: Final = frozenset(
    {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"}
)


class EndedProgram(NamedTuple):
    """What a program printed, and its exit code."""

    printed: str
    code: int


def environment_without_secrets() -> dict[str, str]:
    """Return our environment variables without those that hold credentials."""
    return {name: os.environ[name] for name in os.environ.keys() - SECRET_VARIABLES}


def run_to_end(
    command: Sequence[str],
    seconds: float,
    *,
    environment: Mapping[str, str],
    folder: Path | None = None,
    errors_only: bool = False,
) -> EndedProgram:
    """Run a program; it and all that it started are killed if it takes too long.

    Args:
        command: The program and its arguments.
        seconds: How long it may take.
        environment: All its environment variables.
        folder: Where it runs; None for the folder of this process.
        errors_only: Whether only what it prints on stderr counts, rather than both.

    Raises:
        TimeoutExpired: of `subprocess`: it did not end in time.
        OSError: it cannot be started.
    """
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if errors_only else subprocess.PIPE,
        stderr=subprocess.PIPE if errors_only else subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as child:
        try:
            printed, errors = child.communicate(timeout=seconds)
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            raise
    return EndedProgram(errors if errors_only else printed, child.returncode)


def last_error(printed: str) -> str:
    """Return the last line that begins with `ERROR:`, or the last line at all.

    Example:
        >>> last_error("ERROR: No matching distribution")
        'No matching distribution'
    """
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")] or lines
    return errors[-1].removeprefix("ERROR: ")[:300] if errors else "it says nothing"

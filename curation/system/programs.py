"""Run a program of others to its end: in its own session, with few of our variables."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

#: What a program of others may know of our environment: where things are, how pip,
#: its connections and a compiler are set up. Everything else stays here, whatever it
#: is called, since no one can list the names of all secrets.
ALLOWED_VARIABLES = frozenset(
    {
        *("ALL_PROXY", "APPDATA", "CC", "CFLAGS", "CPPFLAGS", "CUDA_HOME"),
        *("CUDA_PATH", "CUDA_VISIBLE_DEVICES", "CURL_CA_BUNDLE", "CXX", "CXXFLAGS"),
        *("DYLD_LIBRARY_PATH", "HOME", "HTTPS_PROXY", "HTTP_PROXY", "LANG", "LDFLAGS"),
        *("LD_LIBRARY_PATH", "LOCALAPPDATA", "LOGNAME", "NETRC", "NO_PROXY", "PATH"),
        *("PATHEXT", "PKG_CONFIG_PATH", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR"),
        *("SSL_CERT_FILE", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "USER"),
        "USERPROFILE",
    }
)
#: The same by how names begin: pip's own settings, an index's password among them if
#: the user has put one there; places and locale.
ALLOWED_PREFIXES = ("LC_", "PIP_", "XDG_")


class EndedProgram(NamedTuple):
    """What a program printed, and its exit code."""

    printed: str
    code: int


def environment_for_others() -> dict[str, str]:
    """Return the environment variables that third-party programs may receive.

    Those of proxies are lower case too.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper() in ALLOWED_VARIABLES
        or name.upper().startswith(ALLOWED_PREFIXES)
    }


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
        seconds: Deadline in seconds.
        environment: All its environment variables.
        folder: Where it runs; None for the folder of this process.
        errors_only: Whether only stderr counts, rather than both streams.

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

    Of what npm prints for programs it is the summary.

    Example:
        >>> last_error("ERROR: No matching distribution")
        'No matching distribution'
    """
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    marks = "ERROR:", '"summary":'
    errors = [line for line in lines if line.startswith(marks)] or lines
    if not errors:
        return "it says nothing"
    if errors[-1].startswith(marks[1]):
        return errors[-1].removeprefix(marks[1]).strip(' ",')[:300]
    return errors[-1].removeprefix("ERROR: ")[:300]

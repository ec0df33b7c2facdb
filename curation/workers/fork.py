"""A copy of this process that works as a child: it has imported what it needs."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import traceback
import warnings

from curation.workers.protocol import CHANNEL

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
        from curation.workers import child  # noqa: PLC0415 - what is forked runs it

        reading, writing = os.pipe()
        self.returncode = 0
        self.args = module
        with warnings.catch_warnings():
            # Python 3.12 warns of the thread that tells a person of progress.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                _detach(writing, inherited)
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
            TimeoutExpired: it goes on.
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


def _detach(output: int, inherited: tuple[int, ...]) -> None:
    """Leave the parent's session, signals, standard streams and pipes."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for descriptor in (*inherited, nothing, output):
        os.close(descriptor)

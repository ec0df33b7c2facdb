"""The Ray nodes that tests share, in a process of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import curation

ROOT = Path(curation.__file__).parents[1]
#: Seconds after which a process is given up.
PATIENCE = 240.0


class Nodes:
    """A running `tests/ray_nodes.py`.

    It is Ray alone, which gives up where its parts start too slowly: a machine on which
    it does so time after time says nothing of ours, and the test is skipped with Ray's
    last words (continuous integration does not accept that).
    """

    def __init__(self, process: subprocess.Popen[str], words: Path) -> None:
        """Wait for its address; `words` is where it writes its errors."""
        self._process = process
        self._words = words
        self.address = self._read()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            last = self._words.read_text("utf-8", "replace").splitlines()[-1:]
            pytest.skip(f"not run: Ray's own nodes ended: {''.join(last)}")
        return line

    def tell(self, line: str) -> None:
        """Have a word of `tests/ray_nodes.py` carried out."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        assert self._read() == line.split(maxsplit=1)[0]


class KeptNodes:
    """The nodes that the tests share, started anew where Ray's own gave up."""

    def __init__(self, folder: Path) -> None:
        """Start nothing yet; the folder is for what Ray says."""
        self._words = folder / "stderr"
        self._process: subprocess.Popen[str] | None = None
        self._nodes: Nodes | None = None

    def nodes(self) -> Nodes:
        """Return the nodes, started if they are not alive, at most three times."""
        for attempt in range(3):
            if self._nodes and self._process and self._process.poll() is None:
                break
            try:
                self._nodes = self._started()
            except pytest.skip.Exception:
                if attempt == 2:
                    raise
        assert self._nodes is not None
        return self._nodes

    def _started(self) -> Nodes:
        self.end()
        with self._words.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, str(ROOT / "tests" / "ray_nodes.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )
        return Nodes(self._process, self._words)

    def end(self) -> None:
        """End what was started, and what a node that failed has left running."""
        if self._process is not None:
            self._process.communicate(timeout=PATIENCE)
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

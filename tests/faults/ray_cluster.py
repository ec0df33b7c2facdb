"""The Ray nodes that tests share, in a process of their own."""

from __future__ import annotations

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
    it does says nothing of ours, and the test is skipped with its last words.
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
        """Return the nodes, started if they are not alive."""
        if (
            self._nodes is None
            or self._process is None
            or self._process.poll() is not None
        ):
            self.end()
            with self._words.open("wb") as said:
                self._process = subprocess.Popen(
                    [sys.executable, str(ROOT / "tests" / "ray_nodes.py")],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=said,
                    text=True,
                )
            self._nodes = Nodes(self._process, self._words)
        return self._nodes

    def end(self) -> None:
        """End what was started."""
        if self._process is not None:
            self._process.communicate(timeout=PATIENCE)

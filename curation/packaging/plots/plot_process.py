"""The plots and tables of a folder, made by a child process while others write.

`csbdata stats` would draw the same ones. The child has an environment of its own, so
that no setting of the user's shows in them, and never writes into the folder: what it
draws comes back through its pipe, so a child that outlives us does no harm.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from curation.dataset.edition_statistics import PLOTS
from curation.packaging.plots.plot_messages import PaperTables, PlotAnswer
from curation.system.errors import CsbdataError
from curation.workers.process import Program

if TYPE_CHECKING:
    from types import TracebackType


#: The folder of plots in a dataset folder.
FOLDER = "plots"
#: Every plot's path in a dataset folder.
NAMES = tuple(f"{FOLDER}/{name}.{kind}" for name in PLOTS for kind in ("png", "svg"))
_WORKER = Path(__file__).with_name("plot_worker.py")


class PlotProcess:
    """The plots of one folder, being drawn; a context manager.

    The child gets ready at once and starts when `begin` says that the folder's parquet
    files and ledger are there. What still runs at the end of the block is stopped.
    """

    def __init__(self, folder: Path) -> None:
        """Start the child.

        Raises:
            OSError: it cannot be started.
        """
        program = Program(file=_WORKER, arguments=(str(folder.resolve()),))
        self._child = subprocess.Popen(
            program.command(),
            env=program.variables(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._begun = False

    def __enter__(self) -> Self:
        """Return this process."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the child if it is still at work."""
        if self._child.poll() is None:
            self._child.kill()
        self._child.communicate()

    def begin(self) -> None:
        """Let the child draw what the folder holds now."""
        self._begun = True
        stdin = self._child.stdin
        try:
            if stdin is not None:
                stdin.write(b"go\n")
                stdin.flush()
        except BrokenPipeError:
            # It has died; `finish` reports why.
            pass

    def finish(self, into: Path) -> PaperTables | None:
        """Write the plots into `into`; return the tables.

        None where the folder holds no record; then there are no plots either.

        Raises:
            CsbdataError: the child failed.
            OSError: a plot cannot be written.
        """
        if not self._begun:
            self.begin()
        output, errors = self._child.communicate()
        if self._child.returncode != 0:
            lines = errors.decode("utf-8", "replace").strip().splitlines()
            reason = lines[-1] if lines else "no word why"
            raise CsbdataError(
                f"the plots could not be drawn ({reason})",
                "csbdata stats --plots",
            )
        answer = msgspec.json.decode(output, type=PlotAnswer)
        if answer.plots:
            (into / FOLDER).mkdir(exist_ok=True)
        for name, content in answer.plots.items():
            (into / FOLDER / name).write_bytes(content)
        return answer.tables

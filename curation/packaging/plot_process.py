"""Draw the plots of a dataset's tables in a child process.

The child has an environment of its own, so that no setting of the user's shows in
them. It never writes into a folder: its plots come back through a pipe.
"""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

import msgspec

from curation.dataset.paper_tables import PLOTS, Spread
from curation.system.errors import CsbdataError
from curation.workers.process import Program


class PaperFigure2(msgspec.Struct, frozen=True, kw_only=True):
    """Feature and format to the number of schemas with it, most first."""

    features: dict[str, int]
    formats: dict[str, int]


class PaperTables(msgspec.Struct, frozen=True, kw_only=True):
    """The paper's tables of a folder, as `csbdata stats --format json` prints them."""

    #: Config to its schemas.
    table_1: dict[str, int]
    #: Config to measure to how it is distributed.
    table_8: dict[str, dict[str, Spread]]
    #: What Table 8 was computed on: `raw files` or `records`.
    table_8_of: str
    #: Config to draft to the schemas that declare it.
    table_9: dict[str, dict[str, int]]
    figure_2: PaperFigure2
    #: Config to its rows of the embedded sample, which are not counted.
    left_out: dict[str, int]
    #: Target to the records that it takes as they stand, of `asked`.
    targets: dict[str, int] = {}
    asked: int = 0


#: The child's answer: file name to content, in base 64 on its way.
Plots: TypeAlias = dict[str, bytes]
#: The folder of plots in a dataset folder.
FOLDER = "plots"
#: The plot that is drawn where targets were asked.
_TARGETS = "targets"
_WORKER = Path(__file__).with_name("plot_worker.py")


def plot_paths(tables: PaperTables | None) -> list[str]:
    """Return the path of every plot of these tables in a dataset folder."""
    if tables is None:
        return []
    names = [*PLOTS, *([_TARGETS] if tables.targets else [])]
    return [f"{FOLDER}/{name}.{kind}" for name in names for kind in ("png", "svg")]


class PlotProcess:
    """A context manager that draws the plots of one dataset in a child process.

    `start` starts the child and `begin` sends it the tables. A child that still runs at
    the end of the block is stopped.
    """

    def __init__(self) -> None:
        """Start nothing yet."""
        self._child: subprocess.Popen[bytes] | None = None
        self._tables: PaperTables | None = None

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
        if self._child is None:
            return
        if self._child.poll() is None:
            self._child.kill()
        self._child.communicate()

    def start(self) -> subprocess.Popen[bytes]:
        """Start the child, unless it runs already; return it.

        Raises:
            OSError: it cannot be started.
        """
        if self._child is None:
            program = Program(file=_WORKER)
            self._child = subprocess.Popen(
                program.command(),
                env=program.variables(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        return self._child

    def begin(self, tables: PaperTables | None) -> None:
        """Let the child draw these tables, or nothing without them.

        Raises:
            OSError: it cannot be started.
        """
        self._tables = tables
        if tables is None:
            return
        stdin = self.start().stdin
        # Where it has died, `finish` reports why.
        with suppress(BrokenPipeError):
            if stdin is not None:
                stdin.write(msgspec.json.encode(tables) + b"\n")
                stdin.flush()

    def finish(self, into: Path) -> PaperTables | None:
        """Write the plots into `into`; return the tables of `begin`.

        Without tables there are no plots either.

        Raises:
            CsbdataError: the child failed.
            OSError: a plot cannot be written.
        """
        if self._tables is None:
            return None
        child = self.start()
        output, errors = child.communicate()
        if child.returncode != 0:
            lines = errors.decode("utf-8", "replace").strip().splitlines()
            reason = lines[-1] if lines else "no word why"
            raise CsbdataError(f"the plots could not be drawn ({reason})", FOLDER)
        plots = msgspec.json.decode(output, type=Plots)
        (into / FOLDER).mkdir(exist_ok=True)
        for name, content in plots.items():
            (into / FOLDER / name).write_bytes(content)
        return self._tables

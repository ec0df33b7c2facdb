"""The plots and tables of a folder, made by a child process while others write.

`csbdata stats` would draw the same ones. The child has an environment of its own,
so that no setting of the user's shows in them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Self

import orjson

from curation.child_process import Program
from curation.editions import open_edition
from curation.faults import Fault, NoInput
from curation.views import PLOTS, as_json, draw, views_of

if TYPE_CHECKING:
    from types import TracebackType

    from curation.documents import Json

#: The folder of plots in a dataset folder.
FOLDER = "plots"
#: Every plot's path in a dataset folder.
NAMES = tuple(f"{FOLDER}/{name}.{kind}" for name in PLOTS for kind in ("png", "svg"))


class Drawing:
    """The plots of one folder, being drawn into another; a context manager.

    What is still running at the end of the block is stopped.
    """

    def __init__(self, folder: Path, into: Path) -> None:
        """Start drawing what the parquet files and the ledger of `folder` hold.

        Raises:
            OSError: the child cannot be started.
        """
        program = Program(
            file=Path(__file__), arguments=(str(folder.resolve()), str(into.resolve()))
        )
        self._child = subprocess.Popen(
            program.command(),
            env=program.variables(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> Self:
        """Return itself."""
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

    def tables(self) -> Json:
        """Wait for the plots; return the tables, as `csbdata stats --format json`.

        Without a record there are neither: null.

        Raises:
            Fault: the child failed.
        """
        output, errors = self._child.communicate()
        if self._child.returncode != 0:
            said = errors.decode("utf-8", "replace").strip().splitlines()
            raise Fault(
                f"the plots could not be drawn ({said[-1] if said else 'no word why'})",
                "csbdata stats --plots",
            )
        return orjson.loads(output)


def _main(folder: Path, into: Path) -> None:
    tables = None
    try:
        views = views_of(open_edition(str(folder)))
    except NoInput:
        views = None
    if views is not None and views.records:
        draw(views, into / FOLDER)
        tables = {**as_json(views), "left_out": dict(views.left_out)}
    sys.stdout.buffer.write(orjson.dumps(tables))


if __name__ == "__main__":
    _main(Path(sys.argv[1]), Path(sys.argv[2]))

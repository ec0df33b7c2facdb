"""Draw the plots of a dataset's tables in a child process.

The child has an environment of its own, so that no setting of the user's shows in
them. It never writes into a folder: its plots come back through a pipe.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from curation.dataset.paper_tables import PLOTS, Spread
from curation.system.errors import CsbdataError
from curation.workers.limits import BUSY_MACHINE, Limits
from curation.workers.outcomes import Ending
from curation.workers.process import Program
from curation.workers.worker import Worker


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
#: All plots take some two seconds.
_LIMITS: Final = Limits(seconds=120.0, wall_times=BUSY_MACHINE)


def plot_paths(tables: PaperTables | None) -> list[str]:
    """Return the path of every plot of these tables in a dataset folder."""
    if tables is None:
        return []
    names = [*PLOTS, *([_TARGETS] if tables.targets else [])]
    return [f"{FOLDER}/{name}.{kind}" for name in names for kind in ("png", "svg")]


def draw_plots(tables: PaperTables, into: Path) -> None:
    """Draw the plots of these tables into a folder.

    Raises:
        CsbdataError: the child failed.
        OSError: it cannot be started, or a plot cannot be written.
    """
    with Worker(Program(file=_WORKER), _LIMITS) as worker:
        result = worker.ask(tables)
    if result.ending is not Ending.OK:
        raise CsbdataError(f"the plots could not be drawn ({result.detail})", FOLDER)
    (into / FOLDER).mkdir(exist_ok=True)
    for name, content in result.answer_as(Plots).items():
        (into / FOLDER / name).write_bytes(content)

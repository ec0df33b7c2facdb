"""Draw the plots of a dataset, as the child process of `plot_process`."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.dataset.paper_tables import Figure2
from curation.dataset.plots import draw, targets
from curation.packaging.plot_process import PaperTables, Plots
from curation.workers.protocol import serve

if TYPE_CHECKING:
    from curation.core.json_types import Json


def _answer(tables: PaperTables) -> Plots:
    figure = Figure2(
        features=tuple(tables.figure_2.features.items()),
        formats=tuple(tables.figure_2.formats.items()),
    )
    with tempfile.TemporaryDirectory(prefix="csbdata-plots-") as name:
        paths = draw(figure, tables.table_8, tables.table_9, Path(name))
        if tables.targets:
            paths += targets(tables.targets, tables.asked, Path(name, "targets"))
        return {path.name: path.read_bytes() for path in paths}


def start(_setup: Json) -> Callable[[Json], Plots]:
    """Return the handler of one request: tables to plots."""
    # The process ends with its drawing: collecting would take a tenth of its time.
    gc.disable()
    return lambda request: _answer(msgspec.convert(request, PaperTables))


if __name__ == "__main__":
    serve(start, encode=msgspec.json.encode)

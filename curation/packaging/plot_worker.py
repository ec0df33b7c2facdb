"""Draw the plots of a dataset, as the child process of `plot_process`.

It reads the tables from its stdin, one line of JSON, and writes one JSON object: the
plots in base 64.
"""

from __future__ import annotations

import gc
import sys
import tempfile
from pathlib import Path

import msgspec

from curation.dataset.paper_tables import Figure2
from curation.dataset.plots import draw, targets
from curation.packaging.plot_process import PaperTables, Plots


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


def _main() -> None:
    # The process ends with its drawing: collecting would take a tenth of its time.
    gc.disable()
    line = sys.stdin.buffer.readline()
    if line.endswith(b"\n"):
        tables = msgspec.json.decode(line, type=PaperTables)
        sys.stdout.buffer.write(msgspec.json.encode(_answer(tables)))


if __name__ == "__main__":
    _main()

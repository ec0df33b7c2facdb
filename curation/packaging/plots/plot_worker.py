"""Draw the plots of one folder, as the child process of `plot_process`.

It reads `go` from its stdin when the folder is ready, and writes one JSON object:
the plots in base 64, and the tables.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import msgspec

from curation.dataset.edition_statistics import as_json, draw, statistics_of
from curation.dataset.editions import open_edition
from curation.packaging.plots.plot_messages import PaperTables, PlotAnswer
from curation.system.errors import NoInput


def _answer(folder: str) -> PlotAnswer:
    try:
        edition = open_edition(folder)
    except NoInput:
        return PlotAnswer()
    statistics = statistics_of(edition)
    if not statistics.records:
        return PlotAnswer()
    with tempfile.TemporaryDirectory(prefix="csbdata-plots-") as name:
        plots = {path.name: path.read_bytes() for path in draw(statistics, Path(name))}
    tables = {**as_json(statistics), "left_out": dict(statistics.left_out)}
    return PlotAnswer(tables=msgspec.convert(tables, PaperTables), plots=plots)


def _main() -> None:
    # Half a second that need not wait for the folder.
    import curation.dataset.plots  # noqa: F401, PLC0415 (only the drawing process needs it)

    if sys.stdin.readline() == "go\n":
        sys.stdout.buffer.write(msgspec.json.encode(_answer(sys.argv[1])))


if __name__ == "__main__":
    _main()

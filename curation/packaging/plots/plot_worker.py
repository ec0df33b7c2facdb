"""Draw the plots of one folder, as the child process of `plot_process`.

It reads `go` from its stdin when the folder is ready, and writes one JSON object:
the plots in base 64, and the tables. A large folder is measured by two processes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from curation.dataset.edition_statistics import as_json, draw, statistics_of, texts_of
from curation.dataset.editions import open_edition
from curation.dataset.paper_tables import SchemaMeasures, measure_schemas
from curation.packaging.plots.plot_messages import PaperTables, PlotAnswer
from curation.system.errors import NoInput

if TYPE_CHECKING:
    from curation.dataset.editions import Edition

#: Rows from which on a second process measures the later half of them.
_MANY = 1_000
_HALF = "--later-half"


def _measured(edition: Edition) -> list[SchemaMeasures]:
    """Return the measures of every row, in order."""
    texts = texts_of(edition)
    if len(texts) < _MANY:
        return measure_schemas(texts)
    command = [sys.executable, "-P", __file__, str(edition.folder), _HALF]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
        first_half = measure_schemas(texts[: len(texts) // 2])
        output, _ = other.communicate()
    if other.returncode != 0:
        raise RuntimeError("the later half could not be measured")
    return first_half + msgspec.json.decode(output, type=list[SchemaMeasures])


def _measure_later_half(folder: str) -> None:
    texts = texts_of(open_edition(folder))
    found = measure_schemas(texts[len(texts) // 2 :])
    sys.stdout.buffer.write(msgspec.json.encode(found))


def _answer(folder: str) -> PlotAnswer:
    try:
        edition = open_edition(folder)
    except NoInput:
        return PlotAnswer()
    statistics = statistics_of(edition, _measured(edition))
    if not statistics.records:
        return PlotAnswer()
    with tempfile.TemporaryDirectory(prefix="csbdata-plots-") as name:
        plots = {path.name: path.read_bytes() for path in draw(statistics, Path(name))}
    tables = {**as_json(statistics), "left_out": dict(statistics.left_out)}
    return PlotAnswer(tables=msgspec.convert(tables, PaperTables), plots=plots)


def _main() -> None:
    if sys.argv[2:] == [_HALF]:
        _measure_later_half(sys.argv[1])
        return
    # Half a second that need not wait for the folder.
    import curation.dataset.plots  # noqa: F401, PLC0415 (only the drawing process needs it)

    if sys.stdin.readline() == "go\n":
        sys.stdout.buffer.write(msgspec.json.encode(_answer(sys.argv[1])))


if __name__ == "__main__":
    _main()

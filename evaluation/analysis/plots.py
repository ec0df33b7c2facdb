"""Draw the plots of a run, and warn of misleading figures."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Final

from matplotlib.figure import Figure

from curation.dataset.plots import PAGE, save, style
from curation.system.atomic_files import atomic_write_bytes, writing
from curation.system.file_names import safe_name
from evaluation.analysis.run_report import plots
from evaluation.results.description import partial_data
from evaluation.results.reader import RecordedRun, gaps_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from evaluation.reporting.charts import Plot

#: The file's name, next to the exported files.
FILE: Final = "notice.txt"


def notice_of(run: RecordedRun) -> list[str]:
    """Return warnings about a run's figures, line by line; often none."""
    return [*gaps_of(run), *partial_data(run.header)]


def write_notice(run: RecordedRun, folder: Path) -> list[Path]:
    """Write the notice of a run into a folder, where it has one; returns the file.

    Raises:
        CannotCreate: it cannot be written.
    """
    path = folder / FILE
    text = "".join(f"{line}\n" for line in notice_of(run))
    if text:
        atomic_write_bytes(path, text.encode())
    return [path] if text else []


_HEIGHT = 3.6
#: Characters of a line below a plot.
_NOTICE_WIDTH = 110


def draw_plots(run: RecordedRun, folder: Path) -> list[Path]:
    """Draw every plot of a run into a folder; returns the files.

    Raises:
        CannotCreate: the folder cannot be written.
    """
    return draw_all(plots(run), folder, "; ".join(notice_of(run)))


def draw_all(pictures: Iterable[Plot], folder: Path, notice: str = "") -> list[Path]:
    """Draw plots into a folder, each as SVG and PNG; returns the files.

    Args:
        pictures: What is drawn.
        folder: Where the files go.
        notice: Stands below each plot: a picture travels alone.

    Raises:
        CannotCreate: the folder cannot be written.
    """
    paths: list[Path] = []
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for plot in pictures:
            with style():
                paths += save(_figure(plot, notice), folder / safe_name(plot.name))
    return paths


def _figure(plot: Plot, notice: str = "") -> Figure:
    figure = Figure(figsize=(PAGE, _HEIGHT), layout="constrained")
    plot.draw(figure)
    if notice:
        figure.supxlabel("\n".join(wrap(notice, _NOTICE_WIDTH)), fontsize="x-small")
    return figure

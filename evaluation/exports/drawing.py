"""Plots drawn, the same bytes each time: files for a paper, pictures for a page."""

from __future__ import annotations

import io
import re
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from curation.dataset.plots import PAGE, save, style
from curation.system.atomic_files import cannot_write

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from evaluation.reporting.report import Plot

_HEIGHT = 3.6
#: Characters of a line below a plot.
_NOTICE_WIDTH = 110


def draw_all(plots: Iterable[Plot], folder: Path, notice: str = "") -> list[Path]:
    """Draw plots into a folder, each as SVG and PNG; returns the files.

    Args:
        plots: What is drawn.
        folder: Where the files go.
        notice: Stands below each plot: a picture travels alone.

    Raises:
        CannotCreate: the folder cannot be written.
    """
    drawn: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for plot in plots:
            with style():
                drawn += save(_figure(plot, notice), folder / _slug(plot.name))
    except OSError as error:
        raise cannot_write(folder, error) from error
    return drawn


def svg_of(plot: Plot) -> bytes:
    """Return a plot as SVG."""
    nothing: dict[str, Any] = {"Date": None, "Creator": None}
    out = io.BytesIO()
    with style():
        _figure(plot).savefig(out, format="svg", metadata=nothing, bbox_inches="tight")
    return out.getvalue()


def _figure(plot: Plot, notice: str = "") -> Figure:
    figure = Figure(figsize=(PAGE, _HEIGHT), layout="constrained")
    plot.draw(figure)
    if notice:
        figure.supxlabel("\n".join(wrap(notice, _NOTICE_WIDTH)), fontsize="x-small")
    return figure


def _slug(name: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", name.lower())) or "plot"

"""The plots of a report: each function returns a `Plot` that knows how to be drawn.

Every figure in a plot is also in a table. Colours are Okabe and Ito's, which people
with any common colour vision tell apart, and every curve also has a line style or a
name of its own. Text from data is reduced to what the font can draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from curation.visible_text import shortened
from evaluation.tasks.base import Plot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Okabe and Ito, 2008, "Color Universal Design", black left for text.
COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#56B4E9",
    "#CC79A7",
    "#F0E442",
    "#999999",
)
_STYLES = ("-", "--", "-.", ":")
_NAME = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Values of one thing, and lower bounds of those that a time-out cut off."""

    values: Sequence[float]
    censored: Sequence[float] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point, with the intervals of both figures where they are known."""

    x: float
    y: float
    x_interval: tuple[float, float] | None = None
    y_interval: tuple[float, float] | None = None


def label(name: str) -> str:
    """Return a name that the plots' font can draw on one line."""
    return shortened(name.encode("ascii", "backslashreplace").decode(), _NAME)


def lines(  # noqa: PLR0913 (what a plot of curves says of itself)
    name: str,
    title: str,
    curves: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x_label: str,
    y_label: str,
    log_x: bool = True,
    log_y: bool = True,
) -> Plot:
    """Draw curves through measured points, given in order of x."""

    def draw(figure: Any) -> None:
        axes = _axes(figure, title, x_label, y_label)
        for index, (curve, points) in enumerate(curves.items()):
            axes.plot(
                [x for x, _ in points],
                [y for _, y in points],
                _STYLES[index // len(COLOURS) % len(_STYLES)],
                marker="o",
                ms=2.5,
                lw=1.1,
                color=COLOURS[index % len(COLOURS)],
                label=label(curve),
            )
        axes.set_xscale("log" if log_x else "linear")
        axes.set_yscale("log" if log_y else "linear")
        _legend(axes, curves)

    return Plot(name=name, title=title, draw=draw)


def _axes(figure: Any, title: str, x_label: str, y_label: str) -> Any:
    axes = figure.subplots()
    axes.set_title(title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(color="#E5E5E5", lw=0.5, zorder=0)
    return axes


def _legend(axes: Any, names: Mapping[str, object]) -> None:
    if names:
        axes.legend(frameon=False, fontsize=7)

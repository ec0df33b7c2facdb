"""Draw charts: survival curves, points, shares of outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from curation.system.escaping import shortened
from evaluation.reporting.tables import Duration, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


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
# An axis that spans less than this factor has ticks between powers of ten.
_FEW_DECADES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One picture; drawn only where somebody wants the file."""

    #: Name of the file, without its suffix.
    name: str
    #: Draws on the matplotlib Figure it is given.
    draw: Callable[[Any], None]


class Point(NamedTuple):
    """One point, with the intervals of both figures where they are known."""

    x: float
    y: float
    x_interval: tuple[float, float] | None = None
    y_interval: tuple[float, float] | None = None


def label(name: str) -> str:
    """Return a name that the plots' font can draw on one line."""
    return shortened(name.encode("ascii", "backslashreplace").decode(), _NAME)


def survival(name: str, title: str, samples: Mapping[str, np.ndarray]) -> Plot:
    """Draw the share of times above each time, both axes logarithmic.

    Times are nanoseconds.
    """

    def draw(figure: Figure) -> None:
        axes = axes_of(figure, title, "time", "share that takes longer")
        for index, (curve, times) in enumerate(samples.items()):
            if len(times):
                axes.ecdf(
                    times,
                    complementary=True,
                    lw=1.1,
                    color=COLOURS[index % len(COLOURS)],
                    linestyle=_STYLES[index // len(COLOURS) % len(_STYLES)],
                    label=label(curve),
                )
        if axes.lines:
            logarithmic(axes, axes.xaxis, _duration)
            logarithmic(axes, axes.yaxis, _per_cent)
            axes.set_ylim(1 / 1.5 / max(map(len, samples.values())), 1.15)
            axes.legend(frameon=False, fontsize=7)

    return Plot(name=name, draw=draw)


def points(
    name: str,
    title: str,
    by_engine: Mapping[str, Point],
    *,
    x_label: str,
    y_label: str,
) -> Plot:
    """Draw named points with the intervals of both figures."""

    def draw(figure: Figure) -> None:
        axes = axes_of(figure, title, x_label, y_label)
        for index, (point, estimate) in enumerate(by_engine.items()):
            axes.errorbar(
                [estimate.x],
                [estimate.y],
                xerr=_whiskers(estimate.x, estimate.x_interval),
                yerr=_whiskers(estimate.y, estimate.y_interval),
                fmt="o",
                ms=4,
                lw=0.8,
                capsize=2,
                color=COLOURS[index % len(COLOURS)],
            )
            axes.annotate(
                label(point),
                (estimate.x, estimate.y),
                xytext=(5, 4),
                textcoords="offset points",
                fontsize=7,
            )
        axes.margins(x=0.25)

    return Plot(name=name, draw=draw)


def _whiskers(
    value: float, interval: tuple[float, float] | None
) -> list[list[float]] | None:
    if interval is None:
        return None
    return [[max(0.0, value - interval[0])], [max(0.0, interval[1] - value)]]


def axes_of(figure: Figure, title: str, x_label: str, y_label: str) -> Axes:
    """Return the only axes of a plot, with title, grid and subject."""
    axes = figure.subplots()
    axes.set_title(title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(color="#E5E5E5", lw=0.5)
    axes.set_axisbelow(True)
    return axes


def logarithmic(axes: Axes, axis: Axis, words: Callable[[float], str]) -> None:
    """Make an axis logarithmic, its ticks in words that need no mathematics font."""
    from matplotlib.ticker import LogLocator  # noqa: PLC0415 (where plots are drawn)

    scale = axes.set_xscale if axis is axes.xaxis else axes.set_yscale
    scale("log")
    low, high = axis.get_view_interval()
    if 0 < low < high < _FEW_DECADES * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(lambda value, _place: words(value))
    axis.set_minor_formatter(lambda _value, _place: "")


def _duration(ns: float) -> str:
    return text_of(Duration(ns)).replace(".00 ", " ").replace(".0 ", " ")


def _per_cent(share: float) -> str:
    return f"{100 * share:g} %"


def stack(
    name: str,
    title: str,
    bars: Mapping[str, Mapping[str, int]],
    *,
    x_label: str,
    colours: Mapping[str, str] | None = None,
) -> Plot:
    """Draw one bar a line: the shares of its parts, its total next to it.

    Parts without a colour in `colours` take the next default.
    """

    def draw(figure: Figure) -> None:
        axes = axes_of(figure, title, f"{x_label}, per cent, and their number", "")
        figure.set_size_inches(figure.get_figwidth(), 0.34 * len(bars) + 1.7)
        axes.grid(visible=False, axis="y")
        parts = [
            part for part in _names(bars) if any(b.get(part) for b in bars.values())
        ]
        totals = np.array([sum(bar.values()) for bar in bars.values()])
        starts = np.zeros(len(bars))
        for index, part in enumerate(parts):
            counts = np.array([bar.get(part, 0) for bar in bars.values()])
            shares = 100 * counts / np.maximum(totals, 1)
            axes.barh(
                range(len(bars)),
                shares,
                left=starts,
                height=0.7,
                color=(colours or {}).get(part, COLOURS[index % len(COLOURS)]),
                edgecolor="white",
                linewidth=0.4,
                label=label(part),
            )
            starts += shares
        for row, total in enumerate(totals):
            axes.text(101, row, f"{total:,}", va="center", fontsize=6.5)
        axes.set_yticks(range(len(bars)), [label(bar) for bar in bars], fontsize=7)
        axes.set_ylim(len(bars) - 0.4, -0.6)
        axes.set_xlim(0, 100)
        if parts:
            figure.legend(
                loc="outside lower center", ncols=4, frameon=False, fontsize=7
            )

    return Plot(name=name, draw=draw)


def heat_map(
    name: str, title: str, cells: Mapping[str, Mapping[str, float | None]]
) -> Plot:
    """Draw a figure between 0 and 1 for each line and column; None stays white."""

    def draw(figure: Figure) -> None:
        columns = _names(cells)
        height = 0.15 * len(cells) + 1.8
        figure.set_size_inches(max(figure.get_figwidth(), 0.3 * len(columns)), height)
        axes = figure.subplots()
        axes.set_title(title)
        grid = np.array(
            [[row.get(column) for column in columns] for row in cells.values()], float
        )
        if not columns:
            return
        image = axes.imshow(grid, vmin=0, vmax=1, cmap="cividis", aspect="auto")
        axes.set_xticks(range(len(columns)), map(label, columns), rotation=90)
        axes.set_yticks(range(len(cells)), map(label, cells))
        axes.tick_params(labelsize=6.5)
        for (y, x), value in np.ndenumerate(grid):
            if not np.isnan(value):
                shade = "black" if value > 0.5 else "white"  # noqa: PLR2004 (half way)
                axes.text(
                    x, y, f"{100 * value:.0f}", ha="center", va="center",
                    fontsize=5, color=shade,
                )  # fmt: skip
        figure.colorbar(image, label="share")

    return Plot(name=name, draw=draw)


def _names(lines: Mapping[str, Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for line in lines.values() for name in line))

"""Draw the plots of a dataset folder: sized for a paper, the same bytes each time.

Text is drawn as outlines of matplotlib's own DejaVu Sans, whatever fonts the machine
has. Okabe and Ito's colours are distinct under any common colour vision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

from curation.dataset.paper_tables import PLOTS, TARGETS_PLOT, TITLES, Spread
from curation.system.words import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from curation.dataset.edition_statistics import EditionStatistics

#: Okabe and Ito, 2008, "Color Universal Design", black left for text.
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
YELLOW, SKY = "#F0E442", "#56B4E9"
_GREY = "#B3B3B3"
_DRAFT_COLOURS = {
    "draft-04": BLUE,
    "draft-06": SKY,
    "draft-07": GREEN,
    "2019-09": YELLOW,
    "2020-12": ORANGE,
}
_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0,
    "text.parse_math": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "csbdata",
}
#: Width of a text page, in inches.
PAGE = 6.8
_DPI = 220
# Bars of Figure 2.
_BARS = 30
# Characters of a name next to a bar.
_NAME = 28
# A measure that stays below this is shown on a linear scale.
_LINEAR_UP_TO = 60
# A measure with a larger ratio of most to least has ticks at powers of ten alone.
_DECADES = 800


def draw(
    statistics: EditionStatistics, accepted: Mapping[str, int], total: int, folder: Path
) -> None:
    """Draw all plots of a dataset into a folder, as SVG and PNG.

    Args:
        statistics: Its tables; of Figure 2 the first names are shown.
        accepted: Target to the records that it takes unchanged; empty for no plot.
        total: The records that targets were asked about.
        folder: The folder; it is made if it is missing.

    Raises:
        OSError: the folder cannot be made, or a file in it not be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    panels = {
        title: {
            config: measures[name] for config, measures in statistics.table_8.items()
        }
        for name, title in TITLES.items()
    }
    stems = [folder / name for name in PLOTS]
    features(statistics.figure_2["features"], statistics.figure_2["formats"], stems[0])
    spreads(panels, stems[1])
    drafts(statistics.table_9, stems[2])
    if accepted:
        targets(accepted, total, folder / TARGETS_PLOT)


@contextmanager
def style() -> Iterator[None]:
    """Use our style instead of the user's matplotlibrc."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


@contextmanager
def _drawing(stem: Path, height: float) -> Iterator[Figure]:
    """Yield a figure of a page's width; it is written as SVG and PNG in the end.

    Raises:
        OSError: a file cannot be written.
    """
    with style():
        figure = Figure(figsize=(PAGE, height), layout="constrained")
        yield figure
        save(figure, stem)


def _count(value: float, _position: int = 0) -> str:
    return f"{value:,.0f}" if value >= 1 or value == 0 else f"{value:g}"


def _label(name: str) -> str:
    """Return a name that our font can draw on one line."""
    return shortened(name.encode("ascii", "backslashreplace").decode(), _NAME)


def save(figure: Figure, stem: Path) -> tuple[Path, Path]:
    """Write a figure as SVG and PNG, without date or machine.

    Raises:
        OSError: a file cannot be written.
    """
    svg, png = (stem.with_name(f"{stem.name}.{kind}") for kind in ("svg", "png"))
    # Laid out and cut to size once: each file would do both again.
    layout: Any = figure.get_layout_engine()
    layout.execute(figure)
    figure.set_layout_engine(None)
    box: Any = figure.get_tightbbox().padded(mpl.rcParams["savefig.pad_inches"])
    nothing: dict[str, Any] = {"Date": None, "Creator": None}
    figure.savefig(svg, metadata=nothing, bbox_inches=box)
    figure.savefig(png, metadata={"Software": None}, dpi=_DPI, bbox_inches=box)
    return svg, png


def _horizontal(axes: Axes, counts: Mapping[str, int], rows: int, colour: str) -> None:
    names, values = [*map(_label, counts)], [*counts.values()]
    bars = axes.barh(range(len(counts)), values, color=colour, height=0.72)
    axes.bar_label(bars, [f"{value:,}" for value in values], padding=2, fontsize=6.5)
    axes.set_yticks(range(len(counts)), names, fontsize=7)
    # Both panels have as many rows, so that bars are equally thick.
    axes.set_ylim(rows - 0.4, -0.6)
    axes.spines["left"].set_bounds(-0.6, len(counts) - 0.4)
    axes.set_xlim(0, max(values, default=1) * 1.16)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(_count))
    axes.set_xlabel("records")


def features(
    features: Mapping[str, int], formats: Mapping[str, int], stem: Path
) -> None:
    """Draw Figure 2: the records with each feature and each format.

    Both map names to counts, most frequent first; the first are shown. The files are
    `stem` with their suffixes.
    """
    features, formats = (
        dict(islice(counts.items(), _BARS)) for counts in (features, formats)
    )
    rows = max(len(features), len(formats), 1)
    with _drawing(stem, 0.155 * rows + 0.9) as figure:
        features_axes, formats_axes = figure.subplots(1, 2)
        _horizontal(features_axes, features, rows, BLUE)
        features_axes.set_title("(a) Features")
        _horizontal(formats_axes, formats, rows, ORANGE)
        formats_axes.set_title("(b) Formats")


def spreads(panels: Mapping[str, Mapping[str, Spread]], stem: Path) -> None:
    """Draw Table 8: each measure's quartiles and extremes, by config.

    `panels` maps the title of a measure to its spread in each config, in the
    order in which they are shown; every panel has the same configs.
    """
    rows = max((len(configs) for configs in panels.values()), default=1)
    with _drawing(stem, 0.2 * rows + 0.8) as figure:
        grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)
        for axes, (title, configs) in zip(grid[0], panels.items(), strict=True):
            for row, spread in enumerate(configs.values()):
                ends = [spread.least, spread.most]
                axes.plot(ends, [row, row], color=_GREY, lw=0.9, zorder=1)
                box = [spread.lower_quartile, spread.upper_quartile]
                axes.plot(
                    box, [row, row], color=SKY, lw=6, solid_capstyle="butt", zorder=2
                )
                axes.plot([spread.median], [row], "o", color=BLUE, ms=3.4, zorder=3)
            highest = max((spread.most for spread in configs.values()), default=1.0)
            if highest > _LINEAR_UP_TO:
                lowest = min(spread.least for spread in configs.values())
                axes.set_xscale("log")
                # Three ticks at least, and few enough not to touch.
                wide = lowest > 0 and highest / lowest > _DECADES
                ticks = LogLocator(subs=(1.0,) if wide else (1.0, 3.0))
                axes.xaxis.set_major_locator(ticks)
            axes.xaxis.set_major_formatter(FuncFormatter(_count))
            axes.minorticks_off()
            axes.grid(axis="x", color="#E5E5E5", lw=0.5, zorder=0)
            axes.set_yticks(range(len(configs)), list(map(_label, configs)), fontsize=7)
            axes.set_ylim(len(configs) - 0.4, -0.6)
            axes.tick_params(axis="x", labelsize=6.5)
            axes.set_title(title, fontsize=8)
        figure.supxlabel(
            "dot: median; bar: quartiles; line: least to most", fontsize=6.5
        )


def targets(accepted: Mapping[str, int], total: int, stem: Path) -> None:
    """Draw how many of the records asked about each target takes unchanged."""
    with _drawing(stem, 0.2 * len(accepted) + 0.8) as figure:
        axes = figure.subplots()
        _horizontal(axes, accepted, len(accepted), BLUE)
        axes.set_title(f"Taken as they stand, of {total:,} records")


def drafts(counts: Mapping[str, Mapping[str, int]], stem: Path) -> None:
    """Draw Table 9: the share of each draft, by config.

    `counts` maps a config to the number of records of each draft; every config
    has the same drafts in the same order.
    """
    totals = [sum(drafts.values()) for drafts in counts.values()]
    rows = range(len(counts))
    with _drawing(stem, 0.24 * len(counts) + 1.0) as figure:
        axes = figure.subplots()
        starts = [0.0] * len(counts)
        for name in next(iter(counts.values()), {}):
            numbers = [drafts[name] for drafts in counts.values()]
            if not any(numbers):
                continue
            shares = [
                100 * number / total if total else 0.0
                for number, total in zip(numbers, totals, strict=True)
            ]
            axes.barh(
                rows,
                shares,
                left=starts,
                color=_DRAFT_COLOURS.get(name, _GREY),
                label=name,
                height=0.72,
                edgecolor="white",
                linewidth=0.4,
            )
            starts = list(map(sum, zip(starts, shares, strict=True)))
        for row, total in enumerate(totals):
            axes.text(101, row, f"{total:,}", va="center", fontsize=6.5)
        axes.set_yticks(rows, list(map(_label, counts)), fontsize=7)
        axes.set_ylim(len(counts) - 0.4, -0.6)
        axes.set_xlim(0, 100)
        axes.set_xlabel("records, per cent (their number at the right)")
        figure.legend(
            loc="outside upper center",
            ncols=6,
            frameon=False,
            fontsize=7,
            handlelength=1.0,
            columnspacing=1.2,
        )

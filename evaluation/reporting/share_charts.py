"""The plots of shares: bars made of parts, and heat maps."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from evaluation.reporting.charts import COLOURS, axes_of, label
from evaluation.reporting.report import Plot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure


def stack(
    name: str,
    title: str,
    bars: Mapping[str, Mapping[str, int]],
    *,
    x_label: str,
    colours: Mapping[str, str] | None = None,
) -> Plot:
    """Draw one bar a line, made of the shares of its parts, its total beside it.

    Parts without a colour in `colours` take the next of our own.
    """

    def draw(figure: Figure) -> None:
        axes = axes_of(figure, title, f"{x_label}, per cent, and their number", "")
        figure.set_size_inches(figure.get_figwidth(), 0.34 * len(bars) + 1.7)
        axes.grid(visible=False, axis="y")
        parts = [
            part for part in _names(bars) if any(b.get(part) for b in bars.values())
        ]
        totals = [sum(bar.values()) for bar in bars.values()]
        left = [0.0] * len(bars)
        for index, part in enumerate(parts):
            shares = [
                100 * bar.get(part, 0) / total if total else 0.0
                for bar, total in zip(bars.values(), totals, strict=True)
            ]
            axes.barh(
                range(len(bars)),
                shares,
                left=left,
                height=0.7,
                color=(colours or {}).get(part, COLOURS[index % len(COLOURS)]),
                edgecolor="white",
                linewidth=0.4,
                label=label(part),
            )
            left = [start + share for start, share in zip(left, shares, strict=True)]
        for row, total in enumerate(totals):
            axes.text(101, row, f"{total:,}", va="center", fontsize=6.5)
        axes.set_yticks(range(len(bars)), [label(bar) for bar in bars], fontsize=7)
        axes.set_ylim(len(bars) - 0.4, -0.6)
        axes.set_xlim(0, 100)
        if parts:
            figure.legend(
                loc="outside lower center", ncols=4, frameon=False, fontsize=7
            )

    return Plot(name=name, title=title, draw=draw)


def heat_map(
    name: str,
    title: str,
    cells: Mapping[str, Mapping[str, float | None]],
    *,
    scale_label: str = "share",
) -> Plot:
    """Draw a figure between 0 and 1 for each line and column; None stays white."""

    def draw(figure: Figure) -> None:
        columns = _names(cells)
        height = 0.15 * len(cells) + 1.8
        figure.set_size_inches(max(figure.get_figwidth(), 0.3 * len(columns)), height)
        axes = figure.subplots()
        axes.set_title(title)
        grid = [
            [_figure(row.get(column)) for column in columns] for row in cells.values()
        ]
        if not columns:
            return
        image = axes.imshow(grid, vmin=0, vmax=1, cmap="cividis", aspect="auto")
        axes.set_xticks(range(len(columns)), map(label, columns), rotation=90)
        axes.set_yticks(range(len(cells)), map(label, cells))
        axes.tick_params(labelsize=6.5)
        for y, row in enumerate(grid):
            for x, value in enumerate(row):
                if not isnan(value):
                    shade = "black" if value > 0.5 else "white"  # noqa: PLR2004 (half way)
                    axes.text(
                        x, y, f"{100 * value:.0f}", ha="center", va="center",
                        fontsize=5, color=shade,
                    )  # fmt: skip
        figure.colorbar(image, label=scale_label)

    return Plot(name=name, title=title, draw=draw)


def _names(lines: Mapping[str, Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for line in lines.values() for name in line))


def _figure(value: float | None) -> float:
    return float("nan") if value is None else value

"""Plots are drawn from whatever there is: nothing, one point, hostile names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib import figure as figures

from curation.dataset.plots import style
from evaluation.reporting.charts import (
    Point,
    heat_map,
    label,
    points,
    stack,
    survival,
)
from evaluation.reporting.quantiles import Quantiles

if TYPE_CHECKING:
    from evaluation.reporting.report import Plot

_EVIL = "$x^{$ \x1b[2J \u202e"
_MAPS: dict[str, dict[str, float | None]] = {
    "allOf": {"a": 1.0, "b": None},
    _EVIL: {"a": 0.25, "b": 0.0},
}
DRAWINGS = [
    survival("s", "t", {_EVIL: Quantiles.of([1, 2, 3], [9])}),
    survival("s", "t", {"lost": Quantiles.of([], [9, 9]), "none": Quantiles.of([])}),
    survival("s", "t", {"zero": Quantiles.of([0, 0]), "same": Quantiles.of([5, 5])}),
    survival("s", "t", {}),
    stack("s", "t", {_EVIL: {"a": 1, "b": 0}, "none": {}}, x_label="x"),
    stack("s", "t", {}, x_label="x"),
    points("s", "t", {_EVIL: Point(x=1, y=2)}, x_label="x", y_label="y"),
    points("s", "t", {}, x_label="x", y_label="y"),
    heat_map("s", "t", _MAPS),
    heat_map("s", "t", {}),
]


@pytest.mark.parametrize("plot", DRAWINGS)
def test_a_plot_can_be_drawn(plot: Plot) -> None:
    """Without a warning, which would be an error here."""
    with style():
        figure = figures.Figure(layout="constrained")
        plot.draw(figure)
        figure.draw_without_rendering()


def test_a_time_out_never_comes_down() -> None:
    """The curve ends at the deadline with a mark, above zero."""
    figure = figures.Figure()
    survival("s", "t", {"a": Quantiles.of([1e6, 2e6], [4e10, 4e10])}).draw(figure)
    curve, mark = figure.axes[0].lines
    assert np.asarray(curve.get_xdata())[-1] == 4e10
    assert np.asarray(mark.get_ydata()).tolist() == [0.5]
    assert mark.get_marker() == ">"


def test_names_are_what_the_font_can_draw() -> None:
    """One line of ASCII, cut where it is long."""
    assert label("a\nb\u202e\U0001f600").isascii()
    assert len(label("x" * 99)) == 36

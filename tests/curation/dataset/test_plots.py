"""The plots: drawn, legible in outline, and the same bytes each time."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from curation.dataset.paper_tables import Spread
from tests.late import Late
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curation.dataset import plots
else:
    plots = Late("curation.dataset.plots")

SPREAD = Spread(least=0.2, lower_quartile=1, median=3, upper_quartile=9, most=2_000)
FEW = Spread(least=1, lower_quartile=1, median=2, upper_quartile=2, most=3)


def _features(stem: Path) -> None:
    plots.features({"type": 900, "@minmaxLength": 8}, {"uri": 3}, stem)


def _no_features(stem: Path) -> None:
    plots.features({}, {}, stem)


def _spreads(stem: Path) -> None:
    configs = {"Github_easy": SPREAD, "$x_1$": FEW}
    plots.spreads({"Size (KB)": configs, "Depth": {"a": FEW, "b": FEW}}, stem)


def _drafts(stem: Path) -> None:
    none = {"draft-04": 0, "unknown": 0}
    counts = {"Snowplow": {"draft-04": 3, "unknown": 1}, "none": none}
    plots.drafts(counts, stem)


def _hostile_names(stem: Path) -> None:
    names = ["\x1b[31m", "\u202e", "x" * 10_000, "\u6f22\n$a_b$", "[bold]"]
    plots.features({"type": 5}, dict.fromkeys(names, 1), stem)


DRAWINGS = [_hostile_names, _features, _no_features, _spreads, _drafts]


def _drawn(draw: Callable[[Path], None], stem: Path) -> list[bytes]:
    """Draw a plot; return its SVG and its PNG."""
    draw(stem)
    return [stem.with_suffix(suffix).read_bytes() for suffix in (".svg", ".png")]


@pytest.mark.parametrize("draw", first_fast(2, DRAWINGS))
def test_a_plot_is_what_its_name_says_each_time(
    draw: Callable[[Path], None], tmp_path: Path
) -> None:
    """An SVG without a date or text that needs a font, a PNG, and the same bytes."""
    first = _drawn(draw, tmp_path / "a")
    assert first == _drawn(draw, tmp_path / "b")
    assert b"<dc:date>" not in first[0]
    drawing = ElementTree.fromstring(first[0])  # noqa: S314 - our own file
    tags = {each.tag.rpartition("}")[2] for each in drawing.iter()}
    assert "path" in tags
    assert "text" not in tags
    assert first[1].startswith(b"\x89PNG")


def test_the_users_own_style_does_not_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A matplotlibrc of the user's changes nothing."""
    plain = _drawn(_drafts, tmp_path / "plain")
    import matplotlib as mpl  # noqa: PLC0415 - an extra, checked above

    monkeypatch.setitem(mpl.rcParams, "axes.facecolor", "black")
    assert _drawn(_drafts, tmp_path / "styled") == plain

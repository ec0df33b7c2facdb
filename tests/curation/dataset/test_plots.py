"""The plots: drawn, legible in outline, and the same bytes each time."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytest.importorskip("matplotlib")

from curation.dataset import plots
from curation.dataset.paper_tables import Spread

SPREAD = Spread(least=0.2, lower_quartile=1, median=3, upper_quartile=9, most=2_000)
FEW = Spread(least=1, lower_quartile=1, median=2, upper_quartile=2, most=3)


def _features(stem: Path) -> tuple[Path, Path]:
    return plots.features([("type", 900), ("@minmaxLength", 8)], [("uri", 3)], stem)


def _no_features(stem: Path) -> tuple[Path, Path]:
    return plots.features([], [], stem)


def _spreads(stem: Path) -> tuple[Path, Path]:
    configs = {"Github_easy": SPREAD, "$x_1$": FEW}
    return plots.spreads({"Size (KB)": configs, "Depth": {"a": FEW, "b": FEW}}, stem)


def _drafts(stem: Path) -> tuple[Path, Path]:
    counts = {"Snowplow": {"draft-04": 3, "unknown": 1}, "none": {"draft-04": 0}}
    return plots.drafts(counts, stem)


def _hostile_names(stem: Path) -> tuple[Path, Path]:
    names = ["\x1b[31m", "\u202e", "x" * 10_000, "\u6f22\n$a_b$", "[bold]"]
    return plots.features([("type", 5)], [(name, 1) for name in names], stem)


DRAWINGS = [_features, _no_features, _spreads, _drafts, _hostile_names]


@pytest.mark.parametrize("draw", DRAWINGS)
def test_a_plot_is_what_its_name_says_each_time(
    draw: Callable[[Path], tuple[Path, Path]], tmp_path: Path
) -> None:
    """An SVG without a date or text that needs a font, a PNG, and the same bytes."""
    first = [path.read_bytes() for path in draw(tmp_path / "a")]
    svg, png = draw(tmp_path / "b")
    assert first == [svg.read_bytes(), png.read_bytes()]
    assert b"<dc:date>" not in first[0]
    tags = {each.tag.rpartition("}")[2] for each in ElementTree.parse(svg).iter()}  # noqa: S314 - our own file
    assert "path" in tags
    assert "text" not in tags
    assert png.read_bytes().startswith(b"\x89PNG")


def test_the_users_own_style_does_not_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A matplotlibrc of the user's changes nothing."""
    plain = _drafts(tmp_path / "plain")[0].read_bytes()
    import matplotlib as mpl  # noqa: PLC0415 - an extra, checked above

    monkeypatch.setitem(mpl.rcParams, "axes.facecolor", "black")
    assert _drafts(tmp_path / "styled")[0].read_bytes() == plain

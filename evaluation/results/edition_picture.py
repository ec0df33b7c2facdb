"""The pictures of an edition: a bar an engine or target, on light and dark pages."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from evaluation.reporting.printing import DEFAULT_PRESET
from evaluation.reporting.tables import Rate
from evaluation.results.fits import FitRow, reached
from evaluation.results.headline import ALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from evaluation.reporting.statistics import Interval
    from evaluation.results.edition import Index

#: The file of an edition that holds it.
PICTURE: Final = "picture.svg"
#: Units of the picture: a line's height, where bars begin, and the width of 100 %.
_LINE: Final = 24
_LEFT: Final = 210
_FULL: Final = 300
_HEAD: Final = 34
_COLOUR: Final = "#7d8590"


def draw_picture(index: Index, figures: pl.DataFrame) -> str:
    """Return the share of schemas that each engine passes, with its interval, as SVG.

    On the records that every engine was asked, as in the table; the best first.

    Args:
        index: The index of an edition.
        figures: Its headline.
    """
    bars = []
    for line in figures.filter(config=ALL).iter_rows(named=True):
        rate = Rate(line["passed"], line["tested"])
        name = line["engine"].removesuffix(DEFAULT_PRESET)
        bars.append((name, [(rate, "")], rate.interval))
    title = (
        "Schemas compiled and enforced on every text, of the "
        f"{index.dataset.common:,} that all engines were asked"
    )
    return _picture(title, index.edition, bars)


def fits_picture(rows: Sequence[FitRow], edition: str) -> str:
    """Return the share of records that each target takes, as SVG.

    The darkest part of a bar is the unchanged schemas, the lighter ones rewrites.
    """
    opacities = [f' fill-opacity="{opacity}"' for opacity in (1, 0.45, 0.3)]
    bars = [
        (target, [*zip(rates, opacities, strict=True)], None)
        for target, rates in reached(rows).items()
    ]
    title = "Real schemas taken: as they stand / after safe rewrites / after any"
    return _picture(title, edition, bars, right=130)


def _picture(
    title: str,
    edition: str,
    bars: Sequence[tuple[str, Sequence[tuple[Rate, str]], Interval | None]],
    right: int = 60,
) -> str:
    """Return a picture of bars: a name, parts with their opacity, an interval."""
    width = _LEFT + _FULL + right
    height = _HEAD + _LINE * len(bars) + 6
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" role="img" font-family="sans-serif" '
        f'fill="{_COLOUR}" stroke="{_COLOUR}" stroke-width="0">'
    )
    lines = [
        head,
        f"<title>{escape(title)}</title>",
        _text(8, 18, f"{title} ({edition})", size=11),
    ]
    for number, (name, parts, interval) in enumerate(bars):
        y = _HEAD + _LINE * number
        lines.append(_text(_LEFT - 8, y + 15, name, "end"))
        for rate, opacity in reversed(parts):
            lines.append(
                f'<rect x="{_LEFT}" y="{y + 3}" width="{_FULL * (rate.share or 0):.1f}"'
                f' height="16" fill="#2f81f7"{opacity}/>'
            )
        if interval is not None:
            low, high = (_LEFT + _FULL * end for end in (interval.low, interval.high))
            lines.append(f'<path d="M{low:.1f} {y + 11}H{high:.1f}" stroke-width="2"/>')
        shares = " / ".join(f"{100 * (rate.share or 0):.0f}" for rate, _ in parts)
        lines.append(_text(_LEFT + _FULL + 8, y + 15, f"{shares} %"))
    return "\n".join([*lines, "</svg>\n"])


def _text(x: float, y: float, text: str, anchor: str = "start", size: int = 13) -> str:
    attributes = f'x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}"'
    return f"<text {attributes}>{escape(text)}</text>"

"""Draw SVG at build: no style in it, since a page's policy allows none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.reporting.tables import Rate
    from evaluation.site.classes import Class

#: Units of a bar's width and height.
_WIDTH: Final = 1000
_HEIGHT: Final = 28
_BAR: Final = Markup(
    '<svg class="bar" viewBox="0 0 {width} {height}" preserveAspectRatio="none" '
    'role="img" aria-label="{label}">{parts}</svg>'
)
_PART: Final = Markup(
    '<rect class="{name}" x="{x:.1f}" y="3" width="{width:.1f}" height="22">'
    "<title>{title}</title></rect>"
)
#: From the low to the high end of an interval.
_WHISKER: Final = Markup(
    '<path class="whisker" vector-effect="non-scaling-stroke" '
    'd="M{low:.1f} 14H{high:.1f}M{low:.1f} 8V20M{high:.1f} 8V20"/>'
)


def stacked_bar(rates: Mapping[Class, Rate]) -> Markup:
    """Return a bar of shares, with the 95 % interval of the first one."""
    parts, x = Markup(), 0.0
    for each, rate in rates.items():
        width = _WIDTH * (rate.share or 0)
        if width:
            title = f"{each}: {rate}"
            parts += _PART.format(name=each.slug, x=x, width=width, title=title)
        x += width
    first = next(iter(rates.values()))
    if (between := first.interval) is not None:
        parts += _WHISKER.format(low=_WIDTH * between.low, high=_WIDTH * between.high)
    label = "; ".join(f"{each}: {rate}" for each, rate in rates.items() if rate.count)
    return _BAR.format(width=_WIDTH, height=_HEIGHT, label=label, parts=parts)

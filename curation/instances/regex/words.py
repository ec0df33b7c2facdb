"""Plain words that made-up text is put together from."""

from __future__ import annotations

from typing import Final


def split(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


WORDS: Final = split(
    """
    amber anchor apple arrow autumn badge bamboo barrel basin beacon birch border
    bottle branch bridge bright bronze bucket butter cabin candle canvas canyon carbon
    castle cedar cellar chalk cherry circle citrus cliff cloud clover cobalt comet
    copper coral cotton crystal dawn delta desert dome drift eagle echo ember engine
    estate falcon feather fern field flint forest fossil fountain frost galaxy garden
    garnet ginger glacier globe grain granite gravel grove harbor hazel heron hill
    honey horizon island ivory jasmine juniper kettle lagoon lantern laurel lemon
    linen lotus lumber magnet maple marble market meadow mineral mirror mortar mosaic
    mountain nectar needle north oasis ocean olive onyx orange orbit orchard otter
    oyster paper pebble pepper pilot pine planet plaza pollen prairie prism quarry
    quartz quiet rain ranger raven reef ribbon ridge river robin rocket saddle salmon
    sapphire satin season shadow shell signal silver sketch slate spring spruce
    station stone storm summer summit sunset thistle thunder timber tower trail tulip
    tunnel valley velvet village violet walnut water willow window winter yellow zinc
    """
)
#: Words with letters beyond ASCII, for free text.
ACCENTED: Final = ("café", "naïve", "jalapeño", "Zürich", "façade", "smörgåsbord")
#: Texts in other scripts, all of them inside the basic plane.
SCRIPTS: Final = ("Ελλάδα", "Москва", "東京タワー", "서울", "日本語", "नमस्ते", "한국어")
#: Characters beyond the basic plane: pairs of surrogates in UTF-16.
ASTRAL: Final = ("\U0001f600", "\U0001f680", "\U0001d54f", "\U00020bb7", "\U0001f9ed")
#: Texts that JSON writes with escapes.
ESCAPED: Final = (
    'the "old" mill',
    "C:\\meadow\\river",
    "first line\nsecond line",
    "left\tright",
    '{"a": [1, 2]}',
    '\\d+\\."',
    "bell \u0007 and \u001f",
)

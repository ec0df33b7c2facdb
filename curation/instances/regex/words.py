"""Plain words that made-up text is put together from."""

from __future__ import annotations

from typing import Final

from curation.system.package_data import raw_folder


def split(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


#: Some three thousand, each once. Their order decides what is drawn.
WORDS: Final = split((raw_folder() / "lists" / "words.txt").read_text(encoding="utf-8"))
#: Words with letters beyond ASCII, for free text.
ACCENTED: Final = split(
    "café naïve jalapeño Zürich façade smörgåsbord crème über señor Ångström déjà "
    "piñata coöperate kůň łódź çay žába naïveté fjörður"
)
#: Texts in other scripts, all of them inside the basic plane.
SCRIPTS: Final = (
    *("Ελλάδα", "Москва", "東京タワー", "서울", "日本語", "नमस्ते", "한국어", "שלום"),
    *(
        "مرحبا",
        "ภาษาไทย",
        "Հայաստան",
        "ქართული",
        "Київ",
        "北京",
        "한글 문장",
        "ελιά και ψωμί",
    ),
)
#: Characters beyond the basic plane: pairs of surrogates in UTF-16.
ASTRAL: Final = (
    *("\U0001f600", "\U0001f680", "\U0001d54f", "\U00020bb7", "\U0001f9ed"),
    *("\U0001f469\u200d\U0001f52c", "\U0001f1f3\U0001f1f4", "\U0001f44d\U0001f3fd"),
)
#: Texts that JSON writes with escapes.
ESCAPED: Final = (
    'the "old" mill',
    "C:\\meadow\\river",
    "first line\nsecond line",
    "left\tright",
    '{"a": [1, 2]}',
    '\\d+\\."',
    "bell \u0007 and \u001f",
    "line\r\nline\r\n",
    "\\\\host\\share",
    '"',
    "</script>",
    "\u2028 and \u00a0",
)

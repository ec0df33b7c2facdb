"""Plain words that made-up text is put together from."""

from __future__ import annotations

import tomllib
from typing import Final

from curation.system.user_files import raw_folder


def split(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


_LISTS: Final = raw_folder() / "lists"
#: Some three thousand, each once. Draws depend on their order.
WORDS: Final = split((_LISTS / "words.txt").read_text(encoding="utf-8"))
#: What made-up texts and numbers are drawn from, by name.
VALUES: Final = tomllib.loads((_LISTS / "values.toml").read_text(encoding="utf-8"))
#: Words with letters beyond ASCII, for free text.
ACCENTED: Final = tuple(VALUES["odd"]["accented"])
#: Texts in other scripts, all of them inside the basic plane.
SCRIPTS: Final = tuple(VALUES["odd"]["scripts"])
#: Characters beyond the basic plane: pairs of surrogates in UTF-16.
ASTRAL: Final = tuple(VALUES["odd"]["astral"])
#: Texts that JSON writes with escapes.
ESCAPED: Final = tuple(VALUES["odd"]["escaped"])

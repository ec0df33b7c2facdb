"""Faithfulness of one leaf: how many words have truth and answer in common?"""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from curation.json.text import canonical

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.suites.sob.metrics.rules import ScoringRules

_ARTICLES: Final = frozenset({"a", "an", "the"})
# Python writes no longer integer as decimal digits.
_MOST_DIGITS: Final = 4_300


class _Blanks(dict[int, int]):
    """Maps punctuation and symbols to a blank, every other character to itself."""

    def __missing__(self, code: int) -> int:
        """Decide about a character once (Unicode's categories P and S)."""
        is_mark = unicodedata.category(chr(code))[0] in "PS"
        self[code] = ord(" ") if is_mark else code
        return self[code]


_BLANKS: Final = _Blanks()


@lru_cache(maxsize=65_536)
def words(text: str) -> tuple[str, ...]:
    """Return a text's words: lower case, no punctuation, no English articles.

    Example:
        >>> words("The co-founder, U.S.")
        ('co', 'founder', 'u', 's')
    """
    split = text.lower().translate(_BLANKS).split()
    return tuple(word for word in split if word not in _ARTICLES)


def text_of_leaf(value: Json, rules: ScoringRules) -> str:
    """Return a leaf as the text whose words are compared."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and rules.canonical_numbers and value - value == 0:
        return canonical(float(value)).decode()
    if isinstance(value, int) and value.bit_length() > _MOST_DIGITS * 3:
        return hex(value)
    return str(value)


def token_f1(truth: Json, answer: Json, rules: ScoringRules) -> float:
    """Return the F1 of two leaves' words, counted as often as they stand (eq. 10).

    Two leaves of no words match; one of no words and another do not.
    """
    expected = words(text_of_leaf(truth, rules))
    found = words(text_of_leaf(answer, rules))
    if expected == found:
        return 1.0
    common = (Counter(expected) & Counter(found)).total()
    return 2 * common / (len(expected) + len(found))

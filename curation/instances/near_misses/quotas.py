"""Numbers of near misses that one schema gets."""

from __future__ import annotations

from typing import Final

#: The keyword that every engine refuses at the first byte of a value.
TYPE: Final = "type"
#: Near misses by other keywords: of most schemas, and of the largest.
_USUAL: Final = 24
_LARGEST: Final = 40
#: Pairs of a place and a keyword, beyond the usual number, for one near miss more.
_PAIRS: Final = 8
#: Near misses by `type` of schemas that have hardly any others.
_FEWEST_TYPES: Final = 3


def most_others(pairs: int) -> int:
    """Return the most near misses by keywords other than `type`.

    Args:
        pairs: The schema's pairs of a place and such a keyword.

    Example:
        >>> [most_others(pairs) for pairs in (5, 24, 64, 9_000)]
        [24, 24, 29, 40]
    """
    return min(_LARGEST, _USUAL + max(0, pairs - _USUAL) // _PAIRS)


def most_types(others: int) -> int:
    """Return the most near misses by `type`.

    Args:
        others: Near misses by other keywords that were found.
    """
    return max(_FEWEST_TYPES, others // 2)

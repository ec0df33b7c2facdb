"""Sentences below tables: what columns and brackets mean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

#: The column of a rate in which every cluster of near-duplicates counts once.
BY_CLUSTER = "by cluster"
CLUSTERS = f"{BY_CLUSTER}: every cluster of near-duplicates counts once."
#: Meaning of the brackets after a rate.
BRACKETS = (
    "Brackets: Wilson's 95 % interval; several answers about one schema count for what "
    "they are worth."
)


def without_meanings(note: str, gone: Collection[str], columns: Collection[str]) -> str:
    """Return a note without the sentences `NAME: ...` of columns that are gone.

    Example:
        >>> without_meanings("a: one. b: two.", {"b"}, {"a"})
        'a: one.'
    """
    clusters = () if any(BY_CLUSTER in name for name in columns) else (BY_CLUSTER,)
    for name in (*gone, *clusters):
        note = re.sub(rf"(^|(?<=\. )){re.escape(name)}: [^.]*\.( |$)", "", note)
    return note.rstrip()

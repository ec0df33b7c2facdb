"""How much a record counts, and how much a source."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: What a record of each complexity weighs (the paper's section 4.4).
COMPLEXITY_WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {"easy": 1.0, "medium": 2.0, "hard": 3.0}
)


def weight_of(complexity: str, difficulty: str = "") -> float:
    """Return a record's weight: by its schema, else by its question; 0 if unknown."""
    for word in (complexity, difficulty):
        if word.lower() in COMPLEXITY_WEIGHTS:
            return COMPLEXITY_WEIGHTS[word.lower()]
    return 0.0


@dataclass(frozen=True, slots=True)
class SourceTotal:
    """A source of a data set as a whole."""

    records: int
    #: The sum of its records' weights: `W_u` of equation 4.
    weight: float


#: Of the published data (the paper's sections 6.1 and Table 8).
PUBLISHED_TOTALS: Final[Mapping[str, SourceTotal]] = MappingProxyType(
    {
        "text": SourceTotal(5_000, 13_054.0),
        "image": SourceTotal(209, 602.0),
        "audio": SourceTotal(115, 343.0),
    }
)


def totals_of(records: Iterable[tuple[str, float]]) -> dict[str, SourceTotal]:
    """Return the totals of records, each given by its source and its weight."""
    totals: dict[str, SourceTotal] = {}
    for source, weight in records:
        before = totals.get(source, SourceTotal(0, 0.0))
        totals[source] = SourceTotal(before.records + 1, before.weight + weight)
    return totals

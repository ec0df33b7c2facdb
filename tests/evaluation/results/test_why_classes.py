"""Wrong walks are counted by their class."""

from __future__ import annotations

from dataclasses import replace

from evaluation.core.cases import Why
from evaluation.results.why_classes import WhyClasses
from tests.evaluation.made_runs import accepted, blocked, row

_FRACTION = Why(stands="fraction", keyword="type")
_ORDER = Why(stands="member out of order", keyword="properties")


def test_wrong_walks_are_counted_by_class() -> None:
    """Two of one class, one of another; the right one is in none."""
    wrong = [
        replace(blocked(valid=True), why=why) for why in (_FRACTION, _ORDER, _FRACTION)
    ]
    classes = WhyClasses()
    classes.add(row(walks=(*wrong, accepted())))
    found = [(line[2], line[3], line[5]) for line in classes.table("why").rows]
    assert found == [("fraction", "type", 2), ("member out of order", "properties", 1)]

"""Batches: nothing lost, nothing twice, bounded by number and weight."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from curation.workers.pool import in_batches

if TYPE_CHECKING:
    from collections.abc import Iterator

weights = st.lists(st.integers(min_value=0, max_value=50))


@given(weights, st.integers(1, 10), st.integers(1, 100))
def test_batches_hold_every_unit_once_and_in_order(
    units: list[int], most: int, heaviest: int
) -> None:
    """Joined again, the batches are the units; only their last one weighs too much."""
    batches = list(in_batches(units, int, most=most, heaviest=heaviest))
    assert list(chain.from_iterable(batches)) == units
    for each in batches:
        assert 1 <= len(each) <= most
        assert sum(each[:-1]) < heaviest


def test_a_batch_is_ready_before_the_next_unit_is_asked_for() -> None:
    """What is read lazily is held one batch at a time."""
    asked: list[int] = []

    def units() -> Iterator[int]:
        for each in range(9):
            asked.append(each)
            yield each

    first = next(iter(in_batches(units(), int, most=3, heaviest=99)))
    assert first == asked == [0, 1, 2]

"""Drawing some of all: shares and stability."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from evaluation.data.sampling import draw

COUNTS = st.lists(st.integers(0, 40), min_size=1, max_size=6)


def _names(counts: list[int]) -> list[tuple[int, str, str]]:
    pairs = [(f"c{n}", f"i{k}") for n, count in enumerate(counts) for k in range(count)]
    return [(place, config, name) for place, (config, name) in enumerate(pairs)]


@given(counts=COUNTS, limit=st.integers(1, 120), seed=st.integers(0, 3))
def test_a_draw_has_its_size_its_order_and_its_shares(
    counts: list[int], limit: int, seed: int
) -> None:
    """As many as asked for if there are, ascending, no config far from its share."""
    names = _names(counts)
    places = draw(names, limit, seed)
    assert len(places) == min(limit, len(names))
    assert places == sorted(set(places))
    found = Counter(names[place][1] for place in places)
    full = [count for count in counts if count]
    for config, count in enumerate(counts):
        own = found[f"c{config}"]
        assert own <= count
        if limit >= len(full) and count:
            assert own >= 1
        if len(names) > limit * len(full):
            assert abs(own - limit * count / len(names)) <= len(full) + 1


@given(counts=COUNTS, limit=st.integers(1, 60), gone=st.integers(0, 200))
def test_who_is_drawn_does_not_depend_on_those_who_are_not(
    counts: list[int], limit: int, gone: int
) -> None:
    """Without one that was not drawn, one config's draw is the same."""
    names = _names([sum(counts)])
    chosen = draw(names, limit, 0)
    rest = [each for each in names if each[0] in chosen or each[0] != gone]
    assert draw(rest, limit, 0) == chosen

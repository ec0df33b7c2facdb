"""The statistics against their references, and the laws that they keep."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evaluation.reporting.statistics import (
    holm,
    independent_worth,
    mcnemar,
    sign_flip,
    wilson,
)

numpy = pytest.importorskip("numpy")
stats = pytest.importorskip("scipy.stats")

_COUNTS = st.integers(0, 400)


@given(_COUNTS, _COUNTS)
def test_wilson_is_wilsons(one: int, other: int) -> None:
    """Both bounds are scipy's for every count, the ends included."""
    count, of = min(one, other), max(one, other)
    assume(of)
    found = wilson(count, of)
    reference = stats.binomtest(count, of).proportion_ci(method="wilson")
    assert found is not None
    assert math.isclose(found.low, reference.low, abs_tol=1e-12)
    assert math.isclose(found.high, reference.high, abs_tol=1e-12)
    assert 0 <= found.low <= count / of <= found.high <= 1


def test_wilson_of_nothing_is_nothing() -> None:
    """No share of no whole, and no share beyond the whole."""
    assert wilson(0, 0) is None
    with pytest.raises(ValueError, match="5"):
        wilson(5, 4)


@given(_COUNTS, _COUNTS)
def test_mcnemar_is_the_binomial_test(only_a: int, only_b: int) -> None:
    """The exact test: discordant pairs against a fair coin; symmetric."""
    found = mcnemar(only_a, only_b)
    assert found == mcnemar(only_b, only_a)
    if only_a + only_b:
        reference = stats.binomtest(only_a, only_a + only_b, 0.5).pvalue
        assert math.isclose(found, reference, rel_tol=1e-9)
    else:
        assert found == 1


def test_mcnemar_of_many_is_small_but_no_fault() -> None:
    """Thousands of discordant pairs are computed in whole numbers."""
    assert 0 <= mcnemar(0, 9_000) < 1e-300
    assert mcnemar(4_500, 4_500) == 1
    with pytest.raises(ValueError, match="-1"):
        mcnemar(-1, 2)


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8))
def test_holm_never_helps(ps: dict[str, float]) -> None:
    """Adjusted values are no smaller, at most 1, and in the same order."""
    found = holm(ps)
    assert list(found) == list(ps)
    assert all(ps[name] <= found[name] <= 1 for name in ps)
    ordered = sorted(ps, key=lambda name: ps[name])
    assert [found[name] for name in ordered] == sorted(found.values())


def test_holm_by_hand() -> None:
    """The example of three: 0.01 x 3, 0.02 x 2, then what came before."""
    found = holm({"a": 0.04, "b": 0.01, "c": 0.02})
    assert found == {"a": 0.04, "b": 0.03, "c": 0.04}


_CLUSTERS = st.lists(
    st.integers(1, 12).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))),
    min_size=1,
    max_size=20,
)


@given(_CLUSTERS)
def test_clusters_are_worth_no_more_than_their_answers(
    clusters: list[tuple[int, int]],
) -> None:
    """Between one answer for each of equal clusters, and all of them."""
    of = sum(size for _, size in clusters)
    worth = independent_worth(clusters)
    assert 1 <= worth <= of
    assert worth == independent_worth(reversed(clusters))
    doubled = [(2 * count, 2 * size) for count, size in clusters]
    assert independent_worth(doubled) <= 2 * worth * (1 + 1e-9)
    found, plain = wilson(0, of, worth=worth), wilson(0, of)
    assert found is not None
    assert plain is not None
    assert found.high >= plain.high


@given(st.lists(st.booleans(), min_size=1, max_size=50))
def test_one_answer_a_schema_is_one_answer(answers: list[bool]) -> None:
    """Wilson's interval is left as it is where every cluster has one answer."""
    assert independent_worth([(good, 1) for good in answers]) == len(answers)


def test_answers_that_agree_are_one_answer() -> None:
    """Twenty texts for each of three schemas are three successes, not sixty."""
    assert independent_worth([(20, 20)] * 3) == 3
    assert independent_worth([(20, 20), (0, 20), (20, 20)]) == 3
    assert independent_worth([]) == 0
    assert independent_worth([(5, 5)]) == 1


def test_an_interval_over_clusters_holds_the_truth() -> None:
    """In 400 draws of few schemas with many texts each, 95 % within three points."""
    draws = numpy.random.default_rng(5)
    held = plain = 0
    for _ in range(400):
        shares = draws.beta(1, 1, 15)
        counts = draws.binomial(10, shares).tolist()
        worth = independent_worth([(count, 10) for count in counts])
        found, without = wilson(sum(counts), 150, worth=worth), wilson(sum(counts), 150)
        assert found is not None
        assert without is not None
        held += found.low <= 0.5 <= found.high
        plain += without.low <= 0.5 <= without.high
    assert 0.92 <= held / 400 <= 0.98
    assert plain / 400 < 0.80


@given(st.lists(st.integers(-4, 4), max_size=9))
def test_a_flip_of_signs_counts_all_ways(differences: list[int]) -> None:
    """The p is the share of all choices of signs that are as far from 0."""
    reached = [
        abs(sum(sign * size for sign, size in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    far = sum(one >= abs(sum(differences)) for one in reached)
    assert math.isclose(sign_flip(differences), far / len(reached))


@given(st.lists(st.integers(-1, 1), max_size=200))
def test_a_flip_of_single_answers_is_mcnemars_test(differences: list[int]) -> None:
    """With one text for each schema the two tests are one."""
    assert sign_flip(differences) == mcnemar(
        differences.count(-1), differences.count(1)
    )


def test_a_flip_of_the_same_answer_counts_it_once() -> None:
    """Five schemas that differ in all their texts are five, not a hundred."""
    assert sign_flip([20] * 5) == mcnemar(0, 5)

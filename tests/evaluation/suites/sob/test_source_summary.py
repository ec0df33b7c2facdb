"""Means of one source, plain and weighted, with their intervals."""

from __future__ import annotations

import random

import pytest

from evaluation.core.records import Verdict
from evaluation.core.suite import ScoredResponse
from evaluation.suites.sob.leaderboard import CATEGORIES, SourceSummary, summarise
from evaluation.suites.sob.metrics import Metric


def _summary(count: int, weights: tuple[float, ...] = (2, 3)) -> SourceSummary:
    """Return the summary of so many responses with the weights in turn."""
    return summarise("m", "text", _responses(count), _weights(count, weights))


def _weights(count: int, weights: tuple[float, ...] = (2, 3)) -> dict[str, float]:
    return {f"r{place}": weights[place % len(weights)] for place in range(count)}


def _responses(count: int) -> list[ScoredResponse]:
    draw = random.Random(0)
    return [
        ScoredResponse(
            record=f"r{place}",
            group="text",
            repeat=0,
            model="m",
            condition="free",
            verdicts=(
                Verdict(
                    passed=False,
                    failure_class="value",
                    scores={str(metric): draw.random() for metric in Metric},
                ),
            ),
        )
        for place in range(count)
    ]


def test_the_weighted_mean_is_that_of_the_paper() -> None:
    """Every metric is the sum of weight times value over the sum of weights."""
    summary, weights = _summary(50), _weights(50)
    assert summary.weighted is not None
    for metric in Metric:
        values = {one.record: one.verdict.scores[metric] for one in _responses(50)}
        expected = sum(weights[record] * value for record, value in values.items())
        mean = summary.weighted[metric].value
        assert mean == pytest.approx(expected / sum(weights.values()))
        assert summary.plain[metric].value == pytest.approx(sum(values.values()) / 50)


def test_a_category_is_the_mean_of_its_metrics() -> None:
    """Averaging the metrics is averaging the records' categories (appendix G)."""
    summary = _summary(20)
    for category in CATEGORIES:
        records = [
            sum(one.verdict.scores[metric] for metric in category.metrics)
            / len(category.metrics)
            for one in _responses(20)
        ]
        assert category.mean(summary.plain) == pytest.approx(sum(records) / 20)
    assert [len(category.metrics) for category in CATEGORIES] == [3, 3, 2, 3, 1]


def test_intervals_hold_the_mean_and_are_the_same_every_time() -> None:
    """The bootstrap is seeded; its bounds lie on both sides of the mean."""
    first, again = (_summary(80) for _ in range(2))
    assert first == again
    for mean in first.plain.values():
        assert mean.interval is not None
        assert mean.interval.low < mean.value < mean.interval.high


def test_one_record_has_no_interval() -> None:
    """Of one value there is no spread."""
    assert _summary(1).plain[Metric.PERFECT].interval is None


def test_records_without_a_weight_have_a_plain_mean_alone() -> None:
    """A mean of weights that are all zero is no figure."""
    summary = _summary(3, weights=(0.0,))
    assert summary.weighted is None
    assert summary.means is summary.plain


def test_repeated_answers_are_of_one_record() -> None:
    """Five samples of a fifth of a set do not cover it."""
    answers = _responses(2)
    found = summarise("m", "text", answers * 5, _weights(2))
    assert found.records == len({it.record for it in answers}) == 2

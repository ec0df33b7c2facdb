"""Means of one source, plain and weighted, with their intervals."""

from __future__ import annotations

import random

import pytest

from evaluation.suites.sob.leaderboard import Category, RecordFigures, summarise
from evaluation.suites.sob.metrics import Metric


def _figures(count: int, seed: int = 0) -> list[RecordFigures]:
    draw = random.Random(seed)
    return [
        RecordFigures(
            weight=float(draw.choice([2, 3])),
            values={metric: draw.random() for metric in Metric},
        )
        for _ in range(count)
    ]


def test_the_weighted_mean_is_that_of_the_paper() -> None:
    """Every metric is the sum of weight times value over the sum of weights."""
    figures = _figures(50)
    summary = summarise("m", "text", figures)
    assert summary.weighted is not None
    total = sum(record.weight for record in figures)
    for metric in Metric:
        expected = sum(record.weight * record.values[metric] for record in figures)
        assert summary.weighted.metrics[metric].value == pytest.approx(expected / total)
        plain = sum(record.values[metric] for record in figures) / 50
        assert summary.plain.metrics[metric].value == pytest.approx(plain)


def test_a_category_is_the_mean_of_its_metrics() -> None:
    """Categories are averaged record by record, which is the mean of the means."""
    summary = summarise("m", "text", _figures(20))
    metrics = summary.plain.metrics
    for category, members in (
        (Category.MULTI_CONTEXT, (Metric.VALUE_ACCURACY, Metric.FAITHFULNESS)),
        (Category.STRICT_PRECISION, (Metric.PERFECT,)),
    ):
        expected = sum(metrics[member].value for member in members) / len(members)
        assert summary.plain.categories[category].value == pytest.approx(expected)


def test_intervals_hold_the_mean_and_are_the_same_every_time() -> None:
    """The bootstrap is seeded; its bounds lie on both sides of the mean."""
    first, again = (summarise("m", "text", _figures(80)) for _ in range(2))
    assert first == again
    for mean in first.plain.metrics.values():
        assert mean.interval is not None
        assert mean.interval.low < mean.value < mean.interval.high


def test_one_record_has_no_interval_and_none_has_no_summary() -> None:
    """Of one value there is no spread; of none there is nothing."""
    (single,) = _figures(1)
    summary = summarise("m", "text", [single])
    assert summary.plain.metrics[Metric.PERFECT].interval is None
    with pytest.raises(ValueError, match="text"):
        summarise("m", "text", [])


def test_records_without_a_weight_have_a_plain_mean_alone() -> None:
    """A mean of weights that are all zero is no figure."""
    figures = [
        RecordFigures(weight=0.0, values=record.values) for record in _figures(3)
    ]
    assert summarise("m", "text", figures).weighted is None

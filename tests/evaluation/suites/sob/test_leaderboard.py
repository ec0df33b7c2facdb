"""The aggregation against the paper's own tables, and what it does with gaps."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evaluation.reporting.tables import Estimate
from evaluation.suites.sob.leaderboard import (
    PUBLISHED_TOTALS,
    SourceSummary,
    SourceTotal,
    standings,
    totals_of,
)
from evaluation.suites.sob.metrics import SEVEN, Metric
from evaluation.suites.sob.records import weight_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evaluation.suites.sob.leaderboard import Standing

#: Figures of the paper: Table 2 as `unified`, Tables 4 to 6 as their sources.
_TABLES = json.loads((Path(__file__).parent / "paper_tables.json").read_text())
#: Both sides are rounded to three digits.
_ROUNDING = 0.0011


def _summary(
    model: str, source: str, records: int, figures: Mapping[str, float]
) -> SourceSummary:
    means = {Metric(name): Estimate(value) for name, value in figures.items()}
    return SourceSummary(
        model=model, source=source, records=records, plain=means, weighted=means
    )


def _paper(*, counted_coverage: bool = False) -> list[Standing]:
    return standings(
        [
            _summary(model, source, PUBLISHED_TOTALS[source].records, figures)
            for source in PUBLISHED_TOTALS
            for model, figures in _TABLES[source].items()
        ],
        PUBLISHED_TOTALS,
        counted_coverage=counted_coverage,
    )


def test_the_papers_unified_table_follows_from_its_tables_of_sources() -> None:
    """Table 2 has 21 models; each of its 168 figures follows within rounding."""
    found = {line.model: line for line in _paper()}
    assert found.keys() == _TABLES["unified"].keys()
    for model, figures in _TABLES["unified"].items():
        line = found[model]
        assert line.overall == pytest.approx(figures["overall"], abs=_ROUNDING), model
        for metric in SEVEN:
            expected = pytest.approx(figures[metric], abs=_ROUNDING)
            assert line.metrics[metric] == expected, (model, metric)


def test_the_papers_ranking_follows_where_its_figures_differ() -> None:
    """Models stand in Table 2's order; those a thousandth apart may change places."""
    printed = [_TABLES["unified"][line.model]["overall"] for line in _paper()]
    assert printed[0] == max(printed)
    assert all(later <= earlier + 0.0011 for earlier, later in pairwise(printed))


def test_the_one_model_without_audio_loses_its_share() -> None:
    """Phi-4 was asked 5,209 of 5,324 records."""
    line = next(line for line in _paper(counted_coverage=True) if line.model == "Phi-4")
    assert line.coverage == pytest.approx(5_209 / 5_324)
    assert line.overall == line.raw * line.coverage


def _one(records: int, **figures: float) -> SourceSummary:
    return _summary("m", "text", records, figures)


def test_coverage_counts_what_was_answered_but_for_the_code() -> None:
    """Half of the only source is half of the whole, or the whole by the code."""
    totals = {"text": SourceTotal(10, 30.0)}
    half = [_one(5, value_accuracy=0.8)]
    (counted,) = standings(half, totals, counted_coverage=True)
    assert counted.overall == pytest.approx(0.4)
    (nominal,) = standings(half, totals, counted_coverage=False)
    assert nominal.overall == pytest.approx(0.8)


def test_the_mean_is_of_the_metrics_that_there_are() -> None:
    """Audio alone has no Perfect Response; the other six are the mean."""
    figures = dict.fromkeys(map(str, SEVEN), 0.6) | {"perfect": 0.0}
    summary = _summary("m", "audio", 115, figures)
    (line,) = standings([summary], PUBLISHED_TOTALS, counted_coverage=True)
    assert Metric.PERFECT not in line.metrics
    assert line.raw == pytest.approx(0.6)


def test_ties_are_told_apart_by_value_accuracy_and_then_by_name() -> None:
    """Two models of one Overall stand in the order of their values."""
    totals = {"text": SourceTotal(1, 3.0)}
    board = standings(
        [
            _summary(
                model,
                "text",
                1,
                {Metric.VALUE_ACCURACY: value, Metric.FAITHFULNESS: 1 - value},
            )
            for model, value in (("b", 0.4), ("c", 0.6), ("a", 0.4))
        ],
        totals,
        counted_coverage=True,
    )
    assert [line.model for line in board] == ["c", "a", "b"]


def test_two_summaries_of_one_source_are_refused() -> None:
    """One model on one source has one summary."""
    with pytest.raises(ValueError, match="text"):
        standings(
            [_one(1, perfect=1), _one(1, perfect=0)],
            PUBLISHED_TOTALS,
            counted_coverage=True,
        )


def test_the_published_weights_are_those_of_the_papers_counts() -> None:
    """61 % of 5,000 texts are hard: 3,054 of weight 3 and 1,946 of weight 2."""
    counts = {"text": (3_054, 1_946), "image": (184, 25), "audio": (113, 2)}
    for source, (hard, medium) in counts.items():
        records = [(source, weight_of("hard"))] * hard
        records += [(source, weight_of("medium"))] * medium
        assert totals_of(records)[source] == PUBLISHED_TOTALS[source]


def test_a_record_of_no_known_complexity_weighs_nothing() -> None:
    """The schema's complexity decides, then the question's difficulty."""
    assert weight_of("", "hard") == 3
    assert weight_of("Medium", "hard") == 2
    assert weight_of("unheard of") == 0

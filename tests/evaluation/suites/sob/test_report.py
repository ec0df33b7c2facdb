"""Reports and leaderboards of scored runs say what the verdicts say."""

from __future__ import annotations

import json
import random
from dataclasses import replace as copy
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from curation.json.pointer import replaced
from curation.json.text import plain
from evaluation.commands.suite import app
from evaluation.core.records import Response, Verdict
from evaluation.core.suite import ScoredResponse, ScoredRun
from evaluation.reporting.tables import Estimate
from evaluation.suites.sob.metrics import (
    SEVEN,
    Metric,
    SobSettings,
    all_leaves,
    compile_schema,
)
from evaluation.suites.sob.records import (
    PUBLISHED_TOTALS,
    SourceTotal,
    compute_weight,
    sample_records,
    suite_record,
)
from evaluation.suites.sob.report import (
    CATEGORIES,
    SOURCES,
    SourceSummary,
    answer_table,
    standings,
    summarise,
    tables,
)
from evaluation.suites.sob.suite import sob_scorer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import Json
    from evaluation.core.suite import Judge
    from evaluation.reporting.tables import Table
    from evaluation.suites.sob.records import SobRecord


@cache
def _prepared() -> list[tuple[SobRecord, Judge]]:
    # Records of a family are of the sample, which has no board.
    records = [
        replace(it, family="", category=it.family) for it in sample_records()[:18]
    ]
    score = sob_scorer(SobSettings())
    return [(record, score(suite_record(record))) for record in records]


def _wrong_text(record: SobRecord) -> str:
    """Return the truth with one text changed that its schema leaves open."""
    target = compile_schema(record.json_schema, SobSettings())
    changed = (
        replaced(record.ground_truth, tuple(map(str, path)), "Nowhere Unheard")
        for path, leaf in all_leaves(record.ground_truth).items()
        if isinstance(leaf, str)
    )
    return next(json.dumps(it) for it in changed if target.refusal(plain(it)) is None)


def _answers(
    condition: str, kind: str, records: int = 18
) -> tuple[str, list[ScoredResponse]]:
    """Return a model's answers: right ones, cut ones, or with one wrong text."""
    scored = []
    for record, judge in _prepared()[:records]:
        right = json.dumps(record.ground_truth)
        texts = {"right": right, "cut": right[:-1]}
        text = texts.get(kind) or _wrong_text(record)
        scored.append(
            ScoredResponse(
                record=f"{record.source}/{record.record_id}",
                group=record.source,
                repeat=0,
                model="m",
                condition=condition,
                verdicts=(judge(Response(record="r", text=text)),),
            )
        )
    return f"m {condition}", scored


def _tables(
    *sides: tuple[str, list[ScoredResponse]], **facts: Json
) -> dict[str, Table]:
    settings: Json = {"reading": "recommended"}
    run = ScoredRun(facts={"settings": settings, **facts}, by_label=dict(sides))
    return {table.slug: table for table in tables(run)}


def _lines(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_right_answers_lead_the_board_with_everything_at_one() -> None:
    """The truth has overall 1; cut texts have 0, and the conditions are told apart."""
    tables = _tables(_answers("free", "cut"), _answers("E", "right"))
    best, worst = _lines(tables["leaderboard"])
    assert (best["model"], best["overall"], best["of all"]) == ("m E", 1, 1)
    assert (worst["model"], worst["overall"]) == ("m free", 0)
    sources = [line["source"] for line in _lines(tables["sources"])]
    assert sources == ["text", "text", "image", "image", "audio", "audio"]
    (paired,) = _lines(tables["conditions"])
    assert (paired["condition"], paired["against"]) == ("m E", "m free")
    assert paired["value"].value == 1

    tables = _tables(_answers("E", "cut"), _answers("F", "right"))
    (paired,) = _lines(tables["conditions"])  # without a free side, with the first
    assert (paired["condition"], paired["against"]) == ("m F", "m E")


@pytest.mark.parametrize(("reading", "share"), [("recommended", 1 / 3), ("paper", 1)])
def test_a_source_that_was_not_answered_lowers_coverage(
    reading: str, share: float
) -> None:
    """By the published reading, any answer to a source counts as all of it."""
    sides = (_answers("free", "right"), _answers("E", "right", records=6))
    tables = _tables(*sides, settings={"reading": reading})
    second = _lines(tables["leaderboard"])[1]
    assert second["raw"] == 1
    assert second["overall"] == pytest.approx(share)


def test_wrong_leaves_are_counted_by_class() -> None:
    """One wrong text in each answer: one leaf of a class."""
    tables = _tables(_answers("free", "wrong"))
    for line in _lines(tables["data"]):
        assert line["best perfect"] == 0 < line["best value"]
    (leaves,) = _lines(tables["leaves"])
    assert (leaves["value"], leaves["missing_path"], leaves["type"]) == (18, 0, 0)


def test_the_breakdown_has_every_record_in_each_of_its_slices() -> None:
    """Category and complexity each sum up to all records."""
    tables = _tables(_answers("free", "right"))
    lines = _lines(tables["breakdown"])
    for line, source in zip(_lines(tables["data"]), SOURCES, strict=True):
        truths = [one for one, _ in _prepared() if one.source == source][:6]
        assert (line["source"], line["records"], line["best value"]) == (source, 6, 1)
        assert line["categories"] == len({truth.category for truth in truths})
        sizes = [len(truth.json_schema["properties"]) for truth in truths]
        assert line["properties"] == median(sizes)
    for what in ("category", "complexity"):
        assert sum(line["records"] for line in lines if line["of"] == what) == 18
    assert [line["is"] for line in lines if line["of"] == "complexity"] == [
        "easy",
        "hard",
        "medium",
    ]


def test_a_run_of_nothing_but_failed_scoring_is_reported() -> None:
    """A verdict without figures counts as 0, by the weight of its record."""
    label, listed = _answers("free", "right")
    failed = Verdict(passed=False, failure_class="scoring_failed")
    broken = [copy(one, condition="E", verdicts=(failed,)) for one in listed]
    tables = _tables((label, listed), ("m E", broken))
    lines = answer_table(ScoredRun(facts={}, by_label={"m E": broken}))
    assert set(lines["leaves"]) == {0}
    assert _lines(tables["leaderboard"])[1]["overall"] == 0
    assert tables["leaves"].rows
    # Programs read rows by the names of their columns.
    for table in tables.values():
        assert len(set(table.columns)) == len(table.columns), table.title


def _summary(
    count: int, weights: tuple[float, ...] = (2, 3), repeats: int = 1
) -> SourceSummary:
    """Return the summary of so many responses with the weights in turn."""
    responses = _responses(count, weights) * repeats
    run = ScoredRun(facts={}, by_label={"m": responses})
    (summary,) = summarise(answer_table(run))
    return summary


def _responses(count: int, weights: tuple[float, ...] = (2, 3)) -> list[ScoredResponse]:
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
                    details={"weight": weights[place % len(weights)]},
                ),
            ),
        )
        for place in range(count)
    ]


def test_the_weighted_mean_is_that_of_the_paper() -> None:
    """Every metric is the sum of weight times value over the sum of weights."""
    summary = _summary(50)
    assert summary.weighted is not None
    for metric in Metric:
        values = [answer.verdict.scores[metric] for answer in _responses(50)]
        expected = 2 * sum(values[::2]) + 3 * sum(values[1::2])
        assert summary.weighted[metric].value == pytest.approx(expected / 125)
        assert summary.plain[metric].value == pytest.approx(sum(values) / 50)


def test_a_category_is_the_mean_of_its_metrics() -> None:
    """Averaging the metrics is averaging the records' categories (appendix G)."""
    responses = _responses(20, (1,))
    (line,) = _lines(_tables(("m", responses))["categories"])
    for short, (_, metrics) in CATEGORIES.items():
        records = [
            sum(answer.verdict.scores[metric] for metric in metrics) / len(metrics)
            for answer in responses
        ]
        assert line[short] == pytest.approx(sum(records) / 20)
    assert [len(metrics) for _, metrics in CATEGORIES.values()] == [3, 3, 2, 3, 1]


def test_intervals_hold_the_mean_and_are_the_same_every_time() -> None:
    """The bootstrap is seeded; its bounds lie on both sides of the mean."""
    first, again = (_summary(80) for _ in range(2))
    assert first == again
    for mean in first.plain.values():
        assert mean.interval is not None
        assert mean.interval.low < mean.value < mean.interval.high


def test_means_of_few_records() -> None:
    """One has no interval; without a weight the plain mean is alone."""
    assert _summary(1).plain[Metric.PERFECT].interval is None
    summary = _summary(3, weights=(0.0,))
    assert summary.weighted is None
    assert summary.means is summary.plain
    # Five samples of a fifth of a set do not cover it.
    assert _summary(2, repeats=5).records == 2


#: Figures of the paper: Table 2 as `unified`, Tables 4 to 6 as their sources.
_TABLES = json.loads((Path(__file__).parent / "paper_tables.json").read_text())
#: Both sides are rounded to three digits.
_ROUNDING = 0.0011


def _summary_of(
    model: str, source: str, records: int, figures: Mapping[str, float]
) -> SourceSummary:
    means = {Metric(name): Estimate(value) for name, value in figures.items()}
    return SourceSummary(
        model=model, source=source, records=records, plain=means, weighted=means
    )


def _paper(*, counted_coverage: bool = False) -> list[dict[str, Any]]:
    return standings(
        [
            _summary_of(model, source, PUBLISHED_TOTALS[source].records, figures)
            for source in PUBLISHED_TOTALS
            for model, figures in _TABLES[source].items()
        ],
        PUBLISHED_TOTALS,
        counted_coverage=counted_coverage,
    )


def test_the_papers_unified_table_follows_from_its_tables_of_sources() -> None:
    """Table 2 has 21 models; each of its 168 figures follows within rounding.

    Models stand in its order; those a thousandth apart may change places.
    """
    lines = _paper()
    assert {line["model"] for line in lines} == _TABLES["unified"].keys()
    for line in lines:
        figures = _TABLES["unified"][line["model"]]
        for name, short in [("overall", "overall"), *SEVEN.items()]:
            expected = pytest.approx(figures[name], abs=_ROUNDING)
            assert line[short] == expected, (line["model"], name)
    printed = [_TABLES["unified"][line["model"]]["overall"] for line in lines]
    assert printed[0] == max(printed)
    assert all(later <= earlier + 0.0011 for earlier, later in pairwise(printed))


def test_the_one_model_without_audio_loses_its_share() -> None:
    """Phi-4 was asked 5,209 of 5,324 records."""
    lines = {line["model"]: line for line in _paper(counted_coverage=True)}
    line = lines["Phi-4"]
    assert line["of all"] == pytest.approx(5_209 / 5_324)
    assert line["overall"] == line["raw"] * line["of all"]


_EVERY: dict[str, float] = dict.fromkeys(map(str, Metric), 0.6)


def test_coverage_counts_what_was_answered_but_for_the_code() -> None:
    """Half of the only source is half of the whole, or the whole by the code."""
    totals = {"text": SourceTotal(10, 30.0)}
    for records, is_counted, overall in (
        (5, True, 0.3),
        (5, False, 0.6),
        (12, True, 0.6),
    ):
        summary = _summary_of("m", "text", records, _EVERY)
        (line,) = standings([summary], totals, counted_coverage=is_counted)
        assert line["overall"] == pytest.approx(overall)


def test_the_mean_is_of_the_metrics_that_there_are() -> None:
    """Audio alone has no Perfect Response; the other six are the mean."""
    summary = _summary_of("m", "audio", 115, _EVERY | {Metric.PERFECT: 0.0})
    (line,) = standings([summary], PUBLISHED_TOTALS, counted_coverage=True)
    assert line["perfect"] is None
    assert line["raw"] == pytest.approx(0.6)


def test_ties_are_told_apart_by_value_accuracy_and_then_by_name() -> None:
    """Two models of one Overall stand in the order of their values."""
    summaries = [
        _summary_of(
            model,
            "text",
            1,
            _EVERY | {Metric.VALUE_ACCURACY: value, Metric.FAITHFULNESS: 1 - value},
        )
        for model, value in (("b", 0.4), ("c", 0.6), ("a", 0.4))
    ]
    totals = {"text": SourceTotal(1, 3.0)}
    board = standings(summaries, totals, counted_coverage=True)
    assert [line["model"] for line in board] == ["c", "a", "b"]


def test_the_published_weights_are_those_of_the_papers_counts() -> None:
    """61 % of 5,000 texts are hard: 3,054 of weight 3 and 1,946 of weight 2."""
    counts = {"text": (3_054, 1_946), "image": (184, 25), "audio": (113, 2)}
    for source, (hard, medium) in counts.items():
        weight = hard * compute_weight("hard") + medium * compute_weight("medium")
        assert SourceTotal(hard + medium, weight) == PUBLISHED_TOTALS[source]


def test_a_record_of_no_known_complexity_weighs_nothing() -> None:
    """The schema's complexity decides, then the question's difficulty."""
    assert compute_weight("", "hard") == 3
    assert compute_weight("Medium", "hard") == 2
    assert compute_weight("unheard of") == 0


@pytest.mark.slow
def test_published_answers_are_scored_and_reported_together(tmp_path: Path) -> None:
    """The answers of two models, in the authors' layout, have one leaderboard."""
    lines = [
        {
            "metadata": {"record_id": record.record_id, "model_id": model},
            "input": {
                "context": record.context,
                "question": record.question,
                "json_schema": record.json_schema,
            },
            "output": {
                "candidate_response": record.ground_truth if right else "Who knows?",
                "ground_truth": record.ground_truth,
            },
        }
        for model, right in (("wise", True), ("lost", False))
        for record in sample_records()[:6]
    ]
    file = tmp_path / "response_both.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    words = ("score", "sob@paper", file, "--data", file, "--format", "json")
    asked = [*map(str, words), "--run-dir", str(tmp_path / "run")]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    out = result.stdout
    tables = json.loads(out[: out.rindex("}") + 1])["tables"]
    board = next(table for table in tables if table["name"] == "leaderboard")
    assert [row["model"] for row in board["rows"]] == ["wise free", "lost free"]
    assert board["rows"][0]["perfect"] == 1
    assert board["rows"][1]["overall"] == 0

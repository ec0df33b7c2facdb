"""The report of a scored run: its tables hold what the verdicts say."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from evaluation.core.records import Response
from evaluation.core.suite import ScoredResponse, ScoredRun
from evaluation.suites.sob.metrics import RECOMMENDED
from evaluation.suites.sob.report import report
from evaluation.suites.sob.scorer import PreparedRecord, judge
from tests.evaluation.suites.sob.all_mutations import MUTATIONS, mutated
from tests.evaluation.suites.sob.stored import stored_records

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.reporting.tables import Table


@cache
def _prepared() -> list[PreparedRecord]:
    return [PreparedRecord.of(record, RECOMMENDED) for record in stored_records()[:18]]


def _answers(
    condition: str, *kinds: str, records: int = 18
) -> tuple[str, list[ScoredResponse]]:
    """Return a model's answers, the kinds in turn."""
    mutations = {mutation.name: mutation for mutation in MUTATIONS}
    scored = []
    for number, prepared in enumerate(_prepared()[:records]):
        mutation = mutations[kinds[number % len(kinds)]]
        found = mutated(prepared.record, mutation)
        assert found is not None
        verdict = judge(prepared, Response(record="r", text=found.text))
        record = prepared.record
        scored.append(
            ScoredResponse(
                record=f"{record.source}/{record.record_id}",
                group=record.source,
                repeat=0,
                model="m",
                condition=condition,
                verdicts=(verdict,),
            )
        )
    return f"m {condition}", scored


def _tables(
    *sides: tuple[str, list[ScoredResponse]], **facts: Json
) -> dict[str, Table]:
    settings: Json = {"reading": "recommended"}
    run = ScoredRun(facts={"settings": settings, **facts}, by_label=dict(sides))
    return {table.slug: table for table in report(run).tables}


def _lines(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_right_answers_lead_the_board_with_everything_at_one() -> None:
    """The truth has overall 1; cut texts have 0, and the conditions are told apart."""
    tables = _tables(_answers("free", "cut"), _answers("E", "reference"))
    best, worst = _lines(tables["leaderboard"])
    assert (best["model"], best["overall"], best["of all"]) == ("m E", 1, 1)
    assert (worst["model"], worst["overall"]) == ("m free", 0)
    (paired,) = _lines(tables["conditions"])
    assert (paired["condition"], paired["against"]) == ("m E", "m free")
    assert paired["value"].value == 1


def test_a_source_that_was_not_answered_lowers_coverage() -> None:
    """A model that answered 6 of 18 records has a third of its raw figure."""
    tables = _tables(
        _answers("free", "reference"), _answers("E", "reference", records=6)
    )
    second = _lines(tables["leaderboard"])[1]
    assert second["raw"] == 1
    assert second["overall"] == pytest.approx(6 / 18)


def test_the_published_reading_counts_a_source_as_a_whole() -> None:
    """Any answer to a source counts as all of it."""
    tables = _tables(
        _answers("free", "reference"),
        _answers("E", "reference", records=6),
        settings={"reading": "paper"},
    )
    assert {line["overall"] for line in _lines(tables["leaderboard"])} == {1}


def test_wrong_leaves_are_counted_by_class() -> None:
    """One wrong text in each answer: one leaf of a class."""
    tables = _tables(_answers("free", "another text"))
    (leaves,) = _lines(tables["leaves"])
    assert (leaves["value"], leaves["missing_path"], leaves["type"]) == (18, 0, 0)


def test_lenient_figures_stand_apart() -> None:
    """A fence costs the strict figures and no lenient one."""
    (fenced,) = _tables(_answers("free", "fence"))["lenient"].rows
    assert fenced == ("m free", 18, 0, 1, 0, 1, 0, 1)


def test_the_breakdown_has_every_record_in_each_of_its_slices() -> None:
    """Complexity, breadth and depth each sum up to all records."""
    lines = _lines(_tables(_answers("free", "reference"))["breakdown"])
    for what in ("complexity", "leaves", "deepest leaf"):
        assert sum(line["records"] for line in lines if line["of"] == what) == 18
    assert [line["is"] for line in lines if line["of"] == "complexity"] == [
        "hard",
        "medium",
    ]


def test_a_run_of_nothing_but_failed_scoring_is_reported() -> None:
    """A verdict without figures counts as 0, by the weight of its record."""
    label, listed = _answers("free", "reference")
    broken = [
        ScoredResponse(
            record=one.record,
            group=one.group,
            repeat=0,
            model="m",
            condition="E",
            verdicts=(
                replace(
                    one.verdict,
                    passed=False,
                    failure_class="scoring_failed",
                    scores={},
                    details={},
                ),
            ),
        )
        for one in listed
    ]
    tables = _tables((label, listed), ("m E", broken))
    assert _lines(tables["leaderboard"])[1]["overall"] == 0
    assert tables["leaves"].rows


def test_no_table_has_two_columns_of_one_name() -> None:
    """Programs read rows by the names of their columns."""
    for table in _tables(_answers("free", "cut"), _answers("E", "fence")).values():
        assert len(set(table.columns)) == len(table.columns), table.title

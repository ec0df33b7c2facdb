"""Sides of a suite's run are paired with the free side of their model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evaluation.core.records import Verdict
from evaluation.core.suite import ScoredResponse, ScoredRun
from evaluation.reporting.tables import Rate
from evaluation.results.suite_pairs import (
    changed_classes,
    pair_sides,
    paired_rates,
    pairs_with_free,
)
from evaluation.results.suite_tables import passed, reading, repairs_table, standings

if TYPE_CHECKING:
    from curation.core.json_types import Json


def _side(model: str, condition: str) -> tuple[str, list[ScoredResponse]]:
    response = ScoredResponse(
        record="r",
        group="",
        repeat=0,
        model=model,
        condition=condition,
        verdicts=(Verdict(passed=True),),
    )
    return response.label, [response]


def test_each_constrained_side_is_paired_with_the_free_one_of_its_model() -> None:
    """A model without a free side is in no pair, and neither is an empty side."""
    sides = dict([_side("a", "E"), _side("b", "E"), _side("a", "free"), ("x", [])])
    assert pairs_with_free(sides) == [("a free", "a E")]


def test_no_pairs_are_no_comparison() -> None:
    """An empty list of pairs compares nothing; without a list every two are."""
    sides = dict([_side("a", "free"), _side("b", "free")])
    assert pair_sides(sides, []) == []
    assert [(pair.a, pair.b) for pair in pair_sides(sides)] == [("a free", "b free")]


def test_answers_of_one_cluster_count_together() -> None:
    """Twenty records of one schema are one difference, not twenty."""
    _, (first,) = _side("a", "free")
    sides: dict[str, list[ScoredResponse]] = {}
    for label, right in (("a", False), ("b", True)):
        details: dict[str, Json] = {"cluster": "one schema"}
        failed = "" if right else "parse"
        verdict = Verdict(passed=right, failure_class=failed, details=details)
        sides[label] = [
            replace(first, record=str(place), verdicts=(verdict,))
            for place in range(20)
        ]
    (pair,) = pair_sides(sides)
    table = paired_rates([pair])
    (row,) = table.rows
    cells = dict(zip(table.columns, row, strict=True))
    assert cells["p"] == 1.0
    assert cells["b passes"] == passed(sides["b"]) == Rate(20, 20, 1.0)
    assert changed_classes([pair]).rows[0][4] == Rate(20, 20, 1.0)
    twice = {label: [_repaired(one) for one in own] for label, own in sides.items()}
    repairs = repairs_table(ScoredRun(by_label=twice, facts={}))
    assert repairs.rows[1][1:] == (Rate(0, 20, 1.0), Rate(20, 20, 1.0))


def _repaired(scored: ScoredResponse) -> ScoredResponse:
    return replace(scored, verdicts=(Verdict(passed=False), *scored.verdicts))


def test_the_first_table_ranks_the_models_and_says_how_sure() -> None:
    """The best first, with its interval by clusters, its price and what fails most.

    All of the records that both answered; two more were asked of one alone.
    """
    _, (first,) = _side("a", "free")
    verdicts = {
        "a": (Verdict(passed=False, failure_class="parse"),),
        "b": (Verdict(passed=True),),
    }
    by_label = {
        label: [
            replace(first, record=str(place), verdicts=verdict, cost=0.5)
            for place in range(12 if label == "a" else 10)
        ]
        for label, verdict in verdicts.items()
    }
    table = standings(ScoredRun(by_label=by_label, facts={}))
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert [row["model"] for row in rows] == ["b", "a"]
    assert rows[0]["p against the first"] is None
    assert rows[1]["p against the first"] == 2 / 2**10
    assert rows[1]["fails most"] == "parse 10"
    assert rows[0]["cost"] == 5
    assert "every model answered: 10 of 12." in table.note


def test_a_report_names_a_folder_without_where_it_was() -> None:
    """It is handed on, as an edition is; what is no place stays as it was given."""
    data = "/home/ada/own, epfl-dlab/JSONSchemaBench, build/sample"
    said = reading({"data": data, "origin": "build"})
    assert "Records: own, epfl-dlab/JSONSchemaBench, build/sample (build)." in said

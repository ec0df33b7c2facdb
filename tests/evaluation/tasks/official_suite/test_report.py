"""When a case of the test suite is passed, and what cases add up to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.cases import Case, InstanceResult, Result, Row, WalkVerdict
from evaluation.reporting.tables import Rate
from evaluation.results.outcomes import FAULTS
from evaluation.results.reader import open_run
from evaluation.tasks.official_suite.report import (
    SuiteFailure,
    by_category,
    failing_categories,
    find_leaders,
    levels,
    outcome,
    published_suite,
    report,
)
from evaluation.tasks.official_suite.task import SuiteCase, SuiteTest, case_of
from tests.evaluation import policies
from tests.evaluation.made_runs import row, write_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from evaluation.core.cases import InstanceWalk


def test_another_suite_than_the_published_is_said_in_the_table(tmp_path: Path) -> None:
    """Its cases differ, and so do its figures; the published one needs no word."""
    for suite, words in ((published_suite(), 0), ("package@1.0", 1)):
        label: UntypedJson = {"suite": suite, "category": "const", "valid": 1}
        rows = [row(task="test-suite", config="2020-12", label=label)]
        run = open_run(write_run(tmp_path / suite, rows))
        table = report(run).tables[0]
        assert suite in table.note
        assert table.note.count("Another suite than the published figures'") == words


VERDICTS = st.sampled_from(
    [each for each in WalkVerdict if each is not WalkVerdict.NOT_RUN]
)


def made(instances: str, category: str = "const", number: int = 0) -> Case:
    """Return a case: a valid instance for each v, an invalid one for i."""
    tests = tuple(
        SuiteTest(description=str(index), data=index, valid=each == "v")
        for index, each in enumerate(instances)
    )
    suite_case = SuiteCase(
        draft="2020-12",
        category=category,
        number=number,
        description="",
        schema={"const": 1},
        tests=tests,
        remote=False,
    )
    return case_of(suite_case, "mini@1")


BOTH, VALID, INVALID = made("vi"), made("v"), made("i")


@pytest.mark.parametrize(
    ("case", "rule", "failures"),
    [
        (BOTH, policies.knows_all, set()),
        (BOTH, policies.accepts_all, {SuiteFailure.UNDER_CONSTRAINED}),
        (BOTH, policies.blocks_all, {SuiteFailure.OVER_CONSTRAINED}),
        (BOTH, policies.never_ends, {SuiteFailure.OVER_CONSTRAINED}),
        (BOTH, policies.lies, {SuiteFailure.LIED}),
        (VALID, policies.accepts_all, set()),
        (INVALID, policies.blocks_all, set()),
        (INVALID, policies.never_ends, set()),
        (INVALID, policies.accepts_all, {SuiteFailure.UNDER_CONSTRAINED}),
    ],
)
def test_a_case_is_judged_by_the_papers_criteria(
    case: Case, rule: Callable[[InstanceWalk], WalkVerdict], failures: set[SuiteFailure]
) -> None:
    """Valid instances to the end, the end included; invalid ones never."""
    assert outcome(policies.answered(case, rule, "x")).failures == failures


def test_a_refused_schema_passes_only_without_valid_instances() -> None:
    """As listing 2 of the paper has it."""
    assert outcome(policies.refused(INVALID, "x")).passed
    for case in (BOTH, VALID):
        failures = outcome(policies.refused(case, "x")).failures
        assert failures == {SuiteFailure.COMPILE_ERROR}


@pytest.mark.parametrize(
    "result", [each for each in Result if each not in {"ok", "compile_error"}]
)
def test_an_engine_that_dies_passes_nothing(result: Result) -> None:
    """Not even a case without valid instances: a crash is no refusal."""
    assert outcome(policies.died(INVALID, "x", result)).failures == {SuiteFailure.DIED}


def test_walks_that_are_missing_are_no_success() -> None:
    """A row that says `ok` with fewer walks than tests has not answered all."""
    row = policies.answered(BOTH, policies.knows_all, "x")
    short = Row(
        engine=row.engine,
        task=row.task,
        id=row.id,
        config=row.config,
        result=Result.OK,
        walks=row.walks[:1],
        label=row.label,
    )
    assert outcome(short).failures == {SuiteFailure.DIED}


@given(st.lists(st.tuples(st.booleans(), VERDICTS), max_size=6))
def test_passed_is_that_every_answer_is_right(
    walks: list[tuple[bool, WalkVerdict]],
) -> None:
    """And both kinds of failure are found, whichever comes first."""
    row = Row(
        engine="x",
        task="test-suite",
        id="a",
        config="2020-12",
        result=Result.OK,
        walks=tuple(
            InstanceResult(verdict=verdict, valid=valid, tokens=1)
            for valid, verdict in walks
        ),
        label={
            "category": "c",
            "tests": len(walks),
            "valid": sum(valid for valid, _ in walks),
        },
    )
    judged = outcome(row)
    right = [
        verdict not in FAULTS and (verdict is WalkVerdict.ACCEPTED) is valid
        for valid, verdict in walks
    ]
    assert judged.passed is all(right)
    assert judged.valid.count + judged.invalid.count == sum(right)
    assert (SuiteFailure.UNDER_CONSTRAINED in judged.failures) is (
        (False, WalkVerdict.ACCEPTED) in walks
    )


def test_levels_are_beyond_their_bounds_and_full_is_all() -> None:
    """A half is not more than 50 %: the row of the paper's Table 6."""
    coverage = {
        "none": Rate(0, 4),
        "quarter": Rate(1, 4),
        "half": Rate(2, 4),
        "most": Rate(4, 5),
        "all": Rate(3, 3),
    }
    assert levels(coverage) == (4, 3, 2, 2, 1)


def test_the_highest_counts_ties_and_never_nothing() -> None:
    """Single is alone, and nobody leads with 0."""
    led = find_leaders(
        {
            "x": {"a": Rate(1, 2), "b": Rate(1, 1), "c": Rate(0, 1)},
            "y": {"a": Rate(2, 4), "b": Rate(0, 1), "c": Rate(0, 1)},
        }
    )
    assert (set(led["x"].highest), set(led["x"].single)) == ({"a", "b"}, {"b"})
    assert (set(led["y"].highest), set(led["y"].single)) == ({"a"}, set())


def test_categories_count_once_for_each_kind_of_failure() -> None:
    """However many of its cases fail, and in however many ways."""
    rows = [
        policies.answered(made("vi", number=0), policies.accepts_all, "x"),
        policies.answered(made("vi", number=1), policies.blocks_all, "x"),
        policies.answered(made("vi", number=2), policies.blocks_all, "x"),
        policies.refused(made("v", category="not"), "x"),
    ]
    outcomes = [outcome(each) for each in rows]
    assert failing_categories(outcomes) == {
        SuiteFailure.COMPILE_ERROR: 1,
        SuiteFailure.OVER_CONSTRAINED: 1,
        SuiteFailure.UNDER_CONSTRAINED: 1,
        SuiteFailure.DIED: 0,
        SuiteFailure.ENGINE_ERROR: 0,
        SuiteFailure.LIED: 0,
        SuiteFailure.CONTRADICTED: 0,
    }
    assert by_category(outcomes) == {"const": Rate(0, 3), "not": Rate(0, 1)}

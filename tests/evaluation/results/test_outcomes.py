"""One word for each case: nothing untested passes, nothing unwalked is walked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.cases import InstanceResult, Result, Row, WalkVerdict, Why
from evaluation.core.run_header import RunHeader
from evaluation.results.attempts import Attempt, make_attempt, steps_ns
from evaluation.results.outcomes import Outcome, engine_is_right, read_outcome
from evaluation.results.reader import NotAnAttempt, open_run, parse_line
from evaluation.tasks.masks_report import why_table
from tests.evaluation.made_runs import accepted, blocked, row, write_run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evaluation.reporting.tables import Cell

_LIED = replace(accepted(), verdict=WalkVerdict.LIED)
_CONTRADICTED = replace(accepted(), verdict=WalkVerdict.CONTRADICTED)
_NOT_RUN = replace(accepted(), verdict=WalkVerdict.NOT_RUN, mask_ns=(), commit_ns=())
_UNFINISHED = replace(accepted(), verdict=WalkVerdict.UNFINISHED)
_GAP = replace(blocked(valid=True), verdict=WalkVerdict.MASK_GAP)


@pytest.mark.parametrize(
    ("walks", "expected"),
    [
        ((accepted(), blocked()), Outcome.PASSED),
        ((), Outcome.UNTESTED),
        ((_NOT_RUN,), Outcome.UNTESTED),
        ((replace(accepted(), label={"apart": True}),), Outcome.UNTESTED),
        ((blocked(valid=True), blocked()), Outcome.OVER_CONSTRAINED),
        ((_UNFINISHED,), Outcome.OVER_CONSTRAINED),
        ((replace(_UNFINISHED, valid=False),), Outcome.PASSED),
        ((accepted(), accepted(valid=False)), Outcome.UNDER_CONSTRAINED),
        ((blocked(valid=True), accepted(valid=False)), Outcome.WRONG_BOTH_WAYS),
        ((accepted(valid=False), _LIED), Outcome.LIED),
        ((accepted(valid=False), _CONTRADICTED), Outcome.CONTRADICTED),
        ((_CONTRADICTED, _LIED), Outcome.LIED),
        # A missing token alone is an outcome; with worse of either kind it gives way.
        ((_GAP, accepted(), blocked()), Outcome.MASK_GAP),
        ((_GAP, blocked(valid=True)), Outcome.OVER_CONSTRAINED),
        ((_GAP, accepted(valid=False)), Outcome.WRONG_BOTH_WAYS),
    ],
)
def test_a_compiled_unit_is_what_its_walks_are(
    walks: tuple[InstanceResult, ...], expected: Outcome
) -> None:
    """The most serious thing counts; a text may also be refused at its end."""
    assert read_outcome(row(walks=walks)) is expected


@pytest.mark.parametrize("result", sorted({*Result} - {Result.OK, Result.UNDECIDED}))
def test_what_ended_otherwise_is_what_it_ended_with(result: Result) -> None:
    """Walks that were right before a death do not make a case pass.

    What is undecided has no outcome: the reader leaves it out.
    """
    assert read_outcome(row(result=result, walks=(accepted(),))).value == result.value


@pytest.mark.parametrize("verdict", ["not_run", "lied", "contradicted", "engine_error"])
def test_nobody_knows_what_was_not_walked(verdict: str) -> None:
    """Neither right nor wrong, in no denominator."""
    walked = replace(accepted(), verdict=WalkVerdict(verdict))
    assert engine_is_right(walked) is None
    assert make_attempt(row(walks=(walked,)), RunHeader()).valid == 0


@pytest.mark.parametrize(
    ("result", "phase", "compile_ns"),
    [
        (Result.TIMEOUT, "compile", None),
        (Result.COMPILE_ERROR, "compile", None),
        (Result.CRASH, "compile", None),
        (Result.TIMEOUT, "walk", 5),
        (Result.TIMEOUT, "generate", 5),
    ],
)
def test_only_what_compiled_has_a_time_to_compile(
    result: Result, phase: str, compile_ns: int | None, tmp_path: Path
) -> None:
    """A deadline, a refusal and a crash are none; what came later takes none away."""
    ended = row(result=result, phase=phase, compile_ns=5, walks=())
    frame = open_run(write_run(tmp_path, [ended])).frame()
    found = frame.row(0, named=True)
    assert found["compile_ns"] == compile_ns
    assert found["compiled"] is (compile_ns is not None)


def test_time_between_masks_is_mask_and_commit() -> None:
    """A blocked token has a mask and no commit; one figure for each mask."""
    walked = replace(blocked(1), mask_ns=(10, 20), commit_ns=(3,))
    assert steps_ns([walked]) == [13, 20]
    assert make_attempt(row(walks=(walked,)), RunHeader()).between_ns == 16.5


@pytest.mark.parametrize(
    ("keyword", "warnings", "warned"),
    [
        ("uniqueItems", ("uniqueItems is ignored",), True),
        ("uniqueItems", ('"uniqueItems" is ignored', "'enum' too"), True),
        ("uniqueItems", ("minItems is ignored",), False),
        ("uniqueItems", (), False),
        ("", ("minItems is ignored",), False),
    ],
)
def test_a_gap_is_declared_if_its_keyword_was_warned_of(
    keyword: str, warnings: tuple[str, ...], *, warned: bool
) -> None:
    """Of every invalid text that was accepted; one that was blocked needs no word."""
    walks = (
        replace(accepted(valid=False), label={"keyword": keyword}),
        replace(blocked(), label={"keyword": "maxItems"}),
    )
    attempt = make_attempt(row(walks=walks, warnings=warnings), RunHeader())
    assert attempt.warned is warned
    right = make_attempt(row(warnings=warnings), RunHeader())
    assert right.warned is None


@given(st.binary(max_size=60))
def test_bytes_are_a_row_or_not_one(content: bytes) -> None:
    """Whatever the bytes: no other fault, and never half a row."""
    for kind in (Attempt, Row):
        with pytest.raises(NotAnAttempt):
            parse_line(content, kind)


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("compliant", Outcome.PASSED),
        ("truncated", Outcome.NOT_COMPLIANT),
        ("violates", Outcome.NOT_COMPLIANT),
    ],
)
def test_what_a_model_wrote_stands_by_its_class(
    outcome: str, expected: Outcome
) -> None:
    """A compliant text passes, others do not; where texts are walked, walks decide."""
    label = {"outcome": outcome}
    assert read_outcome(row(walks=(), label=label)) is expected
    assert (
        read_outcome(row(walks=(accepted(), blocked()), label=label)) is Outcome.PASSED
    )


def _why_rows(folder: Path, *rows: Row) -> Sequence[Sequence[Cell]]:
    run = open_run(write_run(folder, rows))
    return why_table(run.frame(), run.walks("masks")).rows


def test_wrong_walks_are_counted_by_class(tmp_path: Path) -> None:
    """Two of one class, one of another; the right one is in none."""
    classes = [("fraction", "type"), ("member out of order", "properties")]
    wrong = [
        replace(blocked(valid=True), why=Why(stands=stands, keyword=keyword))
        for stands, keyword in (*classes, classes[0])
    ]
    lines = _why_rows(tmp_path, row(walks=(*wrong, accepted())))
    assert [(line[2], line[3]) for line in lines] == classes
    assert [line[5] for line in lines] == [2, 1]


def test_the_smallest_example_is_of_the_class(tmp_path: Path) -> None:
    """The shortest text; of faults the first of a schema, which later ones may copy.

    Faults under valid and invalid texts are of one class.
    """
    why = Why(stands="limit", keyword="")
    fault = replace(blocked(), verdict=WalkVerdict.ENGINE_ERROR, why=why)
    rows = []
    for id_, sizes in (("o1", (9, 1)), ("o2", (5, 7))):
        walks = [replace(fault, tokens=size, valid=size > 5) for size in sizes]
        rows.append(row(id=id_, walks=tuple(walks)))
    (line,) = _why_rows(tmp_path, *rows)
    assert (line[1], line[5]) == ("engine at odds with itself", 4)
    assert line[-1] == "Github_easy/o2"

"""One word for each case: nothing untested passes, nothing unwalked is walked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.cases import InstanceResult, Result, Row, WalkVerdict, Why
from evaluation.core.run_header import RunHeader
from evaluation.results.attempts import Attempt, attempt_of, steps_ns
from evaluation.results.outcomes import Outcome, engine_is_right, outcome_of
from evaluation.results.reader import NotAnAttempt, open_run, parse_line
from evaluation.tasks.masks_report import why_table
from tests.evaluation.made_runs import accepted, blocked, line, row, write_run

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

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
    assert outcome_of(row(walks=walks)) is expected


@pytest.mark.parametrize("result", sorted({*Result} - {Result.OK, Result.UNDECIDED}))
def test_what_ended_otherwise_is_what_it_ended_with(result: Result) -> None:
    """Walks that were right before a death do not make a case pass.

    What is undecided has no outcome: the reader leaves it out.
    """
    assert outcome_of(row(result=result, walks=(accepted(),))).value == result.value


@pytest.mark.parametrize(
    "verdict",
    [
        WalkVerdict.NOT_RUN,
        WalkVerdict.LIED,
        WalkVerdict.CONTRADICTED,
        WalkVerdict.ENGINE_ERROR,
    ],
)
def test_nobody_knows_what_was_not_walked(verdict: WalkVerdict) -> None:
    """Neither right nor wrong, in no denominator."""
    walked = replace(accepted(), verdict=verdict)
    assert engine_is_right(walked) is None
    assert attempt_of(row(walks=(walked,)), RunHeader()).valid == 0


@pytest.mark.parametrize("result", [Result.TIMEOUT, Result.COMPILE_ERROR, Result.CRASH])
def test_what_did_not_compile_has_no_time_to_compile(
    result: Result, tmp_path: Path
) -> None:
    """A deadline, a refusal and a crash are no time of a compile call."""
    lost = row(result=result, phase="compile", compile_ns=9, walks=())
    frame = open_run(write_run(tmp_path, [lost])).frame()
    assert frame["compile_ns"].to_list() == [None]


@pytest.mark.parametrize("phase", ["walk", "generate"])
def test_a_time_out_after_the_compile_keeps_the_compile(phase: str) -> None:
    """What compiled has compiled, whatever came after."""
    late = row(result=Result.TIMEOUT, phase=phase, compile_ns=5, walks=())
    attempt = attempt_of(late, RunHeader())
    assert (attempt.compiled, attempt.compile_ns) == (True, 5)


def test_time_between_masks_is_mask_and_commit() -> None:
    """A blocked token has a mask and no commit; one figure for each mask."""
    walked = replace(blocked(1), mask_ns=(10, 20), commit_ns=(3,))
    assert steps_ns([walked]) == [13, 20]
    assert attempt_of(row(walks=(walked,)), RunHeader()).between_ns == 16.5


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
    attempt = attempt_of(row(walks=walks, warnings=warnings), RunHeader())
    assert attempt.warned is warned
    right = attempt_of(row(warnings=warnings), RunHeader())
    assert right.warned is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner)
    ),
    max_leaves=5,
)


@given(st.binary(max_size=60))
def test_bytes_are_a_row_or_not_one(content: bytes) -> None:
    """Whatever the bytes: no other fault, and never half a row."""
    for kind in (Attempt, Row):
        with pytest.raises(NotAnAttempt):
            parse_line(content, kind)


@given(st.data())
def test_a_field_is_what_it_must_be_or_the_line_is_no_row(data: st.DataObject) -> None:
    """Any JSON in any place of a line is read as given, or refused."""
    import json  # noqa: PLC0415 (writes NaN and large numbers, as strangers do)

    given_row = json.loads(line(row()))
    place = data.draw(st.sampled_from(sorted(given_row)))
    value = given_row[place] = data.draw(_JSON)
    content = json.dumps(given_row).encode()
    try:
        read = parse_line(content, Row), parse_line(content, Attempt)
    except NotAnAttempt:
        return
    for part in read:
        if hasattr(part, place) and place not in {"walks", "label"}:
            found = getattr(part, place)
            assert found == (tuple(value) if isinstance(value, list) else value)


@pytest.mark.parametrize(
    ("outcome", "walks", "expected"),
    [
        ("compliant", (), Outcome.PASSED),
        ("truncated", (), Outcome.NOT_COMPLIANT),
        ("violates", (), Outcome.NOT_COMPLIANT),
        ("violates", (accepted(), blocked()), Outcome.PASSED),
    ],
)
def test_what_a_model_wrote_stands_by_its_class(
    outcome: str, walks: tuple[InstanceResult, ...], expected: Outcome
) -> None:
    """A compliant text passes, others do not; where texts are walked, walks decide."""
    assert outcome_of(row(walks=walks, label={"outcome": outcome})) is expected


_FRACTION = Why(stands="fraction", keyword="type")
_ORDER = Why(stands="member out of order", keyword="properties")


def _tables(folder: Path, *rows: Row) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return attempts and texts of rows."""
    run = open_run(write_run(folder, rows))
    return run.frame(), run.walks("masks")


def test_wrong_walks_are_counted_by_class(tmp_path: Path) -> None:
    """Two of one class, one of another; the right one is in none."""
    wrong = [
        replace(blocked(valid=True), why=why) for why in (_FRACTION, _ORDER, _FRACTION)
    ]
    made = row(walks=(*wrong, accepted()))
    lines = why_table(*_tables(tmp_path, made)).rows
    found = [(line[2], line[3], line[5]) for line in lines]
    assert found == [("fraction", "type", 2), ("member out of order", "properties", 1)]


def test_the_smallest_example_is_of_the_class(tmp_path: Path) -> None:
    """The shortest text; of faults the first of a schema, which later ones may copy.

    Faults under valid and invalid texts are of one class.
    """
    fault = replace(
        blocked(),
        verdict=WalkVerdict.ENGINE_ERROR,
        why=Why(stands="limit", keyword=""),
    )
    texts = {"o1": (9, 1), "o2": (5, 7)}
    rows = [
        row(
            id=id_,
            walks=tuple(replace(fault, tokens=it, valid=it > 5) for it in tokens),
        )
        for id_, tokens in texts.items()
    ]
    (line,) = why_table(*_tables(tmp_path, *rows)).rows
    assert (line[1], line[5], line[-1]) == (
        "engine at odds with itself",
        4,
        "Github_easy/o2",
    )

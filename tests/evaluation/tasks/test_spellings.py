"""Another spelling is the same value, accepted by the validators, and judged apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.cases import InstanceResult, WalkVerdict
from evaluation.core.records import Instance, Record
from evaluation.core.run_header import TaskSettings
from evaluation.core.spelled_json import read_spelled
from evaluation.results.outcomes import Outcome, outcome_of
from evaluation.results.reader import open_run
from evaluation.tasks.spellings import cases, report, spellings
from tests.evaluation.made_runs import row, write_run

if TYPE_CHECKING:
    from pathlib import Path

_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2000, 2000)
    | st.floats(-9, 9).map(lambda number: round(number, 2))
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(value=_JSON, ascii_only=st.booleans())
def test_every_spelling_is_the_same_value(value: object, *, ascii_only: bool) -> None:
    """Whatever the value, and however it was spelled: equal, and another text."""
    text = json.dumps(value, ensure_ascii=ascii_only)
    found = dict(spellings(text, 0))
    assert text not in found.values()
    for other in found.values():
        assert json.loads(other) == value


@given(value=_JSON)
def test_a_spelled_value_knows_its_places(value: object) -> None:
    """Every value of a text stands where it says, and is written as it stands."""
    text = json.dumps(value)
    waiting = [read_spelled(text)]
    while waiting:
        part = waiting.pop()
        assert part.written() == text[part.start : part.end]
        waiting += [member.value for member in part.members]


def test_each_class_is_spelled_as_its_name_says() -> None:
    """One text has all classes, each with what it is about."""
    text = json.dumps({"a/é": [100, 0, 1.5, "é/\n😀", "x"]}, ensure_ascii=False)
    found = dict(spellings(text, 0))
    for name, part in {
        "letter as \\u0061": '"\\u0078"',
        "name as \\u0061": '"\\u0061/é"',
        "\\u00e9 for é": '"\\u00e9/\\n😀"',
        "surrogate pair": "\\ud83d\\ude00",
        "\\/ for /": '"é\\/\\n😀"',
        "\\u000a for \\n": "\\u000a",
        "1.0 for 1": "100.0, 0.0",
        "1e2 for 100": "1e2, 0e0",
        "-0 for 0": "-0, 1.5",
        "1.50 for 1.5": "1.50",
        "no white space": '{"a/é":[100,',
        "white space around": ' {"a/é": [100',
    }.items():
        assert part in found[name], name


def _walks(schema: str, dialect: str, text: str) -> list[str]:
    instance = Instance(text=text, valid=True, kind="made")
    wrong = Instance(text="null", valid=False, kind="near_miss")
    record = Record(id="a", schema=schema, dialect=dialect, instances=(instance, wrong))
    (case,) = cases([record], TaskSettings())
    assert all(walk.valid for walk in case.walks)
    return [str(walk.label["spelling"]) for walk in case.walks]


def test_what_a_validator_refuses_is_not_asked() -> None:
    """Draft 4 takes 1.0 for no integer: there it is no spelling of 1."""
    assert "1.0 for 1" in _walks('{"type": "integer"}', "draft-07", "1")
    assert "1.0 for 1" not in _walks('{"type": "integer"}', "draft-04", "1")


@pytest.mark.parametrize("plain", [True, False])
def test_a_refusal_counts_only_where_the_plain_text_is_accepted(
    tmp_path: Path, *, plain: bool
) -> None:
    """Else it says nothing of the spelling; the outcome is the plain text's alone."""

    def walked(name: str, *, accepted: bool, apart: bool) -> InstanceResult:
        return InstanceResult(
            verdict=WalkVerdict.ACCEPTED if accepted else WalkVerdict.BLOCKED,
            valid=True,
            tokens=1,
            label={"spelling": name, "apart": apart},
        )

    made = row(
        task="spellings",
        walks=(
            walked("as written", accepted=plain, apart=False),
            walked("1.0 for 1", accepted=False, apart=True),
        ),
    )
    run = open_run(write_run(tmp_path / "run", [made]))
    table = report(run).tables[0]
    rates = {str(name): str(rate) for name, rate in table.rows}
    assert ("1.0 for 1" in rates) is plain
    if plain:
        assert "(0 of 1)" in rates["1.0 for 1"]
    expected = Outcome.PASSED if plain else Outcome.OVER_CONSTRAINED
    assert outcome_of(made) is expected


def test_a_witness_that_no_double_or_text_can_hold_has_no_other_spelling() -> None:
    """It is asked as it is: a number of 400 digits, half of a surrogate pair."""
    number = "1" + "0" * 400
    assert _walks("{}", "draft-07", number)[0] == "as written"
    assert _walks("{}", "draft-07", r'"\ud800"')[0] == "as written"

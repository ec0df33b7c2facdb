"""What is left of a schema still fails, is smaller, and is found in bounded time."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.system.errors import BadData, CsbdataError, NoInput
from evaluation.analysis.recorded_cases import (
    ask_in_new_process,
    engine_of_failure,
    open_engine,
)
from evaluation.analysis.shrink_failure import shrink, shrink_failure
from evaluation.core.cases import Case, InstanceWalk, Result
from evaluation.results.outcomes import Outcome, read_outcome
from evaluation.results.reader import open_run
from evaluation.setup.selected_engines import select_engines
from tests.evaluation.made_runs import HEAD, row, write_run
from tests.evaluation.measuring import BRISK, measured, miniature, request_of, tokenizer
from tests.invoking import invoke

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson
    from evaluation.analysis.shrink_failure import ShrunkFailure
    from evaluation.core.cases import Row
    from evaluation.setup.selected_engines import EngineUnderTest

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from("abxyz"), inner, max_size=4)
    ),
    max_leaves=12,
)


def _has_x(value: UntypedJson) -> bool:
    return '"x"' in json.dumps(value)


def test_a_culprit_is_all_that_is_left() -> None:
    """Whatever stands around it goes: properties, siblings, levels."""
    names: Json = {f"p{n}": {"type": "string"} for n in range(9)}
    around: Json = {"title": "t", "properties": names}
    schema: Json = {"allOf": [around, {"items": {"not": {"x": 1000}, "maxLength": 7}}]}
    assert shrink(schema, _has_x) == {"x": 1}


def test_what_a_part_refers_to_stays() -> None:
    """A lifted subschema keeps the definitions that it needs, and no others."""
    schema: Json = {
        "$defs": {"a": {"type": "string"}, "b": {"type": "object"}},
        "properties": {"p": {"$ref": "#/$defs/a"}},
    }

    def refers(value: UntypedJson) -> bool:
        return (
            isinstance(value, dict)
            and value.get("$ref") == "#/$defs/a"
            and "a" in value.get("$defs", {})
        )

    found = shrink(schema, lambda value: refers(value) or value == schema)
    assert found == {"$defs": {"a": {}}, "$ref": "#/$defs/a"}


@given(_JSON)
def test_what_is_left_holds_and_is_no_larger(value: UntypedJson) -> None:
    """For any value that holds: so does the result, in the questions allowed."""
    value = {"x": value}
    asked: list[UntypedJson] = []

    def still(each: UntypedJson) -> bool:
        asked.append(each)
        return _has_x(each)

    before = json.dumps(value)
    found = shrink(value, still, limit=40)
    assert _has_x(found)
    assert len(json.dumps(found)) <= len(before)
    assert len(asked) <= 40
    assert json.dumps(value) == before


def test_what_cannot_shrink_stays() -> None:
    """Nothing smaller fails: the value itself is the answer."""
    assert shrink({"x": 1}, lambda _: False) == {"x": 1}


def _case(schema: UntypedJson, *texts: tuple[str, bool]) -> Case:
    walks = tuple(InstanceWalk(text=text, valid=valid) for text, valid in texts)
    return Case(
        task="masks", id="o1", config="Made", schema=json.dumps(schema), walks=walks
    )


def _participant(name: str) -> EngineUnderTest:
    return select_engines(Path("no-cache"), [miniature(name)], "faithful", [])[0]


def _shrunk(
    folder: Path, name: str, schema: UntypedJson, *texts: tuple[str, bool]
) -> ShrunkFailure:
    with open_engine(_participant(name), tokenizer(folder), BRISK) as ask:
        return shrink_failure(_case(schema, *texts), ask, ask)


def test_a_crash_shrinks_to_what_crashes(tmp_path: Path) -> None:
    """The engine dies again and again, and each time less is left."""
    schema = {"properties": {"a": {"title": "crash"}, "b": {"type": "string"}}}
    found = _shrunk(tmp_path, "crash", schema)
    assert json.loads(found.case.schema) == {"title": "crash"}
    assert found.row.result is Result.CRASH


def test_a_wrong_mask_shrinks_while_the_text_stays_invalid(tmp_path: Path) -> None:
    """The schema that is left still refuses the text that the engine accepts.

    Lifting a branch would show another keyword that the engine ignores.
    """
    schema: UntypedJson = {"required": ["b"], "properties": {"a": {}, "b": {}}}
    found = _shrunk(tmp_path, "accept_all", schema, ("{}", False), ('{"b":1}', True))
    assert json.loads(found.case.schema) == {"required": ["b"]}
    assert read_outcome(found.row) is Outcome.UNDER_CONSTRAINED
    content: UntypedJson = found.as_json("d")
    assert content["tests"] == [{"valid": False, "text": "{}", "data": {}}]
    schema = {"title": "t", "anyOf": [{"required": ["b"]}, {"minProperties": 2}]}
    found = _shrunk(tmp_path, "accept_all", schema, ("{}", False))
    assert json.loads(found.case.schema).keys() == {"anyOf"}


def test_a_failure_keeps_its_place(tmp_path: Path) -> None:
    """A smaller schema that blocks the text elsewhere shows another fault."""
    schema = {"title": "t", "items": {"type": "integer", "minLength": 1}}
    found = _shrunk(tmp_path, "slips", schema, ("[1, 2, 3]", True))
    assert json.loads(found.case.schema) == {"minLength": 1}
    assert found.row.walks[0].at == 2


@pytest.mark.slow
def test_a_failure_of_a_run_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engine, data and task come from the run's header, from anywhere."""
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    schema = {"type": "string", "maxLength": 9, "description": "crash"}
    data = tmp_path / "one.json"
    data.write_text(json.dumps(schema))
    monkeypatch.chdir(tmp_path)
    request = replace(request_of(tmp_path, ()), data=Path("one.json"))
    _, recorded = measured(tmp_path, [miniature("crash")], request)
    monkeypatch.chdir("tokenizer")
    (row,) = recorded.rows()
    words = ("results", "shrink", tmp_path / "run", f"{row.config}/{row.id}")
    monkeypatch.setattr(
        "evaluation.tokenizers.get_tokenizer", lambda *_: tokenizer(tmp_path)
    )
    answer = invoke(*words, catch_exceptions=False)
    assert json.loads(answer.stdout)["schema"] == {"description": "crash"}
    assert "crash" in json.loads(answer.stdout)["description"]
    data.write_text(json.dumps({**schema, "maxLength": 8}))
    with pytest.raises(BadData, match="changed since the run"):
        invoke(*words, catch_exceptions=False)


@pytest.mark.parametrize(
    ("label", "name", "found"),
    [
        ("beta", "Made/o1", "no row of Made/o1 in task masks"),
        ("other 2.0", "Made/o2", "there is no engine 'other 2.0'"),
        (None, "Made/o2", "there is no engine 'other 2.0'"),
        (None, "Made/o1", "which engine?: one of ['none', 'other 2.0']"),
        (None, "Made/o3", "no row of Made/o3 in task masks"),
    ],
)
def test_the_engine_of_a_failure_is_the_one_that_has_its_row(
    tmp_path: Path, label: str | None, name: str, found: str
) -> None:
    """Named where there are several, by its label or by its name."""
    rows = [
        row(engine=engine, id=id_, config="Made")
        for engine, id_ in (("none", "o1"), ("other 2.0", "o1"), ("other 2.0", "o2"))
    ]
    engines = [{"engine": "none"}, {"engine": "other 2.0", "name": "other"}]
    run = open_run(write_run(tmp_path / "run", rows, {**HEAD, "engines": engines}))
    with pytest.raises(CsbdataError) as caught:
        engine_of_failure(run, label, name, "masks", tmp_path)
    error = caught.value
    assert found in (error.message, f"{error.message}: {error.hint}")
    assert engine_of_failure(run, "none", "Made/o1", "masks", tmp_path).label == "none"


def test_what_does_not_fail_is_said_to_pass(tmp_path: Path) -> None:
    """There is nothing to shrink."""
    with pytest.raises(NoInput, match="nothing fails"):
        _shrunk(tmp_path, "accept_all", {}, ("1", True))


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        # The second of two texts, whichever they are.
        ("second_text", 2),
        # A text that wears the engine out, and one that is blocked after it.
        ("worn_out", 2),
    ],
)
def test_the_texts_that_a_failure_depends_on_stay(
    tmp_path: Path, name: str, kept: int
) -> None:
    """Alone no text shows it: what is left fails again, in a process of its own."""
    participant = _participant(name)
    texts = ["[1]", "[2]", "[1, 2, 3, 4]", "[1, 2]", "[3]"]
    schema = {"title": "t", "maxItems": 3, "items": {"type": "integer"}}
    case = _case(schema, *((text, len(text) < 10) for text in texts))
    files = tokenizer(tmp_path)
    afresh = ask_in_new_process(participant, files, BRISK)
    with open_engine(participant, files, BRISK) as ask:
        found = shrink_failure(case, ask, afresh)
    assert json.loads(found.case.schema).keys() <= {"maxItems"}
    assert len(found.case.walks) == kept
    again = afresh(found.case)
    assert read_outcome(again) is read_outcome(found.row)
    assert read_outcome(again) not in {Outcome.PASSED, Outcome.UNTESTED}


def test_a_failure_that_does_not_come_again_is_said_to(tmp_path: Path) -> None:
    """Nothing is returned that does not fail."""
    participant = _participant("accept_all")
    case = _case({}, ("1", True))
    with open_engine(participant, tokenizer(tmp_path), BRISK) as ask:

        def dies(asked: Case) -> Row:
            return replace(ask(asked), result=Result.CRASH, phase="walk")

        with pytest.raises(NoInput, match="in a new process"):
            shrink_failure(case, dies, ask)

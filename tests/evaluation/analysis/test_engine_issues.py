"""Each class of wrong walks comes down to one small case, which shows it again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from evaluation.analysis.engine_issues import _smaller, is_alike, write_issues
from evaluation.analysis.recorded_cases import ask_in_new_process
from evaluation.core.cases import Why
from evaluation.results.why_classes import classes_of
from evaluation.setup.selected_engines import select_engines
from evaluation.tokenizers import get_tokenizer
from evaluation.walking.engine_worker import Bounds
from tests.evaluation.measuring import measured, request_of
from tests.reproducers import read_reproducers, shows_in

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.results.reader import RecordedRun

_SCHEMA = {
    "type": "object",
    "title": "what does not matter",
    "properties": {
        "a": {"type": "integer", "description": "a number"},
        "deep": {"type": "array", "items": {"type": "integer"}},
        "z": {"type": "string"},
    },
}
_TEXTS = (
    '{"a": 1.0, "z": "what does not matter"}',
    '{"z": "x", "a": 5}',
    '{"a": 1, "deep": [1, 2, 3.0]}',
    '{"a": 3}',
)
#: Long enough for a machine with other work.
_PATIENT = Bounds(compile_seconds=20.0, run_seconds=20.0)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RecordedRun:
    """Return a run of llguidance over one schema, of which it blocks three texts."""
    pytest.importorskip("llguidance")
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    data = tmp_path / "data"
    data.mkdir()
    tests = [{"valid": True, "text": text, "data": json.loads(text)} for text in _TEXTS]
    content = json.dumps({"schema": _SCHEMA, "tests": tests})
    (data / "one.json").write_text(content, "utf-8")
    request = replace(
        request_of(tmp_path, (), given_only=True),
        data=data,
        bounds=_PATIENT,
        tasks=("masks",),
    )
    _, recorded = measured(tmp_path, ["llguidance"], request)
    return recorded


def test_wrong_walks_are_counted_by_class(run: RecordedRun) -> None:
    """Two of one class, one of another; the right one is in none."""
    classes = classes_of(run.rows())
    (engine,) = classes.schemas
    found = [(one.stands, one.keyword, one.walks) for one in classes.of(engine)]
    assert found == [("fraction", "type", 2), ("member out of order", "properties", 1)]
    (table,) = [classes.table("why")]
    assert [line[5] for line in table.rows] == [2, 1]


def test_each_class_has_a_smallest_reproducer(run: RecordedRun, tmp_path: Path) -> None:
    """Nothing is left but what the fault needs; each is seen in a new process."""
    request = request_of(tmp_path, ())
    out = tmp_path / "issues"
    out.mkdir()
    written = write_issues(run, out, request.fetch, lambda _message: None)
    page, content = written
    number, order = read_reproducers(content)
    assert (json.loads(number.schema), number.text) == ({"type": "integer"}, "3.0")
    assert (number.byte, number.walks, number.schemas) == (1, 2, 1)
    assert set(json.loads(order.schema)["properties"]) == {"a", "z"}
    text = page.read_text("utf-8")
    assert ", of 1 schema (" in text
    for reproducer in (number, order):
        assert reproducer.schema in text
        assert reproducer.text in text
        (engine,) = select_engines(
            request.fetch.cache, [reproducer.spec], reproducer.preset, []
        )
        ask = ask_in_new_process(
            engine, get_tokenizer("bytes", request.fetch), _PATIENT
        )
        assert shows_in(reproducer, ask(reproducer.case))
        other = replace(reproducer.case, schema="{}")
        assert not shows_in(reproducer, ask(other))


@pytest.mark.parametrize(
    ("setting", "alike"), [("", True), ("beside $ref", True), ("without type", False)]
)
def test_a_setting_may_go_and_none_may_come(setting: str, alike: bool) -> None:  # noqa: FBT001 (a parameter)
    """A fault that needs something else beside it is another fault."""
    before = Why(stands="escape", keyword="pattern", setting="below a sibling of $ref")
    assert is_alike(replace(before, setting=setting), before) is alike
    assert not is_alike(replace(before, keyword="format"), before)
    assert not is_alike(None, before)


def test_a_long_string_is_cut_in_no_more_ways_than_are_tried() -> None:
    """Each cut is as long as the text: all of them would be its square."""
    assert set(_smaller('"ab"')) == {'""', '"a"', '"b"'}
    assert sum(1 for _ in _smaller(f'"{"a" * 20_000}"')) < 3_000

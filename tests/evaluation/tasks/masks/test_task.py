"""Task `masks`: what is asked of an engine, and where each answer is booked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from evaluation.core.cases import WalkVerdict
from evaluation.core.records import Instance, Record
from evaluation.core.run_header import TaskSettings
from evaluation.reporting.printing import as_json
from evaluation.results.outcomes import Outcome, outcome_of
from evaluation.tasks.masks.task import cases, report
from tests.evaluation.measuring import measured, miniature, request_of

if TYPE_CHECKING:
    from evaluation.core.cases import Case

_SUBJECT = Record(
    id="a",
    group="Made",
    split="test",
    schema='{"type": "object"}',
    dialect="draft-07",
    features=("type",),
    instances=(
        Instance(text='{"a": 1, "b": 2}', valid=True, kind="full"),
        Instance(
            text="7",
            valid=False,
            kind="near_miss",
            keyword="type",
            schema_pointer="/type",
        ),
        Instance(text="[7]", valid=False, kind="suite"),
    ),
)
_EMPTY = Record(id="b", group="Made", schema="true", dialect="draft-07")


def _case(settings: TaskSettings) -> Case:
    (case,) = cases([_SUBJECT], settings)
    return case


def test_every_instance_is_a_walk_with_its_keyword() -> None:
    """A near miss carries the keyword it violates and where that stands."""
    case = _case(TaskSettings())
    assert [(each.text, each.valid) for each in case.walks] == [
        ('{"a": 1, "b": 2}', True),
        ("7", False),
        ("[7]", False),
    ]
    assert [dict(each.label) for each in case.walks] == [
        {"kind": "full"},
        {"kind": "near_miss", "keyword": "type", "pointer": "/type"},
        {"kind": "suite"},
    ]
    assert case.label["dialect"] == "draft-07"


def test_other_orders_are_walks_apart() -> None:
    """Only of valid instances, all marked, and the same ones for the same seed."""
    case = _case(TaskSettings(orders=4))
    apart = [each for each in case.walks if each.label.get("apart")]
    assert [each.text for each in apart] == ['{"b": 2, "a": 1}']
    assert all(each.valid for each in apart)
    assert case == _case(TaskSettings(orders=4))


def test_a_schema_without_instances_never_passes(tmp_path: Path) -> None:
    """It compiles, it is walked nowhere, and it has an outcome of its own."""
    request = request_of(tmp_path, [_EMPTY])
    _, run = measured(tmp_path, [miniature("accept_all")], request)
    (row,) = run.rows()
    assert outcome_of(row) is Outcome.UNTESTED
    assert row.first_mask_ns is None


def test_what_is_accepted_wrongly_is_booked_under_its_keyword(tmp_path: Path) -> None:
    """An engine that allows everything enforces no keyword at all."""
    request = request_of(tmp_path, [_SUBJECT, _EMPTY], settings=TaskSettings(orders=1))
    _, run = measured(tmp_path, [miniature("accept_all")], request)
    row = next(run.rows())
    assert {each.verdict for each in row.walks} == {WalkVerdict.ACCEPTED}
    assert outcome_of(row) is Outcome.UNDER_CONSTRAINED
    tables = {each.slug: each for each in report(run).tables}
    told = json.dumps([as_json(each) for each in tables.values()])
    keywords = next(each for name, each in tables.items() if "keyword" in name)
    assert {line[0] for line in keywords.rows} >= {"type"}
    assert "(unknown)" in told or "unknown" in told
    assert "orders accepted" in tables["coverage"].columns


def test_forced_tokens_are_asked_for_in_the_first_valid_text(tmp_path: Path) -> None:
    """One text a schema tells their share, and to ask takes as long as a mask may."""
    text = Path(miniature("accept_all")).read_text("utf-8")
    engine = tmp_path / "forcing.py"
    engine.write_text(text.replace("return None", "return []"), "utf-8")
    two = Instance(text="{}", valid=True, kind="full")
    subject = msgspec.structs.replace(
        _SUBJECT, instances=(_SUBJECT.instances[1], two, two)
    )
    request = request_of(tmp_path, [subject], settings=TaskSettings(orders=1))
    _, run = measured(tmp_path, [str(engine)], request)
    (row,) = run.rows()
    assert [(walk.valid, walk.forced) for walk in row.walks] == [
        (False, None),
        (True, 0),
        (True, None),
    ]


def test_a_blocked_token_is_offered_where_a_refusal_is_cheap(tmp_path: Path) -> None:
    """An engine with `takes` is asked by it, one by one; others by `commit`."""
    text = Path(miniature("accept_all")).read_text("utf-8").replace("xff", "0")
    silent = text.replace("return True", "return False", 1)
    offered = silent.replace(
        "    def may_end(self):",
        "    def takes(self, _token):\n        return True\n\n    def may_end(self):",
    )
    found = []
    for name, content in (("silent", silent), ("offered", offered)):
        folder = tmp_path / name
        folder.mkdir()
        engine = folder / "engine.py"
        engine.write_text(content, "utf-8")
        _, run = measured(folder, [str(engine)], request_of(folder, [_SUBJECT]))
        found.append(next(run.rows()).walks[0].verdict)
    assert found == [WalkVerdict.BLOCKED, WalkVerdict.MASK_GAP]

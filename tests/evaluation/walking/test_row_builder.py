"""A worker's answers become one row, whatever they hold."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from curation.workers.outcomes import Ending, ProcessResult
from evaluation.core.cases import Case, InstanceWalk, Result, WalkVerdict
from evaluation.walking.engine_process import engine_warnings
from evaluation.walking.rows import build_row
from evaluation.walking.walk_session import refusal_reason

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.cases import Row

_CASE = Case(
    task="masks",
    id="one",
    config="Made",
    schema="{}",
    walks=(InstanceWalk(text="1", valid=True), InstanceWalk(text="2", valid=False)),
)
_COMPILED: dict[str, Json] = {"compile_ns": 7, "warnings": ["w"], "printed": "p"}
_WALKED: dict[str, Json] = {
    "walks": [["accepted", None, [1, 2], [3], None, ""]],
    "first_mask_ns": 9,
    "quiet": True,
    "rss_bytes": 11,
}


def _row(*answers: Json, end: ProcessResult | None = None) -> Row:
    return build_row("alpha 1.0", _CASE, [[5, 6], [7]], answers, end, "f")


def test_both_answers_make_a_row() -> None:
    """Times, warnings and walks are those of the answers."""
    row = _row(_COMPILED, _WALKED)
    assert (row.result, row.phase) == (Result.OK, "")
    assert (row.compile_ns, row.first_mask_ns, row.rss_bytes) == (7, 9, 11)
    assert row.warnings == ("w", "p")
    assert row.walks[0].mask_ns == (1, 2)
    assert row.walks[0].tokens == 2


def test_a_walk_without_an_answer_was_not_run() -> None:
    """The worker ended, or its time was up, before it."""
    assert _row(_COMPILED, _WALKED).walks[1].verdict is WalkVerdict.NOT_RUN


def test_an_end_is_the_result() -> None:
    """Where the process ended, in the words of whoever saw it."""
    end = ProcessResult(ending=Ending.CRASH, detail="killed by SIGSEGV")
    row = _row(_COMPILED, None, end=end)
    assert (row.result, row.phase) == (Result.CRASH, "walk")
    assert row.detail == "killed by SIGSEGV"


@pytest.mark.parametrize(
    "answers",
    [
        ([1],),
        ({"compile_ns": -1},),
        ({"compile_ns": True},),
        ({"compile_ns": 1 << 70},),
        ({"refusal": 3},),
        (_COMPILED, {"walks": [["accepted", None, [1.5], [], None, ""]]}),
        (_COMPILED, {"walks": [["perhaps", None, [], [], None, ""]]}),
        (_COMPILED, {"walks": [["accepted"]]}),
        (_COMPILED, {"walks": {}}),
    ],
)
def test_what_is_no_answer_is_a_protocol_error(answers: tuple[Json, ...]) -> None:
    """An engine shares the worker's process: what it says is checked."""
    row = _row(*answers)
    assert row.result is Result.PROTOCOL_ERROR
    assert row.phase == ("walk" if len(answers) > 1 else "compile")
    assert row.detail
    assert {walk.verdict for walk in row.walks} == {WalkVerdict.NOT_RUN}


def test_what_an_engine_says_can_be_sent() -> None:
    """Half of a surrogate pair is sent as its escape: no JSON of ours holds one."""
    odd: Any = SimpleNamespace(warnings=lambda _: ["\ud800"], reason=lambda: "\udfff")
    assert engine_warnings(odd, None) == ["\\ud800"]
    assert refusal_reason(odd) == ": \\udfff"

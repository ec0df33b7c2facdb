"""llguidance's copies: a limit that one text reaches is no other text's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from evaluation.core.cases import LONG_TEXT, WalkVerdict
from tests.evaluation.measuring import measured, miniature, request_of, sample

if TYPE_CHECKING:
    from pathlib import Path

_SCHEMA = """{"type": "object", "properties": {"a": {"type": "string",
"maxLength": 2000}}, "required": ["a"], "additionalProperties": false}"""
_SHORT, _LATE = '{"a": "x"}', '{"a": "' + 60 * "y" + '"}'


@pytest.mark.parametrize("matcher", ["copy", "fresh"])
def test_a_limit_is_the_affair_of_its_text(tmp_path: Path, matcher: str) -> None:
    """Later copies found the lexer dead; now they begin with a new one."""
    pytest.importorskip("llguidance")
    texts = (_SHORT, _LATE, _SHORT, '{"b": 1}', _LATE)
    asked = replace(sample("limits", *texts), schema=_SCHEMA)
    options = ["max_lexer_states=150", f"matcher={matcher}"]
    _, run = measured(tmp_path, ["llguidance"], request_of(tmp_path, [asked]), options)
    (row,) = run.rows()
    accepted, blocked, failed = (
        WalkVerdict.ACCEPTED,
        WalkVerdict.BLOCKED,
        WalkVerdict.ENGINE_ERROR,
    )
    assert [walk.verdict for walk in row.walks] == [
        *(accepted, failed, accepted, blocked, failed)
    ]
    assert all((walk.at or 0) > 9 for walk in row.walks if walk.verdict is failed)


def test_a_matcher_of_another_kind_is_refused(tmp_path: Path) -> None:
    """There is no third kind."""
    pytest.importorskip("llguidance")
    totals, _ = measured(
        tmp_path,
        ["llguidance"],
        request_of(tmp_path, [sample("one", "1")]),
        ["matcher=other"],
    )
    assert "matcher is copy or fresh" in "".join(totals.unavailable.values())


def test_long_texts_are_walked_last(tmp_path: Path) -> None:
    """What one of them does to its engine is done to none before it in the case."""
    long = f"[{', '.join(['1'] * LONG_TEXT)}]"
    texts = ("[1]", long, "[2]", "[3]")
    _, run = measured(
        tmp_path, [miniature("worn_out")], request_of(tmp_path, [sample("x", *texts)])
    )
    (row,) = run.rows()
    verdicts = [walk.verdict for walk in row.walks]
    assert verdicts[1] is not WalkVerdict.ACCEPTED
    assert {*verdicts[:1], *verdicts[2:]} == {WalkVerdict.ACCEPTED}

"""Rows of a suite's answers name their record and which of its answers they are."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from evaluation.results.suite_rows import answer_id, ask_again


@pytest.mark.parametrize("repeat", [0, 2])
@pytest.mark.parametrize("record", ["o1", "a#b", "#", "a#b#c", "a#2", "a#0"])
def test_a_command_asks_the_record_of_any_answer(record: str, repeat: int) -> None:
    """A `#` in a record's own id ends nothing."""
    header = {"command": ["csbdata", "suite", "run", "passrate", "--id", "g/other"]}
    own = answer_id(record, repeat)
    words = shlex.split(ask_again(header, Path("records.jsonl"), "g", own))
    assert words[-2:] == ["--id", f"g/{record}"]


def test_two_answers_never_share_a_row() -> None:
    """The third answer to `a` is not the first one to a record called `a#2`."""
    answers = [(record, n) for record in ("a", "a#2", "a#2#0") for n in range(3)]
    assert len({answer_id(*answer) for answer in answers}) == len(answers)

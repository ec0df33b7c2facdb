"""Rows of a suite's answers name their record and which of its answers they are."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from evaluation.results.suite_rows import answer_id, ask_again


@pytest.mark.parametrize("repeat", [0, 2])
@pytest.mark.parametrize("record", ["o1", "a#b", "#", "a#b#c"])
def test_a_command_asks_the_record_of_any_answer(record: str, repeat: int) -> None:
    """A `#` in a record's own id ends nothing."""
    header = {"command": ["csbdata", "suite", "run", "passrate", "--id", "g/other"]}
    own = answer_id(record, repeat)
    words = shlex.split(ask_again(header, Path("records.jsonl"), "g", own))
    assert words[-2:] == ["--id", f"g/{record}"]

"""Requests reworded by a model: taken only where they pass the check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.suites.ifstruct.rewriting import lost_in_rewording, reworded
from evaluation.suites.ifstruct.rows import read_record
from evaluation.suites.ifstruct.settings import IfstructSettings
from evaluation.suites.ifstruct.suite import (
    SUITE,
    read_records,
    suite_record,
    write_records,
)
from tests.evaluation.suites.ifstruct.rows import rows

if TYPE_CHECKING:
    from evaluation.suites.ifstruct.rows import IfstructRecord


def _lost(row: IfstructRecord, text: str) -> tuple[str, ...]:
    return lost_in_rewording(row, text)


def test_a_reworded_request_keeps_its_requirements() -> None:
    """Words around it lose nothing; its first paragraph and another format lose."""
    for row in rows(240)[:20]:
        assert _lost(row, f"Good morning! {row.prompt} Many thanks.") == ()
        assert _lost(row, row.prompt.split("\n", maxsplit=1)[0])
        other = "YAML" if row.output_format == "json" else "JSON"
        assert "format" in _lost(row, f"{row.prompt} In the end, make it {other}.")


def test_the_request_holds_the_whole_text() -> None:
    """The model is given the row's text, character by character."""
    record = suite_record(rows(240)[0])
    assert SUITE.rewording
    (turn,) = SUITE.rewording.prompt(record, IfstructSettings()).messages
    assert str(record.fields["prompt"]) in turn.content


def test_texts_that_pass_take_the_place_of_ours() -> None:
    """A row gets the text of a model where nothing is lost, and keeps its own else."""
    assert SUITE.rewording
    for row in rows(240)[:3]:
        record = suite_record(row)
        text = f"Hello there. {row.prompt}"
        changed = read_record(SUITE.rewording.accept(record, text).fields)
        assert (changed.prompt, changed.voice) == (text, "model")
        assert changed.spec
        assert changed.spec.retractions == ()
        for lost in ("Give me some JSON.", ""):
            assert SUITE.rewording.accept(record, lost) == record


def test_a_published_row_cannot_be_checked() -> None:
    """Without its `spec` there is nothing to check a text against."""
    (row,) = read_records(write_records(rows(240)[:1], published=True), "rows")
    assert "no `spec`" in _lost(row, row.prompt)[0]
    assert reworded(row, f"Hi. {row.prompt}") == row

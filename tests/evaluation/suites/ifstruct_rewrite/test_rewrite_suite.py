"""Requests reworded by a model: held to the check, taken only where they pass it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from curation.system.errors import BadData, NoInput
from evaluation.core.suite_records import SuiteResponse
from evaluation.suites.ifstruct.records.asked import as_asked, read_asked
from evaluation.suites.ifstruct.records.files import read_records, write_records
from evaluation.suites.ifstruct.rewriter.rewrites import lost_in_rewrite
from evaluation.suites.ifstruct.rows import draw_records
from evaluation.suites.ifstruct.settings import IfstructSettings
from evaluation.suites.ifstruct_rewrite.suite import SUITE, RewriteSettings
from tests.evaluation.suites.ifstruct.rows import rows

if TYPE_CHECKING:
    from pathlib import Path

_SETTINGS = RewriteSettings()


def test_known_answers_get_their_verdicts() -> None:
    """A reworded request passes; one that lost a requirement fails and says which."""
    score = SUITE.scorer(_SETTINGS)
    for row in rows(240)[:20]:
        record = as_asked(row)
        for known in SUITE.known_answers(record, _SETTINGS):
            response = SuiteResponse(
                record=record.key, text=known.text, finish=known.finish
            )
            verdict = score(record, response)
            assert verdict.failure_class == known.expected, (known.kind, verdict)
            assert not known.because or known.because in verdict.reasons


def test_the_request_holds_the_whole_text() -> None:
    """The model is given the row's text, character by character."""
    record = as_asked(rows(240)[0])
    (turn,) = SUITE.prompt(record, _SETTINGS).messages
    assert str(record.fields["prompt"]) in turn.content


def test_texts_that_pass_take_the_place_of_ours(tmp_path: Path) -> None:
    """A row gets the text of a model where nothing is lost, and keeps its own else."""
    first, second, third = draw_records(3, 9, IfstructSettings(), extended=False)
    texts = [f"Hello there. {first.fields['prompt']}", "Give me some JSON."]
    listed = [
        SuiteResponse(record=first.key, text=texts[0]),
        SuiteResponse(record=second.key, text=texts[1]),
        SuiteResponse(record=third.key, text=None, error="HTTP 500"),
    ]
    path = tmp_path / "responses.jsonl"
    path.write_bytes(b"\n".join(map(msgspec.json.encode, listed)))
    for place in (path, tmp_path):
        settings = IfstructSettings(rewrites=str(place))
        made = list(draw_records(3, 9, settings, extended=False))
        assert made[0].fields["prompt"] == texts[0]
        assert read_asked(made[0]).voice == "model"
        assert made[1:] == [second, third]


def test_what_is_no_file_of_responses_is_named(tmp_path: Path) -> None:
    """The message says which file, and which line of it."""
    path = tmp_path / "responses.jsonl"
    path.write_text("{}\n")
    for place, error in ((tmp_path / "none", NoInput), (path, BadData)):
        settings = IfstructSettings(rewrites=str(place))
        with pytest.raises(error, match=place.name):
            list(draw_records(1, 0, settings, extended=False))


def test_a_published_row_cannot_be_checked() -> None:
    """Without its `spec` nobody knows what a text has to say."""
    (row,) = read_records(write_records(rows(240)[:1], published=True), "rows")
    assert "no `spec`" in lost_in_rewrite(as_asked(row), row.prompt)[0]

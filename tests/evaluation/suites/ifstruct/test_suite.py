"""The suite: records in three formats, answers right and broken, the report."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import polars as pl
import pytest

from curation.download.cache import FetchSettings
from curation.system.errors import BadData, NoInput
from evaluation.core.records import Record, RecordRequest, Response, Verdict
from evaluation.core.suite import ScoredResponse, ScoredRun
from evaluation.reporting.tables import Rate
from evaluation.results.suite_tables import suite_tables
from evaluation.runner.records import make_records
from evaluation.runner.request import choose_suite
from evaluation.suites.common import json_rows
from evaluation.suites.ifstruct.rows import (
    SLICES,
    IfstructRecord,
    IfstructSettings,
    read_record,
    row_slices,
)
from evaluation.suites.ifstruct.suite import SUITE, read_rows, suite_record
from tests.evaluation.suites.ifstruct.rows import (
    COLUMNS,
    JSON,
    published_lines,
    rows,
)
from tests.evaluation.suites.known.ifstruct import known_answers
from tests.publishing import connected
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.core.json_types import Json
    from evaluation.reporting.tables import Table


_SETTINGS = IfstructSettings()


def _asked(count: int = 12) -> list[Record]:
    return [suite_record(row) for row in rows()[:count]]


def _judge(
    record: Record, settings: IfstructSettings = _SETTINGS, **answer: object
) -> Verdict:
    response = msgspec.convert({"record": record.key, **answer}, Response)
    return SUITE.scorer(settings)(record)(response)


def _answers(record: Record) -> dict[str, str]:
    """Return right and broken answers to a record by their kinds."""
    known = known_answers(record, _SETTINGS)
    return {answer.kind: answer.text or "" for answer in known}


def test_known_answers_to_published_rows_get_their_verdicts() -> None:
    """By the published reading, each has the class that is expected.

    A published file has no `spec`: its schema alone is enough for an answer.
    """
    settings, classes = IfstructSettings(reading="published"), set()
    for record in read_rows(json_rows(published_lines(rows()[:12]), "published")):
        assert record.fields["spec"] is None
        judge = SUITE.scorer(settings)(record)
        for known in known_answers(record, settings):
            verdict = judge(known.response(record))
            assert verdict.failure_class == known.expected, known
            classes.add(known.expected)
    assert len(classes) > 8


def test_a_row_is_a_record_and_back() -> None:
    """Rows in JSON have the schema of the whole answer; rows in YAML have none.

    Slices name what was drawn. The request is the one turn of the conversation.
    """
    for row in rows()[:40]:
        record = suite_record(row)
        prompt = SUITE.prompt(record, IfstructSettings(budget=77))
        assert [turn.content for turn in prompt.messages] == [row.prompt]
        assert prompt.budget == 77
        written = msgspec.json.encode(record)
        assert read_record(msgspec.json.decode(written, type=Record).fields) == row
        assert (record.group, record.split) == (row.output_format, "test")
        assert (record.schema is None) == (record.group == "yaml")
        if record.schema is not None:
            assert json.loads(record.schema) == row.answer_schema()
        slices = row_slices(row)
        is_exact = isinstance(row.top_level_count, int)
        assert slices["count"] == ("exact" if is_exact else "range")
        assert slices["wrapper"] == ("wrapped" if row.top_level_key else "bare")
        assert (slices["voice"], slices["format"]) == (row.voice, row.output_format)


def test_a_reading_decides() -> None:
    """A forbidden code block fails by one reading and passes by the published one.

    A reason names the place in the list; there are at most 20.
    """
    record = suite_record(msgspec.structs.replace(JSON, fence="forbidden"))
    text = '```\n[{"id": "one"}]\n```'
    verdict = _judge(record, text=text)
    reasons = ("forbidden_fence", "wrong_type: [0].id: string for integer")
    assert (verdict.failure_class, verdict.reasons) == (reasons[0], reasons)
    assert verdict.scores == {"structure": 0.0}
    right = text.replace('"one"', "1")
    assert _judge(record, text=right).scores == {"structure": 1.0}
    assert _judge(record, IfstructSettings(reading="published"), text=right).passed
    many = _judge(record, text=f"[{'1, ' * 30}1]")
    assert len(many.reasons) == 20


@pytest.mark.parametrize(("answer", "failure"), table(__file__, "no_answers"))
def test_what_is_no_answer_has_its_class(
    answer: dict[str, object], failure: str
) -> None:
    """Failed servers, refusals and cut texts are told apart, and count as failed.

    What a server sends as reasoning changes nothing, nor a cut after the answer.
    """
    row = next(row for row in rows() if row.fence == "free")
    record = suite_record(row)
    verdict = _judge(record, _SETTINGS, **answer)
    assert (verdict.failure_class, verdict.counted) == (failure, True)
    assert "structure" not in verdict.scores
    text = _answers(record)["reference"]
    assert _judge(record, text=text, reasoning="[{", finish="length").passed


def _tables(verdicts: Iterable[tuple[Record, Verdict]]) -> dict[str, Table]:
    side = [
        ScoredResponse(
            record=record.key,
            group=record.group,
            repeat=0,
            model="mine",
            condition="free",
            verdicts=(verdict,),
        )
        for record, verdict in verdicts
    ]
    run = ScoredRun(facts={}, by_label={"mine free": side})
    return {table.slug: table for table in suite_tables(SUITE, run) if table.rows}


def test_the_report_has_the_published_errors_and_every_choice() -> None:
    """An extra field everywhere is one error; kinds of things are clusters.

    A verdict without facts counts as failed in every table.
    """
    records = _asked(12)
    ended = Verdict(passed=False, failure_class="scoring_timeout")
    extra = [(it, _judge(it, text=_answers(it)["unknown_field"])) for it in records]
    tables = _tables([*extra, (suite_record(rows()[20]), ended)])
    (error,) = tables["published-errors"].rows
    assert error[0] == "unknown_field"
    of_choices = {row[:2]: row[3] for row in tables["choices"].rows}
    assert [*dict.fromkeys(choice for choice, _ in of_choices)] == [*SLICES]
    assert str(of_choices["voice", "not recorded"]) == "0.0 % [0.0, 79.3] (0 of 1)"
    # Rows that ask for one kind of thing are no independent ones.
    of_json = [record for record in records if record.group == "json"]
    kinds = ((str(record.fields["entity_type"]), False) for record in of_json)
    rate = of_choices["format", "json"]
    assert rate == Rate.of_answers(kinds)
    assert isinstance(rate, Rate)
    assert rate.worth is not None


_HUB = {
    "doc_id": 7,
    **{name: value for name, value in COLUMNS.items() if name != "seed"},
    "json_schema": json.dumps(COLUMNS["json_schema"]),
    "top_level_count": "1",
    "top_level_key": "",
}


def _read(*rows: dict[str, Json]) -> list[IfstructRecord]:
    content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    records = read_rows(json_rows(content, "rows.jsonl"))
    return [read_record(record.fields) for record in records]


def test_columns_say_what_an_answer_needs() -> None:
    """The plain row and the Hub's, with `doc_id` and JSON texts, are equal.

    `require_code_block` false is a free choice; `fence` says more. A constrained run is
    held to the object with its one key, and to the count.
    """
    assert [JSON] == _read(COLUMNS) == _read(_HUB) == _read(_HUB | {"doc_id": "7"})
    assert (JSON.wrapper, JSON.counts, JSON.wish) == (None, (1, 1), "free")
    block, yaml, boxed = _read(
        COLUMNS | {"require_code_block": True, "entity_type": "test__escaping__a"},
        COLUMNS | {"seed": 8, "fence": "required:yaml"},
        _HUB
        | {"doc_id": 9, "top_level_key": "box", "require_wrapper_key": True}
        | {"top_level_count": "[1, 2]"},
    )
    assert block.wish == "required"
    slices = [row_slices(row)["escaping"] for row in (block, yaml)]
    assert slices == ["stressed", "plain"]
    assert yaml.wish == "required:yaml"
    assert boxed.answer_schema() == {
        "type": "object",
        "properties": {"box": JSON.json_schema | {"maxItems": 2}},
        "required": ["box"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(("change", "said"), table(__file__, "no_rows"))
def test_a_line_that_is_no_row_is_named(change: dict[str, Json], said: str) -> None:
    """The error names the file, the line and what is wrong with it."""
    with pytest.raises(BadData, match=rf"^rows.jsonl:2: .*{re.escape(said)}"):
        _read(COLUMNS, COLUMNS | {"seed": 8} | change)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_the_published_rows_are_loaded_from_the_hub(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    """By name or by default, in either format; without a Hub own rows, and said so.

    `--data` reads a published file as well.
    """
    rows = [{**_HUB, "doc_id": number} for number in range(3)]
    file = tmp_path / f"test.{kind}"
    frame = pl.DataFrame(rows)
    if kind == "parquet":
        frame.write_parquet(file)
    else:
        frame.write_ndjson(file)
    choice = choose_suite("ifstruct")
    request = RecordRequest(
        data="LiquidAI/ifstruct-v1.0", fetch=FetchSettings.from_environment()
    )
    with connected(monkeypatch, tmp_path / "home") as connection:
        name = f"data/test.{kind}"
        connection.hub.store.put("LiquidAI/ifstruct-v1.0", {name: file.read_bytes()})
        found = make_records(choice, request)
        default = make_records(choice, replace(request, data=None, limit=2))
        own = make_records(choice, replace(request, data="own", limit=2))
        with pytest.raises(NoInput):
            make_records(choice, replace(request, data="LiquidAI/no"))
    assert (found.origin, default.origin) == ("hub", "hub")
    in_file = make_records(choice, replace(request, data=str(file)))
    assert (in_file.origin, in_file.records) == ("file", found.records)
    assert found.records[0].fields["spec"] is None
    assert own.origin == "generated by csbdata"
    with connected(monkeypatch, tmp_path / "empty"):
        without = make_records(choice, replace(request, data=None, limit=2))
    assert without.records == own.records
    assert without.origin.startswith("generated by csbdata, as the published ones")
    assert [record.id for record in found.records] == ["0", "1", "2"]
    with pytest.raises(NoInput, match="no such file"):
        make_records(choice, replace(request, data=str(tmp_path / "no")))

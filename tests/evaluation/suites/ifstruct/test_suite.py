"""The suite: records in three formats, answers right and broken, the report."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from dataclasses import replace as with_fields
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import polars as pl
import pytest

from curation.download.acquire import FetchSettings
from curation.system.errors import BadData, NoInput
from evaluation.asking.records import records_of
from evaluation.asking.request import choose_suite
from evaluation.core.records import Record, RecordRequest, Response, Verdict
from evaluation.core.suite import ScoredResponse, ScoredRun
from evaluation.reporting.tables import Rate
from evaluation.results.suite_tables import suite_tables
from evaluation.suites.common import json_rows
from evaluation.suites.ifstruct.generator import generate_rows
from evaluation.suites.ifstruct.rows import (
    SLICES,
    Fence,
    FenceWish,
    read_record,
    slices_of,
)
from evaluation.suites.ifstruct.scorer import verify
from evaluation.suites.ifstruct.settings import Failure, IfstructSettings, RuleReading
from evaluation.suites.ifstruct.suite import SUITE, read_rows, suite_record
from tests.evaluation.suites.ifstruct.answers.mutations import (
    LARGE_MUTATION,
    MUTATIONS,
    judged_answers,
)
from tests.evaluation.suites.ifstruct.answers.reference import reference_answer
from tests.evaluation.suites.ifstruct.rows import published_lines, rows, source
from tests.evaluation.suites.known.ifstruct import known_answers
from tests.publishing import connected
from tests.tables import table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from curation.core.json_types import Json
    from evaluation.core.records import RecordSet
    from evaluation.reporting.tables import Table
    from evaluation.suites.ifstruct.rows import IfstructRecord
    from evaluation.suites.ifstruct.scorer import StructureVerdict


_SETTINGS = IfstructSettings()


def _request(data: str | None = None, limit: int | None = None) -> RecordRequest:
    fetch = FetchSettings(mirror=None, cache=Path("nowhere"), offline=True)
    return RecordRequest(data=data, fetch=fetch, limit=limit)


def _records(data: str | None = None, limit: int | None = None) -> RecordSet:
    assert SUITE.records is not None
    return SUITE.records(_request(data, limit), _SETTINGS)


def _asked(count: int = 12) -> list[Record]:
    return [suite_record(row) for row in rows(240)[:count]]


def _judge(
    record: Record, settings: IfstructSettings = _SETTINGS, **answer: object
) -> Verdict:
    response = msgspec.convert({"record": record.key, **answer}, Response)
    return SUITE.scorer(settings)(record)(response)


def _answers(record: Record) -> dict[str, str]:
    """Return right and broken answers to a record by their kinds."""
    row = read_record(record.fields)
    answers = judged_answers(row, RuleReading.RECOMMENDED)
    return {answer.kind: answer.text for answer in answers}


def test_known_answers_get_their_verdicts() -> None:
    """By the published reading too, each has the class that is expected."""
    settings, classes = IfstructSettings(reading="published"), set()
    for record in _asked():
        for known in known_answers(record, settings):
            verdict = _judge(
                record,
                settings,
                text=known.text,
                finish=known.finish,
                error=known.error,
            )
            assert verdict.failure_class == known.expected, known
            classes.add(known.expected)
    assert len(classes) > 8


def test_slices_name_what_was_drawn() -> None:
    """One number of items is exact, two are the ends of a range."""
    for row in rows(240)[:40]:
        slices = slices_of(row)
        is_exact = isinstance(row.top_level_count, int)
        assert slices["count"] == ("exact" if is_exact else "range")
        assert slices["wrapper"] == ("wrapped" if row.top_level_key else "bare")
        assert (slices["voice"], slices["format"]) == (row.voice, row.output_format)


def test_a_row_is_a_record_and_back() -> None:
    """Rows in JSON have the schema of the whole answer; rows in YAML have none."""
    for row in rows(240)[:12]:
        record = suite_record(row)
        written = msgspec.json.encode(record)
        assert read_record(msgspec.json.decode(written, type=Record).fields) == row
        assert record.group == row.output_format
        if record.group == "yaml":
            assert record.schema is None
        else:
            assert json.loads(record.schema or "") == row.requirements.answer_schema()


def test_a_published_file_is_data(tmp_path: Path) -> None:
    """`--data` reads a published file; without it rows are drawn, and say so."""
    path = tmp_path / "test.jsonl"
    path.write_bytes(published_lines(rows(240)[:5]))
    found = _records(str(path))
    assert (found.origin, len(found.records)) == ("file", 5)
    assert found.records[0].fields["spec"] is None
    with pytest.raises(NoInput):
        _records(str(tmp_path / "none.jsonl"))
    drawn = _records(limit=3)
    assert (drawn.origin, len(drawn.records)) == ("generated by csbdata", 3)
    assert len(list(SUITE.generate(4, 1, _SETTINGS) if SUITE.generate else ())) == 4


def test_a_prompt_is_the_text_and_the_budget() -> None:
    """The request is the one turn of the conversation."""
    (record,) = _asked(1)
    prompt = SUITE.prompt(record, IfstructSettings(budget=77))
    assert [turn.content for turn in prompt.messages] == [record.fields["prompt"]]
    assert prompt.budget == 77


def test_a_reading_decides() -> None:
    """A forbidden code block fails by one reading and passes by the published one."""
    row = next(row for row in rows(240) if row.fence == "forbidden")
    record = suite_record(row)
    text = _answers(record)["code block forbidden"]
    verdict = _judge(record, text=text)
    assert (verdict.passed, verdict.failure_class) == (False, "forbidden_fence")
    assert verdict.scores == {"structure": 1.0}
    assert _judge(record, IfstructSettings(reading="published"), text=text).passed


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        ({"text": None}, "no_answer"),
        ({"text": "[]", "error": "HTTP 500"}, "no_answer"),
        ({"text": "", "finish": "refusal"}, "refused"),
        ({"text": "", "finish": "stop"}, "empty"),
        ({"text": '[{"a', "finish": "length"}, "truncated"),
        ({"text": "<think>[", "finish": "length"}, "truncated"),
    ],
)
def test_what_is_no_answer_has_its_class(
    answer: dict[str, object], failure: str
) -> None:
    """Failed servers, refusals and cut texts are told apart, and count as failed."""
    row = next(row for row in rows(240) if row.fence == "free")
    verdict = _judge(suite_record(row), _SETTINGS, **answer)
    assert (verdict.failure_class, verdict.counted) == (failure, True)
    assert "structure" not in verdict.scores


def test_yaml_under_an_engine_is_not_run_and_not_counted() -> None:
    """No engine holds YAML to a schema: such rows are in no constrained rate."""
    row = next(row for row in rows(240) if row.output_format == "yaml")
    record = suite_record(row)
    held = _judge(record, text="", error="compile_error", condition="llguidance")
    assert (held.passed, held.counted, held.reasons) == (
        False,
        False,
        ("not run: YAML is held to no schema",),
    )
    assert _judge(record, text="", error="HTTP 500").counted


def test_thinking_apart_is_never_judged() -> None:
    """What a server sends as reasoning changes nothing."""
    (record,) = _asked(1)
    text = _answers(record)["reference"]
    assert _judge(record, text=text, reasoning="[{").passed


def _scored(
    records: Iterable[Record], condition: str, kind: str
) -> list[ScoredResponse]:
    """Return the verdicts on one kind of known answer to some records."""
    found = []
    for record in records:
        texts = _answers(record)
        verdict = _judge(record, text=texts.get(kind) or texts["reference"])
        found.append(
            ScoredResponse(
                record=record.key,
                group=record.group,
                repeat=0,
                model="mine",
                condition=condition,
                verdicts=(verdict,),
                seconds=1.0,
            )
        )
    return found


def _tables(*sides: list[ScoredResponse]) -> dict[str, Table]:
    by_label = {side[0].label: side for side in sides}
    run = ScoredRun(facts={}, by_label=by_label)
    return {table.slug: table for table in suite_tables(SUITE, run) if table.rows}


def test_the_report_has_the_published_errors_and_every_choice() -> None:
    """An extra field everywhere is one error; kinds of things are clusters."""
    records = _asked(12)
    tables = _tables(_scored(records, "free", "extra field"))
    (error,) = tables["published-errors"].rows
    assert error[0] == "unknown_field"
    rows = tables["choices"].rows
    assert {row[0] for row in rows} == set(SLICES)
    # Rows that ask for one kind of thing are no independent ones.
    of_json = [record for record in records if record.group == "json"]
    kinds = ((str(record.fields["entity_type"]), False) for record in of_json)
    (rate,) = (row[3] for row in rows if row[:2] == ("format", "json"))
    assert rate == Rate.of_answers(kinds)
    assert isinstance(rate, Rate)
    assert rate.worth is not None
    assert "free-or-constrained" not in tables


def test_the_report_pairs_free_and_constrained_answers() -> None:
    """Only rows that both sides answered are compared, tested by their kinds."""
    records = _asked(12)
    json_only = [record for record in records if record.schema]
    free = _scored(records, "free", "extra field")
    tables = _tables(free, _scored(json_only, "llguidance", "reference"))
    (structure,) = tables["free-or-constrained"].rows
    assert structure[4:6] == (0, len(json_only))
    kinds = {record.fields["entity_type"] for record in json_only}
    assert structure[7] == pytest.approx(2 / 2 ** len(kinds))


def test_a_response_whose_scorer_was_ended_is_in_every_table() -> None:
    """A verdict without facts counts as failed, and breaks no table."""
    (lost,) = _scored(_asked(1), "free", "reference")
    ended = Verdict(passed=False, failure_class="scoring_timeout")
    tables = _tables([with_fields(lost, verdicts=(ended,))])
    assert str(tables["pass-rate"].rows[0][3]).startswith("0.0 %")


_ROW: dict[str, Json] = {
    "seed": 7,
    "entity_type": "test__berth_booking",
    "prompt": "Generate 2-3 berth bookings.",
    "json_schema": {"type": "array", "minItems": 2, "maxItems": 3, "items": {}},
    "top_level_count": [2, 3],
    "top_level_key": None,
    "require_wrapper_key": False,
    "require_code_block": True,
    "require_no_commentary": False,
    "output_format": "yaml",
}
_HUB = {
    "doc_id": 7,
    **{name: value for name, value in _ROW.items() if name != "seed"},
    "json_schema": json.dumps(_ROW["json_schema"]),
    "top_level_count": "[2, 3]",
    "top_level_key": "",
}


def _content(*rows: dict[str, Json]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_both_variants_are_the_same_row() -> None:
    """The plain row and the Hub's, with `doc_id` and JSON texts, are equal."""
    plain, hub = (
        read_rows(json_rows(_content(_ROW), "a")),
        read_rows(json_rows(_content(_HUB), "b")),
    )
    assert plain == hub
    wanted = plain[0].requirements
    assert (wanted.least, wanted.most, wanted.wrapper) == (2, 3, None)
    assert wanted.fence == Fence(FenceWish.REQUIRED)
    assert wanted.commentary


def test_a_published_row_knows_no_forbidden_block() -> None:
    """`require_code_block` false is a free choice; `fence` says more."""
    (free,) = read_rows(json_rows(_content(_ROW | {"require_code_block": False}), "a"))
    assert free.requirements.fence == Fence(FenceWish.FREE)
    (ours,) = read_rows(json_rows(_content(_ROW | {"fence": "required:yaml"}), "a"))
    assert ours.requirements.fence == Fence(FenceWish.REQUIRED, "yaml")


def test_the_wrapper_and_the_count_are_part_of_the_schema_of_an_answer() -> None:
    """A constrained run is held to the object with its one key, and to the count."""
    row = _ROW | {"top_level_key": "box", "require_wrapper_key": True}
    row |= {"top_level_count": 2}
    (record,) = read_rows(json_rows(_content(row), "a"))
    assert record.requirements.answer_schema() == {
        "type": "object",
        "properties": {
            "box": {"type": "array", "minItems": 2, "maxItems": 2, "items": {}}
        },
        "required": ["box"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("change", "said"),
    table(__file__, "no_rows"),
)
def test_a_line_that_is_no_row_is_named(change: dict[str, Json], said: str) -> None:
    """The error names the file, the line and what is wrong with it."""
    with pytest.raises(BadData, match="no row") as caught:
        read_rows(json_rows(_content(_ROW, _ROW | {"seed": 8} | change), "rows.jsonl"))
    assert str(caught.value).startswith("rows.jsonl:2: ")
    assert said in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]\n", b"{\n", b"\xff\n"])
def test_a_file_without_rows_is_refused(content: bytes) -> None:
    """Nothing to score is an error, and no empty result."""
    with pytest.raises(BadData):
        read_rows(json_rows(content, "rows.jsonl"))


def test_two_rows_of_one_seed_are_refused() -> None:
    """A response could belong to either."""
    with pytest.raises(BadData, match="the seed 7 stands at rows"):
        read_rows(json_rows(_content(_ROW) + b"\n" + _content(_ROW), "rows.jsonl"))


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_the_published_rows_are_loaded_from_the_hub(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    """By name or by default, in either format; without a Hub own rows, and said so."""
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
        found = records_of(choice, request)
        default = records_of(choice, replace(request, data=None, limit=2))
        own = records_of(choice, replace(request, data="own", limit=2))
        with pytest.raises(NoInput):
            records_of(choice, replace(request, data="LiquidAI/no"))
    assert (found.origin, default.origin) == ("hub", "hub")
    assert own.origin == "generated by csbdata"
    with connected(monkeypatch, tmp_path / "empty"):
        without = records_of(choice, replace(request, data=None, limit=2))
    assert without.records == own.records
    assert without.origin.startswith("generated by csbdata, as the published ones")
    assert [record.id for record in found.records] == ["0", "1", "2"]
    with pytest.raises(NoInput, match="no such file"):
        records_of(choice, replace(request, data=str(tmp_path / "no")))


def _verify(
    row: IfstructRecord, text: str, reading: RuleReading = RuleReading.RECOMMENDED
) -> StructureVerdict:
    return verify(Response(record=row.id, text=text), row.requirements, reading)


def _tally(
    made: Iterable[IfstructRecord], reading: RuleReading
) -> tuple[Counter[str], dict[str, str]]:
    """Return how many answers of each kind there were, and the first wrong verdict."""
    kinds: Counter[str] = Counter()
    wrong: dict[str, str] = {}
    for row in made:
        for answer in judged_answers(row, reading):
            findings = _verify(row, answer.text, reading).findings
            failure = findings[0].failure if findings else None
            kinds[answer.kind] += 1
            if failure is not answer.failure:
                wrong[answer.kind] = f"row {row.seed}: {failure} for {answer.failure}"
    return kinds, wrong


@pytest.mark.parametrize("reading", [RuleReading.PUBLISHED, RuleReading.RECOMMENDED])
def test_broken_answers_get_their_failures(reading: RuleReading) -> None:
    """Right answers pass, and every broken one has the failure that it was given."""
    kinds, wrong = _tally(rows(240)[:4], reading)
    assert wrong == {}
    seen = [kind for kind in kinds if not kind.startswith("unseen")]
    assert len(seen) > 50


@pytest.mark.slow
def test_every_kind_of_fault_occurs() -> None:
    """The rows of the tests leave room for each mutation; three no rule can see."""
    plain, wrong = _tally(rows(240)[:160], RuleReading.RECOMMENDED)
    assert wrong == {}
    published, wrong = _tally(rows(240)[:40], RuleReading.PUBLISHED)
    assert wrong == {}
    kinds = {*plain, *published}
    names = {mutation.name for mutation in MUTATIONS}
    unseen = {"empty text", "the same item again", "name twice"}
    assert kinds >= (names - unseen) | {f"unseen: {name}" for name in unseen}
    assert len(names) >= 25


@pytest.mark.slow
def test_five_thousand_references_pass() -> None:
    """The reference answers to 5,000 rows pass, in both formats."""
    for row in generate_rows(source("published"), 1, 5000):
        answer = reference_answer(row)
        assert _verify(row, answer.text).findings == (), row.seed


def test_rows_without_a_spec_are_answered_too() -> None:
    """A published file has no `spec`: its schema alone is enough for an answer."""
    published = published_lines(rows(240)[:4])
    kinds, wrong = _tally(
        read_rows(json_rows(published, "published")), RuleReading.PUBLISHED
    )
    assert wrong == {}
    assert kinds["reference"] == 4


def test_a_million_characters_are_too_many() -> None:
    """The one mutation that is left out of the known answers for its size."""
    row = rows(240)[0]
    broken = LARGE_MUTATION.apply(reference_answer(row))
    assert broken is not None
    findings = _verify(row, broken.text).findings
    assert [found.failure for found in findings] == [Failure.TOO_LARGE]

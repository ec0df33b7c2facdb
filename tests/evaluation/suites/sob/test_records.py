"""Records, published and our own: read from every layout, true to their text."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import jsonschema
import msgspec
import pytest
from msgspec.structs import replace

from curation.download.acquire import FetchSettings
from curation.json.text import canonical, parse
from curation.system.errors import BadData, NoInput
from evaluation.core.suite import RecordRequest
from evaluation.suites.sob.forms import (
    FEWEST,
    MOST,
    WRITTEN,
    _form,
    forms,
    kind,
    leaf_schemas,
)
from evaluation.suites.sob.generator import (
    LONGEST,
    OWN_RECORDS,
    SHORTEST,
    generated_records,
)
from evaluation.suites.sob.metrics import (
    PUBLISHED,
    RECOMMENDED,
    Expectation,
    Metric,
    score_answer,
)
from evaluation.suites.sob.records import response_of_line, sob_record, suite_record
from evaluation.suites.sob.suite import SobSettings, prompt_of, suite_records
from tests.evaluation.suites.sob.stored import stored_records

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import Json
    from evaluation.core.suite import RecordSet
    from evaluation.suites.sob.records import SobRecord


_QUOTED: Final = re.compile(r"“([^”]*)”")
_DAY: Final = re.compile(r"(\d{1,2} [A-Z][a-z]+ \d{4})(?:, (\d\d:\d\d) UTC)?")
_NUMBER: Final = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_NAME: Final = re.compile(r"(?:of|for|about) ([A-Z]\w+ \w+)")
_MISSING: Final = object()


def read_truth(record: SobRecord) -> Any:  # noqa: ANN401 (any JSON)
    """Return what the text says of the thing that the question asks about."""
    match = _NAME.search(record.question)
    assert match is not None, record.question
    facts = _facts(record, match[1])
    return _value(record.json_schema, "", facts)


def _facts(record: SobRecord, name: str) -> dict[str, str]:
    """Return what is said last under each name of a field."""
    facts: dict[str, str] = {}
    if record.source == "audio":
        lines = [line for line in record.context.splitlines() if f" {name}" in line]
    elif record.source == "text":
        (block,) = (
            part
            for part in record.context.split("\n\n")
            if part.startswith(f"[{name}]")
        )
        lines = re.split(r"(?=\u2018)", block.partition("] ")[2])
    else:
        (block,) = re.findall(
            rf"(?:^|\n)# {name}\n(.*?)(?=\n# |\Z)", record.context, re.DOTALL
        )
        lines = block.splitlines()
    for line in lines:
        field, told = _statement(line, record.source, name)
        if field:
            facts[field] = told
    return facts


def _statement(line: str, source: str, name: str) -> tuple[str, str]:
    if source == "image":
        parts = re.split(r"\s*(?:\||::|\.{4,})\s*", line.strip("| "), maxsplit=1)
        return (parts[0], parts[1]) if len(parts) == 2 else ("", "")
    found = re.search(r"\u2018([^\u2019]*)\u2019", line)
    if found is None:
        return "", ""
    rest = line[: found.start()] + " " + line[found.end() :]
    return found[1], re.sub(r"^\[[\d:]+\] \w+: ", "", rest).replace(name, " ")


def _words(name: str) -> str:
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return " ".join(parts).lower()


def _value(schema: Any, what: str, facts: dict[str, str]) -> Any:  # noqa: ANN401 (any JSON)
    if "properties" in schema:
        members = {}
        for name, inner in schema["properties"].items():
            own = f"{_words(name)} of {what}" if what else _words(name)
            value = _value(inner, own, facts)
            if value is not _MISSING:
                members[name] = value
        is_told = members or not what or _is_told(what, facts)
        return members if is_told else _MISSING
    if "items" in schema:
        items: list[Any] = []
        while len(items) < 9:
            item = _value(schema["items"], f"entry {len(items) + 1} of {what}", facts)
            if item is _MISSING:
                break
            items.append(item)
        return items or _MISSING
    return _leaf(schema, facts[what]) if what in facts else _MISSING


def _is_told(what: str, facts: dict[str, str]) -> bool:
    return any(field.endswith(f" of {what}") for field in facts)


def _leaf(schema: Any, told: str) -> Any:  # noqa: ANN401 (any JSON)
    quoted = _QUOTED.search(told)
    if quoted is not None:
        return quoted[1]
    if "not known" in told:
        return None
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "boolean" in types:
        return re.search(r"\b(yes|no)\b", told)[1] == "yes"  # type: ignore[index]  # it is there
    day = _DAY.search(told)
    if "string" in types and day is not None:
        date = datetime.strptime(day[1], "%d %B %Y").date().isoformat()  # noqa: DTZ007 (a day)
        return date if day[2] is None else f"{date}T{day[2]}:00Z"
    number = _NUMBER.search(told)
    assert number is not None, told
    digits = number[0].rstrip(",").replace(",", "")
    return float(digits) if "." in digits else int(digits)


def _load(data: Path | None, tmp_path: Path, *, any_object: bool = False) -> RecordSet:
    fetch = FetchSettings(cache=tmp_path / "cache")
    request = RecordRequest(data=None if data is None else str(data), fetch=fetch)
    settings = SobSettings(constraint="object" if any_object else "schema")
    return suite_records(request, settings)


def _row(record: SobRecord, **more: object) -> dict[str, Any]:
    """Return a row as the authors publish it."""
    return {
        "record_id": record.record_id,
        "context": record.context,
        "question": record.question,
        "json_schema": json.dumps(record.json_schema),
        "ground_truth": json.dumps(record.ground_truth),
        "validated_output": None,
        "question_difficulty": record.question_difficulty,
        "schema_complexity": record.schema_complexity,
        **more,
    }


def _one() -> SobRecord:
    return stored_records()[0]


def test_without_data_they_are_our_own(tmp_path: Path) -> None:
    """180 records, marked as ours, whole in their fields."""
    found = _load(None, tmp_path)
    assert (found.origin, len(found.records)) == ("generated by csbdata", 180)
    assert sob_record(found.records[0]) == next(generated_records(1))
    assert {record.group for record in found.records} == {"text", "image", "audio"}


def test_json_mode_is_held_to_an_object(tmp_path: Path) -> None:
    """The constraint is any object; the record's own schema still judges."""
    (record, *_) = _load(None, tmp_path, any_object=True).records
    assert record.schema == '{"type": "object"}'
    assert sob_record(record).json_schema == next(generated_records(1)).json_schema


@pytest.mark.parametrize(
    ("name", "more", "expected"),
    [
        ("test.jsonl", {}, "text"),
        ("test.jsonl", {"meeting_id": "EN2001a", "num_speakers": 5}, "audio"),
        ("test.jsonl", {"source_pdf": "a.pdf"}, "image"),
        ("image-train.jsonl", {}, "image"),
        ("audio/train.jsonl", {}, "audio"),
        ("claudio/imagenet.jsonl", {}, "text"),
    ],
)
def test_a_published_row_has_the_source_of_its_columns_or_file(
    tmp_path: Path, name: str, more: dict[str, Any], expected: str
) -> None:
    """Columns that one source alone has decide, then the name."""
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(_row(_one(), **more)), "utf-8")
    (record,) = _load(file, tmp_path).records
    assert record.group == expected
    own = sob_record(record)
    assert own.ground_truth == _one().ground_truth
    assert own.json_schema == _one().json_schema


def test_parquet_files_of_a_folder_are_read(tmp_path: Path) -> None:
    """As the Hub has them: a folder with a file a config."""
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    rows = [_row(record, meeting_id="m") for record in stored_records()[:3]]
    # What some writers call a file is a folder of its parts.
    file = tmp_path / "audio" / "train.parquet" / "part-0.parquet"
    file.parent.mkdir(parents=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    found = _load(tmp_path / "audio", tmp_path)
    assert [record.group for record in found.records] == ["audio"] * 3


def test_a_response_file_of_the_authors_holds_its_records(tmp_path: Path) -> None:
    """One record a line, a record that is answered twice once."""
    own = _one()
    line = {
        "metadata": {"record_id": own.record_id, "difficulty": "hard", "model_id": "m"},
        "input": {
            "context": own.context,
            "question": own.question,
            "json_schema": own.json_schema,
        },
        "output": {"candidate_response": {"a": 1}, "ground_truth": own.ground_truth},
        "eval_info": {"input_tokens": 7, "output_tokens": float("nan")},
    }
    file = tmp_path / "response_m_audio.jsonl"
    file.write_text(f"{json.dumps(line)}\n{json.dumps(line)}\n", "utf-8")
    (record,) = _load(file, tmp_path).records
    assert record.group == "audio"
    response = response_of_line(line)
    assert response is not None
    assert (response.record, response.model, response.text) == (
        own.record_id,
        "m",
        '{"a": 1}',
    )
    assert (response.prompt_tokens, response.output_tokens) == (7, None)


@pytest.mark.parametrize(
    ("candidate", "text"),
    [
        ({"a": None}, '{"a": null}'),
        ([], "[]"),
        ('{"a":1}', '"{\\"a\\":1}"'),
        ("oops", '"oops"'),
        (None, None),
    ],
)
def test_what_the_authors_could_not_parse_stays_a_string(
    candidate: object, text: str | None
) -> None:
    """A stored string was not parsed, and is not parsed again."""
    line = msgspec.convert(
        {
            "metadata": {"record_id": "r", "model_id": None},
            "output": {"candidate_response": candidate},
        },
        dict[str, Any],
    )
    response = response_of_line(line)
    assert response is not None
    assert (response.model, response.text) == ("model", text)


def test_other_lines_are_no_published_response() -> None:
    """Ours, and those of others, are left to who knows them."""
    assert response_of_line({"record": "r", "text": "{}"}) is None
    assert response_of_line({"metadata": {}, "output": {}}) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "no JSON"),
        ("[1]", "no JSON object"),
        ('{"record_id": "r", "json_schema": {}}', "no text in 'context'"),
        (
            '{"record_id":"r","context":"c","question":"q","json_schema":"{","ground_truth":"1"}',
            "'json_schema' is no JSON",
        ),
        (
            '{"record_id":"r","context":"c","question":"q","json_schema":"{}"}',
            "no 'ground_truth'",
        ),
    ],
)
def test_a_line_that_is_no_record_is_named(
    tmp_path: Path, text: str, expected: str
) -> None:
    """File, line and what is missing, on one line."""
    file = tmp_path / "rows.jsonl"
    file.write_text(text, "utf-8")
    with pytest.raises(BadData, match=expected) as raised:
        _load(file, tmp_path)
    assert "rows.jsonl:1" in str(raised.value)


def test_what_is_not_there_is_told_with_what_could_be(tmp_path: Path) -> None:
    """No such file, a folder without files, a table that is none."""
    with pytest.raises(NoInput, match=r"no such file or folder.*owner/name"):
        _load(tmp_path / "nothing here", tmp_path)
    with pytest.raises(NoInput, match=r"no .parquet or .jsonl file"):
        _load(tmp_path, tmp_path)
    (tmp_path / "x.parquet").write_bytes(b"PAR0")
    with pytest.raises(BadData, match="not readable as parquet"):
        _load(tmp_path / "x.parquet", tmp_path)


def test_the_prompt_shows_context_question_and_schema() -> None:
    """With indent 2."""
    record = _one()
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    shown = msgspec.structs.replace(record, json_schema=schema)
    prompt = prompt_of(suite_record(shown), SobSettings(max_tokens=99))
    system, user = prompt.messages
    assert prompt.budget == 99
    assert "null" in system.content
    assert record.context in user.content
    assert record.question in user.content
    assert '    "a": {\n      "type": "string"\n    }' in user.content
    assert parse(user.content.rpartition(":\n")[2].encode()) is not None


def test_the_schema_may_be_left_out_of_the_prompt() -> None:
    """Then neither message speaks of one."""
    settings = SobSettings(schema_in_prompt=False)
    prompt = prompt_of(suite_record(_one()), settings)
    assert not any("schema" in message.content.lower() for message in prompt.messages)
    assert "companies" not in prompt.messages[0].content


@cache
def _records() -> list[SobRecord]:
    return list(generated_records())


def test_there_are_enough_records_of_every_source_and_form() -> None:
    """All different, a third of each source, of every form that the sample has."""
    records = _records()
    assert len({record.record_id for record in records}) == OWN_RECORDS >= 150
    sources = Counter(record.source for record in records)
    assert sources == {"text": 60, "image": 60, "audio": 60}
    distinct = {canonical(record.json_schema) for record in records}
    assert len(distinct) > 45
    assert len(distinct) >= len(forms("")) * 3 // 4
    lengths = sorted(len(record.context) for record in records)
    assert lengths[0] >= SHORTEST
    assert lengths[len(lengths) // 2] > 1_500
    assert 10_000 < lengths[-1] <= LONGEST
    assert set(Counter(record.question_difficulty for record in records)) == {
        "easy",
        "medium",
        "hard",
    }


def test_a_second_reader_finds_every_leaf() -> None:
    """From text, question and schema alone it writes the truth, leaf by leaf."""
    for record in (*_records(), *generated_records(60, seed=7)):
        assert canonical(read_truth(record)) == canonical(record.ground_truth)


@pytest.mark.parametrize("values", [[-90, 0, 90], ["in::out", "in | out"]])
def test_a_choice_is_told_as_its_type_is(tmp_path: Path, values: list[Json]) -> None:
    """Numbers in digits, and texts in quotation marks, whatever they hold."""
    choices = {f"angle_{place}": {"enum": values} for place in range(8)}
    properties = choices | {"upright": {"enum": [True]}}
    schema = {"type": "object", "properties": properties}
    (tmp_path / "a.json").write_text(json.dumps(schema), "utf-8")
    for record in generated_records(6, schemas=str(tmp_path)):
        assert ("“" in record.context) is isinstance(values[0], str)
        assert canonical(read_truth(record)) == canonical(record.ground_truth)


def test_the_reader_reads_the_text() -> None:
    """A leaf that the text tells otherwise is another leaf in what it reads."""
    changed = sum(
        read_truth(replace(record, context=record.context.replace(" 1", " 2")))
        != record.ground_truth
        for record in _records()[:60]
    )
    assert changed > 20


def test_every_leaf_says_how_it_is_written() -> None:
    """Forms have 8 to 80 leaves, each with its form, and null where it may be."""
    for _, form in forms(""):
        jsonschema.Draft202012Validator.check_schema(form)
        leaves = list(leaf_schemas(form))
        assert FEWEST <= len(leaves) <= MOST
        for what, leaf in leaves:
            assert what
            assert WRITTEN[kind(leaf)] in leaf["description"]
            assert ("null if" in leaf["description"]) == isinstance(leaf["type"], list)


def test_the_truth_is_valid_and_worth_everything_in_both_readings() -> None:
    """But for Type Safety of the code, which knows no null."""
    for record in _records()[:60]:
        jsonschema.validate(record.ground_truth, record.json_schema)
        for rules in (RECOMMENDED, PUBLISHED):
            expected = Expectation.of(
                record.ground_truth, record.json_schema, record.source, rules
            )
            found = score_answer(record.ground_truth, expected).values
            lowered = {metric for metric in Metric if found[metric] < 1}
            assert lowered <= {Metric.TYPE_SAFETY}
            assert not lowered or None in expected.leaves.values()


def test_the_same_arguments_give_the_same_records() -> None:
    """And the first of more are those of fewer; another seed gives others."""
    ids = [record.record_id for record in _records()]
    assert [record.record_id for record in generated_records(30)] == ids[:30]
    assert not {record.record_id for record in generated_records(30, seed=1)} & {*ids}


def test_schemas_that_no_text_can_tell_are_no_input(tmp_path: Path) -> None:
    """It is said what a schema must have."""
    (tmp_path / "a.json").write_text('{"type": "object"}', "utf-8")
    with pytest.raises(NoInput, match="8 to 80 leaves"):
        list(generated_records(1, schemas=str(tmp_path)))


def test_a_schema_of_many_members_that_refer_to_itself_has_no_form() -> None:
    """It is given up, whatever its parts have for parts."""
    members: dict[str, Json] = {f"p{n}": {"$ref": "#"} for n in range(30)}
    assert _form({"type": "object", "properties": members}) is None

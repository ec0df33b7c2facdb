"""Records, published and our own: read from every layout, true to their text."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import msgspec
import pytest

from curation.download.cache import FetchSettings
from curation.json.text import parse
from curation.system.errors import BadData, NoInput
from evaluation.core.records import RecordRequest, Response
from evaluation.runner.records import make_records
from evaluation.runner.request import choose_suite
from evaluation.suites.sob.metrics import Metric, SobSettings, all_leaves
from evaluation.suites.sob.records import (
    PUBLISHED_TOTALS,
    SourceTotal,
    make_prompt,
    measure_complexity,
    response_of_line,
    sample_records,
    sob_record,
    suite_record,
    suite_records,
)
from evaluation.suites.sob.suite import sob_scorer
from tests.publishing import connected
from tests.tables import table

if TYPE_CHECKING:
    from curation.core.json_types import Json
    from evaluation.core.records import RecordSet
    from evaluation.suites.sob.records import SobRecord


def _load(data: Path | None, tmp_path: Path) -> RecordSet:
    fetch = FetchSettings(cache=tmp_path / "cache")
    request = RecordRequest(data=None if data is None else str(data), fetch=fetch)
    return suite_records(request, SobSettings())


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
    return sample_records()[0]


def test_without_data_they_are_the_sample(tmp_path: Path) -> None:
    """Forty records, all different, whole in their fields, sources in turn."""
    found = _load(None, tmp_path)
    assert (found.name, found.origin) == ("sob-sample", "sample written for csbdata")
    assert [*map(sob_record, found.records)] == sample_records()
    assert len({record.id for record in found.records}) == 40
    assert [record.group for record in found.records[:3]] == ["text", "image", "audio"]


#: Records by source and kind, then by source and difficulty of the schema.
_KINDS = {
    "text": {"bridge": 5, "comparison": 4, "timeline": 4},
    "image": {
        "multi_column": 2,
        "tables": 2,
        "headers_footers": 2,
        "old_scans": 2,
        "small_print": 2,
        "math": 2,
        "old_scans_math": 2,
    },
    "audio": {"decision": 5, "figures": 4, "tasks": 4},
}
_LEVELS = {
    "text": {"easy": 4, "medium": 5, "hard": 4},
    "image": {"easy": 4, "medium": 5, "hard": 5},
    "audio": {"easy": 5, "medium": 3, "hard": 5},
}
#: Records with an absent answer, and those without.
_ABSENT = {"text": (7, 6), "image": (8, 6), "audio": (7, 6)}


@pytest.mark.parametrize("source", ["text", "image", "audio"])
def test_the_sample_is_balanced(source: str) -> None:
    """Kinds, difficulties (by the definition too) and absent answers of a source."""
    records = [record for record in sample_records() if record.source == source]
    assert Counter(record.family for record in records) == _KINDS[source]
    levels = [record.schema_complexity for record in records]
    assert Counter(levels) == _LEVELS[source]
    assert levels == [measure_complexity(record.json_schema) for record in records]
    absent = [None in all_leaves(record.ground_truth).values() for record in records]
    assert (sum(absent), len(absent) - sum(absent)) == _ABSENT[source]


@pytest.mark.parametrize(("schema", "level"), table(__file__, "complexities"))
def test_a_schema_is_as_hard_as_it_is_deep(schema: Json, level: str) -> None:
    """Objects and arrays are levels; an array of objects is hard at any level."""
    assert measure_complexity(schema) == level


def test_a_second_reader_gave_the_same_answers() -> None:
    """Whoever wrote them saw context, question and schema, and no truth."""
    path = Path(__file__).with_name("second_reading.jsonl")
    read = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    answers = {answer["id"]: answer["answer"] for answer in read}
    truths = {record.record_id: record.ground_truth for record in sample_records()}
    assert answers == truths


def test_no_answer_of_the_sample_is_copied_from_behind_a_label() -> None:
    """Of all texts, at most 1 in 100 is what follows `Label:` to the next mark."""
    texts = 0
    copied = []
    for record in sample_records():
        values = re.findall(r"\w:[ \t]+([^\n\[.,;|]*)", record.context)
        labelled = {value.strip().lower() for value in values}
        for leaf in all_leaves(record.ground_truth).values():
            if isinstance(leaf, str):
                texts += 1
                copied += [leaf] * (leaf.lower() in labelled)
    assert texts > 150
    assert len(copied) <= texts / 100, copied


@pytest.mark.parametrize(
    ("splits", "expected"),
    [((), 4), (("test",), 2), (("train", "validation"), 6), (("dev",), None)],
)
def test_splits_of_the_published_layout_are_selected_or_refused(
    splits: tuple[str, ...], expected: int | None, tmp_path: Path
) -> None:
    """By default the test split of a source that has one, otherwise all of it."""
    files = {"data/test-0": 2, "data/train-0": 3, "data/validation-0": 1}
    for name, count in {**files, "image/train-0": 2}.items():
        rows = [_row(_one(), record_id=f"{name}{it}") for it in range(count)]
        path = tmp_path / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    fetch = FetchSettings(cache=tmp_path / "cache")
    request = RecordRequest(data=str(tmp_path), fetch=fetch, splits=splits)
    if expected is None:
        with pytest.raises(NoInput, match="no record of --split dev"):
            make_records(choose_suite("sob"), request)
    else:
        assert len(make_records(choose_suite("sob"), request).records) == expected


def test_counts_that_differ_from_the_published_ones_are_in_the_origin(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of the published data alone, and not where splits are chosen."""
    rows = [_row(_one(), record_id=f"r{number}") for number in range(2)]
    content = "\n".join(map(json.dumps, rows)).encode()
    fetch = FetchSettings(cache=tmp_path / "cache")
    with connected(monkeypatch, tmp_path / "home") as connection:
        connection.hub.store.put("interfaze-ai/sob", {"data/test-0.jsonl": content})
        request = RecordRequest(data="interfaze-ai/sob", fetch=fetch)
        origin = suite_records(request, SobSettings()).origin
        monkeypatch.setitem(PUBLISHED_TOTALS, "text", SourceTotal(2, 4.0))
        assert "text" not in suite_records(request, SobSettings()).origin
        split = replace(request, splits=("test",))
        assert suite_records(split, SobSettings()).origin == "hub"
    counts = "2 text for 5,000 published, 0 image for 209 published"
    assert origin == f"hub, {counts}, 0 audio for 115 published"


@pytest.mark.parametrize(
    ("name", "more", "expected"),
    [
        ("test.jsonl", {}, "text"),
        ("test.jsonl", {"meeting_id": "EN2001a", "num_speakers": 5}, "audio"),
        ("test.jsonl", {"source_category": "Tables"}, "image"),
        ("image-train.jsonl", {}, "image"),
        ("audio/train.jsonl", {}, "audio"),
        ("audio/claudio/imagenet.jsonl", {}, "text"),
    ],
)
def test_a_published_row_has_the_source_of_its_columns_or_file(
    tmp_path: Path, name: str, more: dict[str, Any], expected: str
) -> None:
    """Columns that one source alone has decide, then the name."""
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(_row(_one(), **more)), "utf-8")
    found = _load(file, tmp_path)
    assert found.origin == "file"
    (record,) = found.records
    assert record.group == expected
    own = sob_record(record)
    assert own.category == more.get("source_category", "")
    assert own.ground_truth == _one().ground_truth
    assert own.json_schema == _one().json_schema


def test_parquet_files_of_a_folder_are_read(tmp_path: Path) -> None:
    """As the Hub has them: a folder with a file a config."""
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    rows = [_row(record, meeting_id="m") for record in sample_records()[:3]]
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
    candidate: Any,  # noqa: ANN401 (JSON)
    text: str | None,
) -> None:
    """A stored string was not parsed, and is not parsed again; other lines are none."""
    line: Any = {
        "metadata": {"record_id": "r", "model_id": None},
        "output": {"candidate_response": candidate},
    }
    response = response_of_line(line)
    assert response is not None
    assert (response.model, response.text) == ("model", text)
    assert bool(response.error) is (text is None)
    assert response_of_line({"record": "r", "text": "{}"}) is None
    assert response_of_line({"metadata": {}, "output": {}}) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    table(__file__, "no_records"),
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
    prompt = make_prompt(suite_record(shown), SobSettings(max_tokens=99))
    system, user = prompt.messages
    assert prompt.budget == 99
    assert "null" in system.content
    assert record.context in user.content
    assert record.question in user.content
    assert '    "a": {\n      "type": "string"\n    }' in user.content
    assert parse(user.content.rpartition(":\n")[2].encode()) is not None


def test_the_truth_is_valid_and_worth_everything_in_both_readings() -> None:
    """But for Type Safety of the code, which knows no null."""
    for record in sample_records():
        validator = jsonschema.Draft202012Validator(
            record.json_schema, format_checker=jsonschema.FormatChecker(["date"])
        )
        validator.validate(record.ground_truth)
        for rules in (SobSettings(), SobSettings(reading="paper")):
            answer = Response(record="r", text=json.dumps(record.ground_truth))
            found = sob_scorer(rules)(suite_record(record))(answer).scores
            lowered = {metric for metric in Metric if found[metric] < 1}
            assert lowered <= {Metric.TYPE_SAFETY}
            leaves = all_leaves(record.ground_truth)
            assert not lowered or None in leaves.values()

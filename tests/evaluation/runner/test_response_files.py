"""Records and responses are read from files, and find each other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from curation.download.cache import FetchSettings
from curation.system.errors import BadData, BadUsage, NoInput
from evaluation.core.records import (
    FREE,
    Instance,
    Record,
    RecordRequest,
    Response,
    encode_records,
)
from evaluation.runner.records import make_records, read_records
from evaluation.runner.request import ModelOptions, RunRequest, choose_suite
from evaluation.runner.response_files import (
    encode_responses,
    parse_response,
    read_responses,
)
from evaluation.runner.run import run, score_file
from evaluation.runner.scoring import match_responses

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson


def _write(tmp_path: Path, *lines: UntypedJson, name: str = "r.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


def test_lines_of_ours_come_back_as_they_were_written(tmp_path: Path) -> None:
    """Nothing is lost between a run and the file of its responses."""
    response = Response(
        record="a/b", model="m", text='{"ä": "\\n"}', reasoning="r", cost=0.5, repeat=2
    )
    path = tmp_path / "r.jsonl"
    path.write_bytes(encode_responses([response]))
    assert read_responses(path).responses == [response]


def test_lines_that_are_no_responses_have_one_line_each(tmp_path: Path) -> None:
    """The others are read; blank lines are nothing."""
    path = tmp_path / "r.jsonl"
    lines = [
        b'{"record": "a", "text": "{}"}',
        b"",
        b"not json",
        b'{"text": "{}"}',
        b'{"record": "b", "text": 7}',
        b"[1, 2]",
        b'{"record": "c", "text": "\xff"}',
        b"[" * 5000,
        b'{"record": "d", "text": null}',
    ]
    path.write_bytes(b"\n".join(lines))
    found = read_responses(path)
    assert [one.record for one in found.responses] == ["a", "c", "d"]
    assert found.responses[1].text == "\\udcff"
    places = [line.partition(": no response")[0] for line in found.problems]
    assert places == [f"r.jsonl:{number}" for number in (3, 4, 5, 6, 8)]


def test_half_a_surrogate_pair_becomes_its_escape() -> None:
    """Within a JSON string it means the same, and every process can be handed it."""
    found = parse_response(b'{"record": "a", "text": "{\\"x\\": \\"\\ud800\\"}"}')
    assert found.text == '{"x": "\\ud800"}'
    assert (found.model, found.condition) == ("model", "free")
    assert (found.repeat, found.attempt) == (0, 0)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"hello\n", b"\x00\x01"])
def test_a_file_without_a_response_is_refused(tmp_path: Path, content: bytes) -> None:
    """The message shows what a line must have."""
    path = tmp_path / "r.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadData, match='at least "record" and "text"'):
        read_responses(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """So is a folder that is no run's."""
    with pytest.raises(NoInput, match="nothing"):
        read_responses(tmp_path / "nothing.jsonl")
    with pytest.raises(NoInput, match="directory"):
        read_responses(tmp_path)
    with pytest.raises(NoInput, match="nothing"):
        read_records(tmp_path / "nothing.jsonl")


_FULL = Record(
    id="a",
    group="g",
    split="test",
    schema='{"const": 1.0}',
    dialect="draft-07",
    instances=(Instance(text="1.0", valid=True, kind="witness"),),
    features=("const",),
    weight=0.5,
    fields={"question": "1 + 1?"},
)


_COLUMNS = ["id", "group", "schema", "dialect", "fields"]


@pytest.mark.parametrize(
    ("record", "columns"),
    [(Record(id="a"), _COLUMNS), (_FULL, list(Record.__struct_fields__))],
)
def test_a_record_comes_back_as_it_was_written(
    tmp_path: Path, record: Record, columns: list[str]
) -> None:
    """Numbers of a schema keep their spelling; empty columns are left out."""
    file = tmp_path / "records.jsonl"
    file.write_bytes(encode_records([record]))
    assert list(json.loads(file.read_bytes())) == columns
    assert read_records(file) == [record]


def test_a_file_is_of_another_layout_or_has_a_broken_record(tmp_path: Path) -> None:
    """The suite reads what is no record from the first line on; later ones are told."""
    file = tmp_path / "records.jsonl"
    request = RecordRequest(data=str(file), fetch=FetchSettings(cache=tmp_path))
    file.write_bytes(encode_records([Record(id="a")]) + b"{\n")
    with pytest.raises(BadData, match="no record") as caught:
        make_records(choose_suite("passrate"), request)
    assert caught.value.where == f"{file}:2"
    file.write_text('{"type": "object"}\n')
    assert len(make_records(choose_suite("passrate"), request).records) == 1
    file.write_bytes(encode_records([Record(id="a"), Record(id="a")]))
    with pytest.raises(BadData, match="two records are called"):
        make_records(choose_suite("passrate"), request)
    file.write_bytes(b"\n")
    with pytest.raises(NoInput, match="no records"):
        make_records(choose_suite("passrate"), request)


def test_answers_to_another_suite_are_refused_as_a_whole(tmp_path: Path) -> None:
    """Nothing was scored: one line says so, no folder is left, the exit code is 65."""
    file = _write(tmp_path, {"record": "text/s1", "text": "{}"})
    folder = tmp_path / "run"
    request = RunRequest(suite=choose_suite("ifstruct"), limit=3, run_dir=folder)
    with pytest.raises(BadData, match="none of its responses") as caught:
        score_file(request, file)
    assert (caught.value.exit_code, folder.exists()) == (65, False)


def test_records_of_a_file_are_chosen_by_split(tmp_path: Path) -> None:
    """As those of a build are; a record without a split is in none."""
    file = tmp_path / "records.jsonl"
    splits = {"a": "test", "b": "train", "c": "test", "d": ""}
    made = [Record(id=name, split=split) for name, split in splits.items()]
    file.write_bytes(encode_records(made))
    fetch = FetchSettings(cache=tmp_path / "cache")
    request = RecordRequest(data=str(file), fetch=fetch, splits=("test",))
    found = make_records(choose_suite("passrate"), request)
    assert [record.id for record in found.records] == ["a", "c"]


def test_a_record_without_a_schema_is_asked_free_alone() -> None:
    """No engine has anything to constrain; a schema is asked under every condition."""
    bare = Record(id="a")
    assert (bare.is_asked(FREE), bare.is_asked("llguidance")) == (True, False)
    assert bare.constraint == "true"
    assert _FULL.is_asked("llguidance")


def test_a_suite_is_named_to_score_with_and_a_task_or_suite_to_run(
    tmp_path: Path,
) -> None:
    """Without one there is nothing to do, and nothing is written."""
    with pytest.raises(BadUsage, match="no suite is named"):
        score_file(RunRequest(), tmp_path / "answers.jsonl")
    with pytest.raises(BadUsage, match="neither a task nor a suite"):
        run(RunRequest(tasks=(), engines=["none"], run_dir=tmp_path / "run"))
    served = ModelOptions(model="http://localhost:1/v1#m")
    with pytest.raises(BadUsage, match="a server gives no masks"):
        run(RunRequest(tasks=("masks",), models=[served]))
    with pytest.raises(BadUsage, match="there is only paper"):
        choose_suite("passrate", compat="other")
    assert choose_suite("passrate", compat="paper").compat == "paper"
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["concodeeval", "ifstruct", "quality", "sob"])
def test_records_of_another_suite_are_bad_data(tmp_path: Path, name: str) -> None:
    """They are refused where they are read, before a scorer or a page meets them."""
    (tmp_path / "records.jsonl").write_bytes(encode_records([Record(id="a")]))
    file = tmp_path / "answers.jsonl"
    file.write_text('{"record": "a", "text": "{}"}\n')
    with pytest.raises(BadData, match=f"no record of suite {name}"):
        score_file(RunRequest(suite=choose_suite(name)), file)


def _response(record: str, text: str = "{}", **more: object) -> Response:
    return Response(record=record, text=text, **more)  # type: ignore[arg-type] # as named


_RECORDS = [
    Record(id="1", group="a"),
    Record(id="1", group="b"),
    Record(id="2", group="b"),
]


def test_a_record_is_named_by_key_or_by_an_id_that_only_one_has() -> None:
    """An id of two records names neither."""
    pairs, problems = match_responses(
        _RECORDS, [_response("2"), _response("a/1"), _response("1")]
    )
    assert [record.key for record, _ in pairs] == ["a/1", "b/2"]
    assert problems == [
        "1 response for no record of this set: 1",
        "model free has not answered 1 of 3 records",
    ]


def test_of_two_responses_to_one_record_the_first_counts() -> None:
    """Others are those of another model, condition, repeat or attempt."""
    pairs, problems = match_responses(
        _RECORDS,
        [
            _response("a/1", "first"),
            _response("a/1", "second"),
            _response("a/1", "again", repeat=1),
            _response("a/1", "mended", attempt=1),
            _response("a/1", "held", condition="llguidance"),
            _response("a/1", "other", model="other"),
        ],
    )
    texts = [response.text for _, response in pairs]
    assert texts == ["first", "mended", "again", "held", "other"]
    words = "1 response for what was answered already; the first one counts: a/1"
    assert problems[0] == f"{words} (model free)"


def test_records_without_any_response_are_counted_for_every_model() -> None:
    """A model that answered two of three is no model that answered all it was asked."""
    _, problems = match_responses(
        _RECORDS, [_response("2"), *(_response(r.key, model="x") for r in _RECORDS)]
    )
    assert problems == ["model free has not answered 2 of 3 records"]


def test_a_record_without_a_schema_is_missed_free_alone() -> None:
    """Under an engine there is nothing to hold an answer to, and nothing is missing."""
    held = Record(id="3", group="b", schema="{}")
    answers = [_response("b/3", condition="llguidance"), _response("a/1")]
    _, problems = match_responses([*_RECORDS, held], answers)
    assert problems == ["model free has not answered 3 of 4 records"]
    odd = match_responses(_RECORDS, [_response("a/1", condition="llguidance")])
    assert not odd[1]


def test_trouble_with_many_responses_is_one_line() -> None:
    """The first five are named, the rest counted."""
    _, problems = match_responses(_RECORDS, [_response(f"z{n}") for n in range(2000)])
    assert problems == [
        "2,000 responses for no record of this set: z0, z1, z2, z3, z4 and 1,995 more"
    ]

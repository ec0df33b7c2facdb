"""Files of records: their columns, and what comes back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import FetchSettings
from curation.system.errors import BadData
from evaluation.asking.records import read_records, records_of
from evaluation.asking.request import RunRequest, choose_suite
from evaluation.asking.run import score_file
from evaluation.core.records import FREE, Instance, Record, encode_records
from evaluation.core.suite import RecordRequest

if TYPE_CHECKING:
    from pathlib import Path

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


def test_a_line_has_the_columns_of_data_only_where_they_say_something() -> None:
    """A record of a suite has five columns, one of a build those that are not empty."""
    columns = ["id", "group", "schema", "dialect", "fields"]
    assert list(json.loads(encode_records([Record(id="a")]))) == columns
    assert list(json.loads(encode_records([_FULL]))) == list(Record.__struct_fields__)


@pytest.mark.parametrize("record", [Record(id="a"), _FULL])
def test_a_record_comes_back_as_it_was_written(tmp_path: Path, record: Record) -> None:
    """Numbers of a schema keep their spelling, and instances are among what is read."""
    file = tmp_path / "records.jsonl"
    file.write_bytes(encode_records([record]))
    assert read_records(file) == [record]


def test_records_of_a_file_are_chosen_by_split(tmp_path: Path) -> None:
    """As those of a build are; a record without a split is in none."""
    file = tmp_path / "records.jsonl"
    splits = {"a": "test", "b": "train", "c": "test", "d": ""}
    made = [Record(id=name, split=split) for name, split in splits.items()]
    file.write_bytes(encode_records(made))
    fetch = FetchSettings(cache=tmp_path / "cache")
    request = RecordRequest(data=str(file), fetch=fetch, splits=("test",))
    found = records_of(choose_suite("passrate"), request)
    assert [record.id for record in found.records] == ["a", "c"]


def test_a_record_without_a_schema_is_asked_free_alone() -> None:
    """No engine has anything to constrain; a schema is asked under every condition."""
    bare = Record(id="a")
    assert (bare.is_asked(FREE), bare.is_asked("llguidance")) == (True, False)
    assert bare.constraint == "true"
    assert _FULL.is_asked("llguidance")


@pytest.mark.parametrize("name", ["concodeeval", "ifstruct", "quality", "sob"])
def test_records_of_another_suite_are_bad_data(tmp_path: Path, name: str) -> None:
    """They are refused where they are read, before a scorer or a page meets them."""
    (tmp_path / "records.jsonl").write_bytes(encode_records([Record(id="a")]))
    file = tmp_path / "answers.jsonl"
    file.write_text('{"record": "a", "text": "{}"}\n')
    with pytest.raises(BadData, match=f"no record of suite {name}"):
        score_file(RunRequest(suite=choose_suite(name)), file)

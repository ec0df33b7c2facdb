"""A table of schemas of one's own, and schemas that are none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from curation.download.acquire import FetchSettings
from curation.sources.local import json_lines, made_unique
from curation.system.errors import BadData, NoInput
from curation.system.progress import Quiet
from evaluation.data import open_data
from evaluation.data.own_schemas import complaint_about

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from evaluation.data import Dataset

_OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}
_MASKBENCH = {"schema": _OBJECT, "tests": [{"valid": True, "data": {"a": "x"}}]}


class _Told(Quiet):
    """Progress that remembers."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, message: str) -> None:
        self.lines.append(message)


def _opened(path: Path, told: _Told | None = None) -> Dataset:
    settings = FetchSettings(mirror=None, cache=path.parent / "cache", offline=True)
    return open_data(str(path), settings=settings, instances=False, progress=told)


def _lines(folder: Path, *rows: UntypedJson) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def test_each_line_is_a_schema_a_row_or_a_file_of_maskbench(tmp_path: Path) -> None:
    """Rows have their own ids, schemas their line's; tests come along."""
    path = _lines(
        tmp_path,
        _OBJECT,
        {"json_schema": json.dumps(_OBJECT), "unique_id": "named"},
        {"json_schema": _OBJECT, "unique_id": "named"},
        _MASKBENCH,
        {},
    )
    data = _opened(path)
    samples = list(data.records())
    assert [sample.group for sample in samples] == ["mine"] * 5
    ids = [sample.id for sample in samples]
    assert ids[:2] == ["mine-1", "named"]
    assert ids[2].startswith("named-")
    assert len(set(ids)) == 5
    assert [len(sample.instances) for sample in samples] == [0, 0, 0, 1, 0]
    assert json.loads(samples[1].constraint) == _OBJECT
    assert (data.count, data.origin) == (5, "files")
    names = [name for _, name, _ in made_unique(json_lines(path.read_bytes()), "mine")]
    assert ids == names


def test_a_parquet_file_of_ones_own_is_read_in_the_same_way(tmp_path: Path) -> None:
    """Columns `unique_id` and `json_schema`, in one file instead of a folder."""
    path = tmp_path / "mine.parquet"
    texts = [json.dumps(_OBJECT), "{"]
    pl.DataFrame({"unique_id": ["a", "b"], "json_schema": texts}).write_parquet(path)
    data = _opened(path)
    assert [sample.id for sample in data.records()] == ["a"]
    assert data.left_out[0].startswith("row 2: not a JSON text")


def test_what_is_no_schema_is_left_out_with_its_row(tmp_path: Path) -> None:
    """Broken lines and schemas of no draft are said, and are in no denominator."""
    path = _lines(tmp_path, _OBJECT, 7, {"type": "strin"})
    with path.open("ab") as file:
        file.write(b"{broken\n\n")
    told = _Told()
    data = _opened(path, told)
    assert data.count == 1
    assert [line.partition(":")[0] for line in data.left_out] == [
        "row 2", "row 3", "row 4",
    ]  # fmt: skip
    assert "not valid under 2020-12: /type" in data.left_out[1]
    assert told.lines[:3] == [f"left out: {line}" for line in data.left_out]
    assert data.header()["left_out"] == 3


def test_a_file_without_any_schema_ends_the_command(tmp_path: Path) -> None:
    """One line says what is wrong with the first row."""
    with pytest.raises(BadData, match=r"no row is a schema: row 1: a JSON Schema is"):
        _opened(_lines(tmp_path, 7, "x"))
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(NoInput, match="no schema in it"):
        _opened(tmp_path / "empty.jsonl")


def test_an_invalid_schema_in_a_folder_counts_against_nobody(tmp_path: Path) -> None:
    """It is left out with one line; alone it ends the command."""
    folder = tmp_path / "schemas"
    folder.mkdir()
    (folder / "good.json").write_text(json.dumps(_OBJECT))
    (folder / "odd.json").write_text('{"type": "strin"}')
    told = _Told()
    data = _opened(folder, told)
    assert [sample.id for sample in data.records()] == ["good"]
    assert told.lines[0].startswith("left out: odd.json: not valid under 2020-12")
    with pytest.raises(BadData, match="not valid under 2020-12"):
        _opened(folder / "odd.json")


def test_an_invalid_schema_with_tests_stays_and_is_said(tmp_path: Path) -> None:
    """MaskBench asks it too: its figures would not be MaskBench's without it."""
    odd = {**_MASKBENCH, "schema": {"type": "strin"}}
    (tmp_path / "odd.json").write_text(json.dumps(odd))
    (tmp_path / "good.json").write_text(json.dumps(_MASKBENCH))
    told = _Told()
    data = _opened(tmp_path, told)
    assert data.count == 2
    assert data.header()["invalid"] == 1
    assert told.lines[0].startswith("invalid, and counted all the same: odd.json: ")


@pytest.mark.parametrize(
    ("schema", "bad"),
    [
        (True, False),
        ({}, False),
        ({"type": "object", "required": True}, True),
        ({"properties": {"a": {"required": True}}}, True),
        ({"exclusiveMinimum": True, "minimum": 1}, False),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "minLength": "1"},
            True,
        ),
        ({"$schema": "https://example.test/mine", "minLength": "1"}, False),
        (
            {"$schema": "http://json-schema.org/draft-03/schema#", "divisibleBy": 2},
            False,
        ),
        ({"$schema": 5}, False),
        ({"$ref": "#/gone"}, False),
    ],
)
def test_a_schema_is_judged_by_the_draft_that_it_declares(
    schema: UntypedJson,
    bad: bool,  # noqa: FBT001 (a parameter of the test)
) -> None:
    """One that declares none needs one draft; an unknown dialect is not judged."""
    assert bool(complaint_about(schema)) is bad

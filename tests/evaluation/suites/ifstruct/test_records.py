"""The record format: both published variants, and ours."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

from curation.download.acquire import FetchSettings
from curation.system.errors import BadData, NoInput
from evaluation.asking.records import records_of
from evaluation.asking.request import choose_suite
from evaluation.core.suite import RecordRequest
from evaluation.suites.common import json_rows
from evaluation.suites.ifstruct.rows import Fence, FenceWish
from evaluation.suites.ifstruct.suite import (
    read_rows,
)
from tests.publishing import connected

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import Json

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
    [
        ({"json_schema": "{"}, "`json_schema` is no JSON text"),
        ({"seed": None}, "`seed`"),
        ({"prompt": None}, "`prompt`"),
        ({"output_format": "xml"}, "xml"),
        ({"top_level_count": [3, 2]}, "no range"),
        ({"top_level_count": -1}, "no range"),
        ({"require_wrapper_key": True}, "names none"),
        ({"fence": "sometimes"}, "sometimes"),
        ({"fence": "forbidden:json"}, "only a required fence"),
    ],
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

"""Instances are judged again: no label is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from curation.instances.dataset.parquet import COLUMNS
from curation.verification import verify_folder
from curation.verification.check import CheckItem
from curation.verification.labels import LABELS, GroupFaults
from tests.curation.verification.spoiling import rewrite, said_by

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_TABLE = "instances/Github_easy/train-00000-of-00001.pq"


def _spoil(folder: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    rewrite(folder / _TABLE, change, COLUMNS)


def _set(folder: Path, column: str, value: object, *, valid: bool) -> str:
    """Set a cell of the first instance that is valid, or is not; return its record."""
    rows = pl.read_parquet(folder / _TABLE)
    row = rows["valid"].to_list().index(valid)
    chosen = pl.int_range(pl.len()) == row
    cell = pl.when(chosen).then(pl.lit(value)).otherwise(pl.col(column))
    _spoil(folder, lambda table: table.with_columns(cell.alias(column)))
    return str(rows["unique_id"][row])


def _wrong(folder: Path) -> list[tuple[str, str]]:
    """Judge every instance of the table; return records and what is wrong."""
    judged = LABELS.work(folder, CheckItem(where=_TABLE, group=0, whole=True))
    assert isinstance(judged, GroupFaults)
    return judged.wrong


@pytest.mark.slow
def test_every_instance_of_a_build_is_as_labelled(sample_build: Path) -> None:
    """All are judged and made again, and none differs; a sample is some of each."""
    paths = list(sample_build.glob("instances/*/*.pq"))
    rows = sum(len(pl.read_parquet(path)) for path in paths)
    found = verify_folder(sample_build, checks=[LABELS], whole=True)
    assert found.failures == ()
    assert found.counted == {"records made again": 307, "instances judged": rows}
    some = verify_folder(sample_build, checks=[LABELS]).counted
    tables = len(paths)
    assert tables < some["instances judged"] < rows
    assert tables < some["records made again"] < 307


def test_a_nonce_draws_the_sample(folder: Path) -> None:
    """Another one draws others; whoever edits a folder cannot know which."""
    _spoil(folder, lambda table: table.with_columns(~pl.col("valid")))

    def wrong(nonce: str) -> list[tuple[str, str]]:
        item = CheckItem(where=_TABLE, group=0, nonce=nonce)
        judged = LABELS.work(folder, item)
        assert isinstance(judged, GroupFaults)
        return judged.wrong

    assert wrong("a") == wrong("a")
    assert wrong("a") != wrong("b")


@pytest.mark.slow
def test_inverted_labels_are_seen_by_the_sample(folder: Path) -> None:
    """`valid` turned round in one table: each instance that is drawn says so."""
    _spoil(folder, lambda table: table.with_columns(~pl.col("valid")))
    listed = [line for line in said_by(LABELS, folder) if "valid is" in line]
    assert len(listed) > 10
    assert all("Github_easy" in line for line in listed)


def test_one_changed_text_is_found_when_all_are_judged(folder: Path) -> None:
    """With its record, its number and what the validator says."""
    record = _set(folder, "text", "[[[7]]]", valid=True)
    ((where, fault),) = _wrong(folder)
    assert where == record
    assert fault.startswith("instance ")
    assert "valid is true, but jsonschema-rs refuses it" in fault


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("keyword", "uniqueItems"),
        ("keyword", ""),
        ("schema_pointer", "/properties/zzz"),
        ("instance_pointer", "/zzz"),
    ],
)
def test_a_near_miss_names_the_keyword_that_refuses_it(
    folder: Path, column: str, value: str
) -> None:
    """Keyword and both places are derived again."""
    _set(folder, column, value, valid=False)
    ((_, line),) = _wrong(folder)
    assert " at " in line


def test_an_accepted_instance_has_no_keyword(folder: Path) -> None:
    """Nothing refuses it, so nothing is named."""
    _set(folder, "keyword", "type", valid=True)
    ((_, line),) = _wrong(folder)
    assert "but it is none" in line


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (
            '{"jsonschema_rs": [true, true], "jsonschema": [false, true]}',
            "not those of",
        ),
        (
            '{"jsonschema_rs": [true, false], "jsonschema": [null, null]}',
            "not those of",
        ),
        ("[]", "verdicts cannot be read"),
        ('{"jsonschema_rs": "yes"}', "verdicts cannot be read"),
    ],
)
def test_verdicts_are_those_of_the_validators(
    folder: Path, value: str, said: str
) -> None:
    """Each validator, with formats and without; what was not asked stays open."""
    _set(folder, "verdicts", value, valid=True)
    ((_, line),) = _wrong(folder)
    assert said in line


def test_a_text_that_is_no_json_and_an_instance_of_no_record(folder: Path) -> None:
    """Each is one line, and the others are judged all the same."""
    record = _set(folder, "text", "{", valid=True)
    ((where, fault),) = _wrong(folder)
    assert where == record
    assert "cannot be judged" in fault
    _set(folder, "unique_id", "nobody", valid=False)
    assert ("nobody", "no such record") in _wrong(folder)

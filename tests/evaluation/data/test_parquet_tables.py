"""Builds and the Hub's folders: records with their instances, chosen and in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.download.acquire import FetchSettings
from curation.system.errors import BadConfiguration, BadData, NoInput
from evaluation.core.records import Instance
from evaluation.data import RecordSelection, open_data
from tests.evaluation.data.written_tables import SCHEMA, record, write, write_tables

if TYPE_CHECKING:
    from pathlib import Path

    from evaluation.data import Dataset

CONFIGS = {
    "Snowplow": {"train": ["s1", "bare2"], "test": ["s3"]},
    "Github_easy": {"val": [f"g{number}" for number in range(200)]},
}


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A folder of two configs with instances."""
    return write_tables(tmp_path / "build", CONFIGS)


def _ids(data: Dataset) -> list[str]:
    return [each.id for each in data.records()]


def _open(where: Path, choice: RecordSelection | None = None) -> Dataset:
    settings = FetchSettings(mirror=None, cache=where.parent / "cache")
    return open_data(str(where), selection=choice, settings=settings)


def test_a_build_is_read_in_its_order_as_often_as_asked(build: Path) -> None:
    """Every record comes with its instances; a second walk gives the same."""
    data = _open(build)
    first = list(data.records())
    assert list(data.records()) == first
    assert [each.group for each in first[:200]] == ["Github_easy"] * 200
    assert [each.id for each in first[200:]] == ["s3", "s1", "bare2"]
    assert (data.count, data.instances, data.origin) == (203, "given", "build")
    sample = first[0]
    assert (sample.schema, sample.dialect) == (SCHEMA, "draft-07")
    assert (sample.split, sample.features) == ("val", ("required",))
    assert sample.instances == (
        Instance(text='{"a": 2}', valid=True, kind="minimal"),
        Instance(
            text="{}",
            valid=False,
            kind="near_miss",
            keyword="required",
            schema_pointer="/required",
        ),
    )
    assert first[-1].instances == ()


def test_vacuous_records_count_if_they_are_asked_for(tmp_path: Path) -> None:
    """They are left out and counted, unless a setting or an id names them."""
    rows = [
        {**record("a"), "vacuous": True, "weight": 0.5},
        {**record("b"), "vacuous": False, "weight": 0.25},
    ]
    build = write_tables(tmp_path / "build", {"Snowplow": {"test": ["a", "b"]}})
    write(build / "Snowplow/test-00000-of-00001.parquet", rows)
    default = _open(build)
    assert (_ids(default), default.vacuous) == (["b"], 1)
    assert default.header()["vacuous"] == 1
    assert [each.weight for each in default.records()] == [0.25]
    every = _open(build, RecordSelection(vacuous=True))
    assert (_ids(every), every.vacuous) == (["a", "b"], 0)
    assert _ids(_open(build, RecordSelection(ids=frozenset({"a"})))) == ["a"]
    write(build / "Snowplow/test-00000-of-00001.parquet", rows[:1])
    with pytest.raises(NoInput, match="but for 1 vacuous"):
        _open(build)


def test_configs_splits_ids_and_a_limit_choose(build: Path) -> None:
    """Each choice keeps the order, and a limit gives every config its share."""
    assert _ids(_open(build, RecordSelection(configs=("Snowplow",)))) == [
        "s3",
        "s1",
        "bare2",
    ]
    assert _ids(_open(build, RecordSelection(splits=("test", "train")))) == [
        "s3",
        "s1",
        "bare2",
    ]
    assert _ids(
        _open(build, RecordSelection(ids=frozenset({"Snowplow/s1", "g7"})))
    ) == ["g7", "s1"]
    small, large = (_open(build, RecordSelection(limit=limit)) for limit in (20, 60))
    assert (small.count, large.count) == (20, 60)
    assert [each.group for each in small.records()].count("Snowplow") == 1
    assert set(_ids(small)) < set(_ids(large))
    assert _ids(_open(build, RecordSelection(limit=20))) == _ids(small)
    assert _ids(_open(build, RecordSelection(limit=20, seed=1))) != _ids(small)
    assert all(each.instances for each in small.records() if each.id != "bare2")


def test_the_digest_is_that_of_the_content(build: Path, tmp_path: Path) -> None:
    """The same files elsewhere have it too; one byte of an instance changes it."""
    again = write_tables(tmp_path / "other", CONFIGS)
    assert _open(again).sha256 == _open(build).sha256
    write_tables(again, {"Snowplow": {"test": ["s4"]}})
    assert _open(again).sha256 != _open(build).sha256


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (
            RecordSelection(configs=("Snowplough",)),
            "no config Snowplough: there are: Github_easy",
        ),
        (RecordSelection(splits=("dev",)), "no split dev: there are: val, test, train"),
    ],
)
def test_what_does_not_exist_is_said(
    build: Path, choice: RecordSelection, said: str
) -> None:
    """A config or a split that is not there is named, with those that are."""
    with pytest.raises(NoInput, match=said):
        _open(build, choice)


def test_nothing_chosen_is_said(build: Path) -> None:
    """An id that is nobody's is no empty run."""
    with pytest.raises(NoInput, match="no schema in it is nobody"):
        _open(build, RecordSelection(ids=frozenset({"nobody"})))


def test_instances_in_another_order_are_refused(build: Path) -> None:
    """Instances that cannot be told to their records are no instances."""
    rows = [
        {"unique_id": name, "text": "{}", "valid": True, "kind": "full"}
        | {"keyword": "", "schema_pointer": ""}
        for name in ("bare2", "s1")
    ]
    write(build / "instances/Snowplow/train-00000-of-00001.pq", rows)
    with pytest.raises(BadData, match="'s1' stand where it does not"):
        list(_open(build).records())


def test_a_table_without_schemas_is_refused(build: Path) -> None:
    """A missing column is named with its file."""
    path = build / "Snowplow" / "test-00000-of-00001.parquet"
    write(path, [{"unique_id": "s3"}])
    with pytest.raises(BadConfiguration, match="no column json_schema"):
        list(_open(build).records())
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(BadData, match="not readable as parquet"):
        _open(build)


@pytest.mark.parametrize("column", ["json_schema", "unique_id"])
def test_a_row_without_a_schema_or_a_name_is_refused(build: Path, column: str) -> None:
    """An empty cell is no schema, and no record is found by it."""
    rows = [record("s3"), {**record("s4"), column: None}]
    write(build / "Snowplow" / "test-00000-of-00001.parquet", rows)
    with pytest.raises(BadData, match="a row without json_schema or unique_id"):
        list(_open(build).records())


def test_records_without_instances_get_some(tmp_path: Path) -> None:
    """A build without instances is measured with instances made now, and says so."""
    folder = write_tables(tmp_path / "b", {"A": {"test": ["x", "y"]}}, instances=False)
    data = _open(folder)
    found = list(data.records())
    assert data.instances == "made"
    assert found[0].instances == found[1].instances
    assert {each.valid for each in found[0].instances} == {True, False}

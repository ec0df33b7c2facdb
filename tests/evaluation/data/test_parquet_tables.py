"""Builds and datasets of the Hub: which records, how many, and what is said of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.benchmark import CONFIGS, instances_folder
from curation.dataset.parquet import file_name
from curation.download.cache import FetchSettings
from curation.system.errors import (
    BadConfiguration,
    BadData,
    NoInput,
    NotPermitted,
    Unavailable,
)
from curation.system.progress import Quiet
from evaluation import data as data_module
from evaluation.core.records import Instance, RecordSelection
from evaluation.data import PUBLISHED, built_sample, open_data
from evaluation.data.parquet_tables import ParquetTables
from evaluation.data.sampling import draw

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from curation.core.json_types import UntypedJson
    from evaluation.data import Dataset
    from tests.fake_hub import FakeHub


SCHEMA = (
    '{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}'
)


def write_tables(
    folder: Path,
    configs: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    instances: bool = True,
) -> Path:
    """Write schemas of these ids by config and split, with two instances each.

    An id that begins with `bare` has none.
    """
    for config, splits in configs.items():
        for split, ids in splits.items():
            rows = [record(each) for each in ids]
            write(folder / config / f"{split}-00000-of-00001.parquet", rows)
            if instances:
                given = [row for each in ids for row in _instances(each)]
                write(folder / file_name(instances_folder(config), split), given)
    return folder


def write(path: Path, rows: Sequence[UntypedJson]) -> None:
    """Write rows as a parquet file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)


def record(name: str) -> UntypedJson:
    """Return the row of a schema of this id."""
    return {
        "json_schema": SCHEMA,
        "unique_id": name,
        "dialect": "draft-07",
        "features": ["required"],
    }


def _instances(name: str) -> list[UntypedJson]:
    if name.startswith("bare"):
        return []
    good = {"text": f'{{"a": {len(name)}}}', "valid": True, "kind": "minimal"}
    bad = {"text": "{}", "valid": False, "kind": "near_miss"}
    told = {"keyword": "required", "schema_pointer": "/required"}
    return [
        {"unique_id": name, **good, "keyword": "", "schema_pointer": ""},
        {"unique_id": name, **bad, **told},
    ]


_CONFIGS = {
    "Snowplow": {"train": ["s1", "bare2"], "test": ["s3"]},
    "Github_easy": {"val": [f"g{number}" for number in range(200)]},
}


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A folder of two configs with instances."""
    return write_tables(tmp_path / "build", _CONFIGS)


def _ids(data: Dataset) -> list[str]:
    return [each.id for each in data.records()]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CSBDATA_MIRROR", raising=False)


def _open(where: Path | str = "", choice: RecordSelection | None = None) -> Dataset:
    """Open what is at a path or called by a name; by default what comes first."""
    settings = FetchSettings.from_environment()
    return open_data(str(where) or None, selection=choice, settings=settings)


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
    good = Instance(text='{"a": 2}', valid=True, kind="minimal")
    told = {"keyword": "required", "schema_pointer": "/required"}
    bad = Instance(text="{}", valid=False, kind="near_miss", **told)
    assert sample.instances == (good, bad)
    assert first[-1].instances == ()


def test_vacuous_records_count_if_they_are_asked_for(tmp_path: Path) -> None:
    """They, and unknown ones, are left out unless a setting or an id names them."""
    known = {"vacuous": False, "answer": "satisfiable"}
    rows = [
        {**record("a"), **known, "vacuous": True, "weight": 0.5},
        {**record("b"), **known, "weight": 0.25},
        {**record("c"), **known, "answer": "unknown", "weight": 0.25},
    ]
    build = write_tables(tmp_path / "build", {"Snowplow": {"test": ["a", "b", "c"]}})
    write(build / "Snowplow/test-00000-of-00001.parquet", rows)
    default = _open(build)
    assert (_ids(default), default.vacuous) == (["b"], 2)
    assert default.header()["vacuous"] == 2
    assert [each.weight for each in default.records()] == [0.25]
    every = _open(build, RecordSelection(vacuous=True))
    assert (_ids(every), every.vacuous) == (["a", "b", "c"], 0)
    assert _ids(_open(build, RecordSelection(ids=frozenset({"a"})))) == ["a"]
    write(build / "Snowplow/test-00000-of-00001.parquet", rows[:1])
    with pytest.raises(NoInput, match="but for 1 vacuous"):
        _open(build)


def test_configs_splits_ids_and_a_limit_choose(build: Path) -> None:
    """Each choice keeps the order, and a limit gives every config its share."""
    snowplow = ["s3", "s1", "bare2"]
    for choice, ids in (
        (RecordSelection(configs=("Snowplow",)), snowplow),
        (RecordSelection(splits=("test", "train")), snowplow),
        (RecordSelection(ids=frozenset({"Snowplow/s1", "g7"})), ["g7", "s1"]),
    ):
        assert _ids(_open(build, choice)) == ids
    small, large = (_open(build, RecordSelection(limit=limit)) for limit in (20, 60))
    assert (small.count, large.count) == (20, 60)
    assert [each.group for each in small.records()].count("Snowplow") == 1
    assert set(_ids(small)) < set(_ids(large))
    assert _ids(_open(build, RecordSelection(limit=20))) == _ids(small)
    assert _ids(_open(build, RecordSelection(limit=20, seed=1))) != _ids(small)
    assert all(each.instances for each in small.records() if each.id != "bare2")


def test_the_digest_is_that_of_the_content(build: Path, tmp_path: Path) -> None:
    """The same files elsewhere have it too; one byte of an instance changes it."""
    again = write_tables(tmp_path / "other", _CONFIGS)
    assert _open(again).sha256 == _open(build).sha256
    write_tables(again, {"Snowplow": {"test": ["s4"]}})
    assert _open(again).sha256 != _open(build).sha256


def test_what_does_not_exist_is_said(build: Path) -> None:
    """A config or a split that is not there is named, with those that are.

    An id that is nobody's is no empty run.
    """
    for choice, said in (
        (RecordSelection(configs=("S",)), "no config S: there are: Github_easy"),
        (RecordSelection(splits=("dev",)), "no split dev: there are: val, test, train"),
        (RecordSelection(ids=frozenset({"nobody"})), "no schema in it is nobody"),
    ):
        with pytest.raises(NoInput, match=said):
            _open(build, choice)


def test_tools_count_where_they_are_named_or_alone(tmp_path: Path) -> None:
    """They are none of the ten configs."""
    tools = {"Tools": {"test": ["t"]}}
    both = write_tables(tmp_path / "b", {"Github_easy": {"test": ["x"]}, **tools})
    assert _ids(_open(both)) == ["x"]
    for choice in ({"configs": ("Tools",)}, {"ids": frozenset({"t"})}):
        assert _ids(_open(both, RecordSelection(**choice))) == ["t"]
    assert _ids(_open(write_tables(tmp_path / "c", tools))) == ["t"]


def test_instances_in_another_order_are_refused(build: Path) -> None:
    """Instances that cannot be told to their records are no instances."""
    rows = [{**_instances("s1")[0], "unique_id": name} for name in ("bare2", "s1")]
    write(build / "instances/Snowplow/train-00000-of-00001.parquet", rows)
    with pytest.raises(BadData, match="'s1' stand where it does not"):
        list(_open(build).records())


def test_a_table_without_schemas_is_refused(build: Path) -> None:
    """A missing column is named with its file."""
    path = build / "Snowplow" / "test-00000-of-00001.parquet"
    write(path, [{"unique_id": "s3"}])
    with pytest.raises(BadConfiguration, match="no column json_schema"):
        list(_open(build).records())
    for column, cell in (("unique_id", 3), ("vacuous", "yes")):
        write(path, [{**record("s3"), column: cell}])
        with pytest.raises(BadData, match=f"column {column} is of type"):
            _open(build)
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


NAME = "tester/data"
_THREE = {"A": {"test": ["x", "y"], "val": ["z"]}}


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*-of-*")
    }


def test_a_dataset_of_the_hub_is_read_like_a_build(
    hub: FakeHub, tmp_path: Path
) -> None:
    """Name and revision lead to the same subjects as the same files here."""
    folder = write_tables(tmp_path / "b", _THREE)
    hub.store.put(NAME, _contents(folder))
    here = _open(folder)
    for where in (NAME, f"{NAME}@main", f"hf://datasets/{NAME}@main"):
        there = _open(where)
        assert list(there.records()) == list(here.records())
        assert (there.origin, there.sha256) == ("hub", here.sha256)


def test_the_config_core_asks_records_of_other_configs(
    hub: FakeHub, tmp_path: Path
) -> None:
    """With their instances; without it they count once, and it is no other's name.

    They are chosen by id with their config or without; those of others are none.
    """
    folder = write_tables(tmp_path / "b", _THREE)
    core = RecordSelection(configs=("core",))
    with pytest.raises(NoInput, match="no config core"):
        _open(folder, core)
    named = [{"config": "A", "unique_id": name} for name in "zx"]
    write(folder / "core" / "test-00000-of-00001.parquet", named)
    hub.store.put(NAME, _contents(folder))
    for where in (folder, NAME):
        every = list(_open(where).records())
        assert [record.id for record in every] == ["x", "y", "z"]
        own = _open(where, core).records()
        assert list(own) == [record for record in every if record.id != "y"]
    for wanted in (("x", "y"), ("A/x",)):
        assert _ids(_open(folder, replace(core, ids=frozenset(wanted)))) == ["x"]
    with pytest.raises(NoInput, match="A/y: no record of core has this id"):
        _open(folder, replace(core, ids=frozenset({"A/y"})))
    write(folder / "core" / "test-00000-of-00001.parquet", [{"unique_id": "z"}])
    with pytest.raises(BadConfiguration, match="no column config"):
        _open(folder, core)


def test_what_the_hub_does_not_have_is_said(hub: FakeHub) -> None:
    """No such dataset, no such revision, no tables: one line each."""
    hub.store.put(NAME, {"README.md": b"words"})
    for where in ("tester/none", f"{NAME}@v9"):
        with pytest.raises((NoInput, NotPermitted), match=where):
            _open(where)
    with pytest.raises(NoInput, match="no <config>/"):
        _open(NAME)


def test_without_a_word_a_build_comes_before_the_hub_and_that_before_the_sample(
    hub: FakeHub, tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """build/JSONSchemaBench here, the Hub's edition, the sample; the reason is said."""
    folder = write_tables(tmp_path / "build" / "JSONSchemaBench", {"A": {"test": "x"}})
    hub.store.put(PUBLISHED, _contents(folder))
    monkeypatch.chdir(tmp_path)
    data = _open()
    assert (data.name, data.count, said) == ("build/JSONSchemaBench", 1, [])
    folder = folder.rename(tmp_path / "b")
    data = _open()
    assert (data.name, data.origin) == (PUBLISHED, "hub")
    assert f"measuring {PUBLISHED} of the Hub" in said.pop()

    def silent(_name: str, _revision: str | None) -> None:
        raise Unavailable("the Hub cannot be reached", "there")

    sample = ParquetTables.of(folder, "sample")
    monkeypatch.setattr("curation.download.huggingface.hub_snapshot", silent)
    monkeypatch.setattr(data_module, "built_sample", lambda *_: sample)
    data = _open()
    assert (data.name, data.origin, data.count) == ("sample", "sample", 1)
    assert "cannot be reached. Measuring the embedded sample" in said.pop()


@pytest.mark.slow
def test_the_sample_has_schemas_of_every_config_with_instances(tmp_path: Path) -> None:
    """It is built into the cache, once."""
    settings = FetchSettings(mirror=None, cache=tmp_path / "cache", offline=True)
    reader = built_sample(settings, Quiet())
    names = list(reader.names())
    assert {name.group for name in names} == {*CONFIGS}
    assert all(each.complete for each in names)
    assert all(each.schema for each in reader.records(range(len(names))))


COUNTS = st.lists(st.integers(0, 40), min_size=1, max_size=6)


def _names(counts: list[int]) -> list[tuple[int, str, str]]:
    pairs = [(f"c{n}", f"i{k}") for n, count in enumerate(counts) for k in range(count)]
    return [(place, config, name) for place, (config, name) in enumerate(pairs)]


@given(counts=COUNTS, limit=st.integers(1, 120), seed=st.integers(0, 3))
def test_a_draw_has_its_size_its_order_and_its_shares(
    counts: list[int], limit: int, seed: int
) -> None:
    """As many as asked for if there are, ascending, no config far from its share."""
    names = _names(counts)
    places = draw(names, limit, seed)
    assert len(places) == min(limit, len(names))
    assert places == sorted(set(places))
    found = Counter(names[place][1] for place in places)
    full = [count for count in counts if count]
    for config, count in enumerate(counts):
        own = found[f"c{config}"]
        assert own <= count
        if limit >= len(full) and count:
            assert own >= 1
        if len(names) > limit * len(full):
            assert abs(own - limit * count / len(names)) <= len(full) + 1


@pytest.mark.parametrize(
    ("counts", "limit", "shares"),
    [
        ([10, 6, 4], 7, [4, 2, 1]),
        ([10, 10], 4, [2, 2]),
        ([10, 1, 1], 3, [1, 1, 1]),
        ([10, 1, 1], 2, [2, 0, 0]),
        ([3, 2], 5, [3, 2]),
        ([3, 2], 9, [3, 2]),
    ],
)
def test_shares_are_rounded_by_largest_remainder(
    counts: list[int], limit: int, shares: list[int]
) -> None:
    """Every config has one, where the limit allows it."""
    names = _names(counts)
    found = Counter(names[place][1] for place in draw(names, limit, 0))
    assert [found[f"c{config}"] for config in range(len(counts))] == shares


@given(counts=COUNTS, limit=st.integers(1, 60), gone=st.integers(0, 200))
def test_who_is_drawn_does_not_depend_on_those_who_are_not(
    counts: list[int], limit: int, gone: int
) -> None:
    """Without one that was not drawn, one config's draw is the same."""
    names = _names([sum(counts)])
    chosen = draw(names, limit, 0)
    rest = [each for each in names if each[0] in chosen or each[0] != gone]
    assert draw(rest, limit, 0) == chosen

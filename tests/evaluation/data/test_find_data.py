"""A dataset of the Hub, on loopback; and what is measured where nobody says what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.benchmark import CONFIGS
from curation.download.acquire import FetchSettings
from curation.system.errors import BadConfiguration, NoInput, NotPermitted, Unavailable
from curation.system.progress import Quiet
from evaluation.data import find_data
from evaluation.data.dataset import RecordSelection
from evaluation.data.find_data import open_data
from evaluation.data.parquet_tables import ParquetTables
from tests.evaluation.data.written_tables import write, write_tables
from tests.publishing import connected

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fake_hub import FakeHub

NAME = "tester/data"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    """A Hub on loopback that the client is turned to."""
    with connected(monkeypatch, tmp_path / "home") as connection:
        yield connection.hub


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*-of-*")
    }


def test_a_dataset_of_the_hub_is_read_like_a_build(
    hub: FakeHub, tmp_path: Path
) -> None:
    """Name and revision lead to the same subjects as the same files here."""
    folder = write_tables(tmp_path / "b", {"A": {"test": ["x", "y"], "val": ["z"]}})
    hub.store.put(NAME, _contents(folder))
    settings = FetchSettings(mirror=None, cache=tmp_path / "cache")
    here = open_data(str(folder), settings=settings)
    for where in (NAME, f"{NAME}@main", f"hf://datasets/{NAME}@main"):
        there = open_data(where, settings=settings)
        assert list(there.records()) == list(here.records())
        assert (there.origin, there.sha256) == ("hub", here.sha256)


def test_the_config_core_asks_records_of_other_configs(
    hub: FakeHub, tmp_path: Path
) -> None:
    """With their instances; without it they count once, and it is no other's name."""
    folder = write_tables(tmp_path / "b", {"A": {"test": ["x", "y"], "val": ["z"]}})
    hub.store.put(NAME, _contents(folder))
    settings = FetchSettings(mirror=None, cache=tmp_path / "cache")
    core = RecordSelection(configs=("core",))
    with pytest.raises(NoInput, match="no config core"):
        open_data(str(folder), selection=core, settings=settings)
    named = [{"config": "A", "unique_id": "z"}, {"config": "A", "unique_id": "x"}]
    write(folder / "core" / "test-00000-of-00001.parquet", named)
    hub.store.put(NAME, _contents(folder))
    for where in (str(folder), NAME):
        every = list(open_data(where, settings=settings).records())
        assert [record.id for record in every] == ["x", "y", "z"]
        own = open_data(where, selection=core, settings=settings).records()
        assert list(own) == [record for record in every if record.id != "y"]
    write(folder / "core" / "test-00000-of-00001.parquet", [{"unique_id": "z"}])
    with pytest.raises(BadConfiguration, match="no column config"):
        open_data(str(folder), selection=core, settings=settings)


def test_of_the_config_core_records_are_chosen_by_id(tmp_path: Path) -> None:
    """With their config or without; those of the other configs alone are none."""
    folder = write_tables(tmp_path / "b", {"A": {"test": ["x", "y"], "val": ["z"]}})
    named = [{"config": "A", "unique_id": name} for name in "zx"]
    write(folder / "core" / "test-00000-of-00001.parquet", named)
    settings = FetchSettings(mirror=None, cache=tmp_path / "cache")

    def ids(*wanted: str) -> list[str]:
        core = RecordSelection(configs=("core",), ids=frozenset(wanted))
        data = open_data(str(folder), selection=core, settings=settings)
        return [record.id for record in data.records()]

    assert ids("x", "y") == ids("A/x") == ["x"]
    with pytest.raises(NoInput, match="A/y: no record of core has this id"):
        ids("A/y")


def test_what_the_hub_does_not_have_is_said(hub: FakeHub, tmp_path: Path) -> None:
    """No such dataset, no such revision, no tables: one line each."""
    hub.store.put(NAME, {"README.md": b"words"})
    settings = FetchSettings(cache=tmp_path / "cache")
    for where in ("tester/none", f"{NAME}@v9"):
        with pytest.raises((NoInput, NotPermitted), match=where):
            open_data(where, settings=settings)
    with pytest.raises(NoInput, match="no <config>/"):
        open_data(NAME, settings=settings)


class _Told(Quiet):
    """Progress that remembers."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, message: str) -> None:
        self.lines.append(message)


def test_without_a_word_the_local_build_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """build/JSONSchemaBench under the working folder is what is measured."""
    write_tables(tmp_path / "build" / "JSONSchemaBench", {"A": {"test": ["x"]}})
    monkeypatch.chdir(tmp_path)
    data = open_data(settings=FetchSettings(mirror=None, cache=tmp_path / "cache"))
    assert (data.name, data.count) == ("build/JSONSchemaBench", 1)


def test_without_a_build_the_published_one_comes_next(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Hub's edition is measured, and that is said."""
    folder = write_tables(tmp_path / "b", {"A": {"test": ["x"]}})
    hub.store.put(find_data.PUBLISHED, _contents(folder))
    monkeypatch.chdir(tmp_path)
    told = _Told()
    settings = FetchSettings(mirror=None, cache=tmp_path / "cache")
    data = open_data(settings=settings, progress=told)
    assert (data.name, data.origin) == (find_data.PUBLISHED, "hub")
    assert "measuring epfl-dlab/JSONSchemaBench of the Hub" in told.lines[0]


def test_with_neither_the_sample_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No build and no Hub: the sample, said in one line with the reason."""
    folder = write_tables(tmp_path / "b", {"A": {"test": ["x"]}})

    def silent(_name: str, _revision: str | None) -> None:
        raise Unavailable("the Hub cannot be reached", "there")

    monkeypatch.setattr("curation.download.huggingface.hub_snapshot", silent)
    monkeypatch.setattr(
        find_data, "built_sample", lambda *_: ParquetTables.of(folder, "sample")
    )
    monkeypatch.chdir(tmp_path)
    told = _Told()
    data = open_data(settings=FetchSettings(cache=tmp_path / "cache"), progress=told)
    assert (data.name, data.origin, data.count) == ("sample", "sample", 1)
    assert "cannot be reached. Measuring the embedded sample" in told.lines[0]


@pytest.mark.slow
def test_the_sample_has_schemas_of_every_config_with_instances(tmp_path: Path) -> None:
    """It is built into the cache, once."""
    settings = FetchSettings(mirror=None, cache=tmp_path / "cache", offline=True)
    reader = find_data.built_sample(settings, Quiet())
    names = list(reader.names())
    assert {name.group for name in names} == {*CONFIGS}
    assert all(each.complete for each in names)
    assert all(each.schema for each in reader.records(range(len(names))))

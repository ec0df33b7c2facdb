"""A dataset whose splits have several files is, row by row, the one with one file."""

from __future__ import annotations

from dataclasses import replace
from shutil import copytree
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from curation.core.benchmark import CONFIGS, SPLITS, instances_folder
from curation.dataset.difference import compare
from curation.dataset.editions import open_edition
from curation.dataset.ledger import stories
from curation.dataset.parquet import RECORDS, SplitFiles, split_files
from curation.instances.dataset import parquet as instances
from curation.instances.dataset.records import select_records, write_files
from curation.packaging.derived_files import rebuild
from curation.verification import verify_folder
from curation.verification.files import STRAYS
from curation.verification.records import ROWS
from curation.verification.run import CHECKS
from curation.verification.tables import DERIVED
from evaluation.data.parquet_tables import ParquetTables
from tests.curation.verification.tampering import lines, said_by

if TYPE_CHECKING:
    from pathlib import Path

    from curation.dataset.parquet import TableForm

pytestmark = pytest.mark.slow
#: Bytes that fill a file here, and rows of its groups.
FULL = 10_000
ROWS_OF_A_GROUP = 3


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file be full with 10 kB."""
    monkeypatch.setattr("curation.dataset.parquet.FULL_FILE", FULL)


@pytest.fixture(scope="module")
def several(sample_build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sample's build, written with several files a split."""
    folder = copytree(sample_build, tmp_path_factory.mktemp("several") / "built")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("curation.dataset.parquet.FULL_FILE", FULL)
        for config in CONFIGS:
            for inside, form in (
                (config, RECORDS),
                (instances_folder(config), instances.ROWS),
            ):
                for split in SPLITS:
                    _write_again(folder, inside, split, form)
    rebuild(folder)
    return folder


def _write_again(folder: Path, inside: str, split: str, form: TableForm) -> None:
    for path in split_files(folder, inside, split):
        rows = pq.read_table(folder / path).to_pylist()
        (folder / path).unlink()
        small = replace(form, most_rows=ROWS_OF_A_GROUP)
        with SplitFiles(folder, inside, split, small) as files:
            for row in rows:
                files.add(SimpleNamespace(**row))


def test_the_files_are_several(several: Path) -> None:
    """Of schemas and of instances, or nothing here tests anything."""
    assert len(split_files(several, "Github_easy", "train")) > 1
    assert len(split_files(several, "instances/Github_easy", "train")) > 2


def test_all_checks_hold(several: Path) -> None:
    """But that of tables, whose row groups are smaller than a build's."""
    checks = [check for check in CHECKS if check is not DERIVED]
    assert lines(verify_folder(several, checks=checks)) == []


def test_the_rows_are_those_of_one_file(several: Path, sample_build: Path) -> None:
    """`diff` finds no record that differs, and none too many or too few."""
    assert compare(open_edition(str(sample_build)), open_edition(str(several))) == []


def test_datasets_streams_them_in_their_order(
    several: Path, sample_build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The card's `data_files` name every file, one after the other."""
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", 1)
    for config in ("default", "Github_easy"):
        streamed, wanted = (
            datasets.load_dataset(
                str(folder),
                config,
                split="train",
                cache_dir=str(tmp_path / folder.name),
                streaming=True,
            )
            for folder in (several, sample_build)
        )
        assert streamed.num_shards > wanted.num_shards
        assert list(streamed) == list(wanted)


def test_an_engine_is_asked_the_same(several: Path, sample_build: Path) -> None:
    """Samples, with the instances that stand in other files, are equal."""
    one, other = (ParquetTables.of(folder, "") for folder in (sample_build, several))
    assert one is not None
    assert other is not None
    places = range(len(list(one.names())))
    assert list(one.records(places)) == list(other.records(places))


def test_a_record_of_the_last_file_is_found(several: Path) -> None:
    """`explain` shows its row."""
    last = split_files(several, "Github_easy", "train")[-1]
    name = pq.read_table(several / last)["unique_id"][-1].as_py()
    (story,) = stories(several, f"Github_easy/{name}")
    assert story.record is not None
    assert story.record.unique_id == name


def test_masks_are_the_same(several: Path, sample_build: Path, tmp_path: Path) -> None:
    """MaskBench's files have the tests of all files of instances."""
    written = []
    for name, build in (("one", sample_build), ("several", several)):
        folder = tmp_path / name
        folder.mkdir()
        write_files(build, select_records(build), folder)
        written.append({file.name: file.read_bytes() for file in folder.iterdir()})
    assert written[0] == written[1]


def test_a_file_that_is_gone_is_missed(several: Path, tmp_path: Path) -> None:
    """The first, one in the middle or the last: names and counts say so."""
    files = split_files(several, "instances/Github_easy", "train")
    for number, path in enumerate((files[0], files[1], files[-1])):
        folder = copytree(several, tmp_path / str(number))
        (folder / path).unlink()
        assert any("no build writes" in line for line in said_by(STRAYS, folder))
        assert said_by(ROWS, folder)


def test_another_division_is_noticed(several: Path, tmp_path: Path) -> None:
    """A file that ends before it is full, though names and rows are right."""
    folder = copytree(several, tmp_path / "built")
    inside = "instances/Github_easy"
    path = split_files(folder, inside, "train")[0]
    rows = pq.read_table(folder / path)
    pq.write_table(rows.slice(0, 1), folder / path)
    found = said_by(DERIVED, folder)
    assert any(path in line and "not written as" in line for line in found)

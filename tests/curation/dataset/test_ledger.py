"""The ledger: what is written is read; its figures, and the stories in it."""

from __future__ import annotations

import resource
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.core.documents import ABSENT, Origin, Reason
from curation.dataset.decisions import DocumentResult, ResultFile
from curation.dataset.ledger import (
    CHANGES,
    DOCUMENTS,
    REQUIRED,
    open_ledger,
    write_ledger,
)
from curation.dataset.story import stories
from curation.dataset.summary import total_of
from curation.system.errors import BadData, CannotCreate, NoInput
from tests.made import ADDED, change, count_entries, entry, in_split, record, rejected

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


ENTRIES = [
    entry(record("o1"), "Github_easy", changes=(change(), ADDED)),
    rejected("o2", "Github_easy", Reason.DUPLICATE, detail="Github_easy/o1"),
    entry(record("o1"), "Snowplow", changes=(change("dead-keywords", after=ABSENT),)),
]


def test_entries_come_back(tmp_path: Path) -> None:
    """Every entry is read as it was written, changes in their order."""
    assert write_ledger(iter(ENTRIES), tmp_path) == (DOCUMENTS, CHANGES)
    ledger = open_ledger(tmp_path)
    assert ledger.entries(unique_id="o1") == [ENTRIES[0], ENTRIES[2]]
    assert ledger.entries(outcome="duplicate") == [ENTRIES[1]]
    assert ledger.entries(unique_id="o9") == []


def test_there_is_one_row_for_each_document(tmp_path: Path) -> None:
    """Documents stand in the order given; a change names its document's row."""
    write_ledger(ENTRIES, tmp_path)
    ledger = open_ledger(tmp_path)
    documents = ledger.documents().collect()
    assert documents["document"].to_list() == [0, 1, 2]
    assert documents["outcome"].to_list() == ["kept", "duplicate", "kept"]
    assert ledger.changes().collect()["document"].to_list() == [0, 0, 2]


def test_nothing_there_is_null(tmp_path: Path) -> None:
    """Where nothing stood before a change, the column is null, not JSON's null."""
    spoken = replace(ADDED, before="null")
    write_ledger([entry(record("o1"), "X", changes=(ADDED, spoken))], tmp_path)
    rows = open_ledger(tmp_path).changes().collect()
    assert rows["before"].to_list() == [None, "null"]


def test_the_same_entries_give_the_same_bytes(tmp_path: Path) -> None:
    """Writing twice gives equal files."""
    for name in ("a", "b"):
        write_ledger(ENTRIES, tmp_path / name)
    for table in (DOCUMENTS, CHANGES):
        assert (tmp_path / "a" / table).read_bytes() == (
            tmp_path / "b" / table
        ).read_bytes()


def test_no_entries_give_columns_without_rows(tmp_path: Path) -> None:
    """An empty build has a ledger too."""
    write_ledger([], tmp_path)
    assert open_ledger(tmp_path).documents().collect().height == 0
    assert open_ledger(tmp_path).entries(unique_id="o1") == []


def test_more_than_a_batch_keeps_its_order(tmp_path: Path) -> None:
    """Batches of rows and of long texts do not tear a document from its changes."""
    long = change(before='"' + "x" * 3_000_000 + '"')
    entries = [
        entry(record(f"o{number}"), "X", changes=(long,) if number % 999 == 0 else ())
        for number in range(5_000)
    ]
    write_ledger(entries, tmp_path)
    assert open_ledger(tmp_path).entries(unique_id="o4995") == [entries[4995]]
    assert open_ledger(tmp_path).documents().collect().height == 5_000


def test_a_path_that_is_not_utf8_is_written_readably(tmp_path: Path) -> None:
    """A file name of an archive may hold any byte."""
    write_ledger([entry(record("o1", path="a\udcff.json"), "X")], tmp_path)
    (read,) = open_ledger(tmp_path).entries(unique_id="o1")
    assert read.path == "a\\udcff.json"


def test_a_folder_without_a_ledger_is_named(tmp_path: Path) -> None:
    """The fault says what is missing, where, and what makes it."""
    with pytest.raises(NoInput, match=r"no ledger here .*csbdata build"):
        open_ledger(tmp_path)


SUMMED = [
    rejected("x", "Snowplow", Reason.TEMPLATE),
    rejected("y", "Snowplow", Reason.BAD_ENCODING),
    rejected("z", "Snowplow", Reason.TEMPLATE, changes=(change(),)),
    entry(in_split("val", "sp"), "Snowplow", changes=(change(), change(), ADDED)),
    entry(record("a"), "Glaiveai2K", origin=Origin.SAMPLE),
]


def test_documents_are_counted_by_outcome() -> None:
    """Raw is kept and rejected together; reasons stand in the enum's order."""
    _, snowplow = count_entries(SUMMED)
    assert (snowplow.raw, snowplow.kept) == (4, 1)
    assert list(snowplow.rejected.items()) == [("bad_encoding", 1), ("template", 2)]
    assert dict(snowplow.splits) == {"train": 0, "val": 1, "test": 0}


def test_a_rule_counts_once_for_a_record() -> None:
    """Two edits by one rule are one changed record; rejected ones do not count."""
    _, snowplow = count_entries(SUMMED)
    assert dict(snowplow.changed) == {"dialect": 1, "pattern": 1}


def test_configs_stand_in_benchmark_order() -> None:
    """The order is the benchmark's, not the ledger's."""
    found = count_entries(SUMMED)
    assert [each.config for each in found] == ["Glaiveai2K", "Snowplow"]
    assert [each.origin for each in found] == ["sample", "upstream"]


def test_a_total_is_the_sum() -> None:
    """Every figure of the total is the sum of the configs'."""
    total = total_of(count_entries(SUMMED), "all")
    assert (total.config, total.raw, total.kept) == ("all", 5, 2)
    assert total.origin == "upstream+sample"
    assert total.rejected["template"] == 2
    assert sum(total.splits.values()) == 2


@pytest.mark.parametrize("name", [DOCUMENTS, CHANGES])
def test_a_ledger_of_older_code_is_one_line(
    name: str, sample_build: Path, tmp_path: Path
) -> None:
    """Whichever column it lacks, or lacks a value of; column and table are named."""
    for part in ("ledger", "Github_easy"):
        shutil.copytree(sample_build / part, tmp_path / part)
    assert stories(tmp_path, "o161")
    table = pq.read_table(sample_build / name)
    for place, column in enumerate(table.column_names):
        lacking = [table.drop_columns([column])]
        if column in REQUIRED[name]:
            nulls = pa.nulls(len(table), table.schema.field(place).type)
            lacking.append(table.set_column(place, column, nulls))
        for tampered in lacking:
            pq.write_table(tampered, tmp_path / name)
            with pytest.raises(BadData, match=f"column {column}") as refused:
                stories(tmp_path, "o1")
            assert name in str(refused.value)


def test_a_reason_of_newer_code_has_no_explanation(
    sample_build: Path, tmp_path: Path
) -> None:
    """What this version does not know it does not explain; the rest is told."""
    shutil.copytree(sample_build / "ledger", tmp_path / "ledger")
    table = pq.read_table(sample_build / DOCUMENTS)
    place = table.schema.get_field_index("outcome")
    newer = pa.array(["of_tomorrow"] * len(table), table.schema.field(place).type)
    pq.write_table(table.set_column(place, "outcome", newer), tmp_path / DOCUMENTS)
    (story,) = stories(tmp_path, "o161")
    assert (story.kept, story.explanation) == (False, "")
    assert story.entry.outcome == "of_tomorrow"


@pytest.fixture
def _small_files() -> Iterator[None]:
    """Let no file grow past 1,000 bytes: a write across that place is cut there."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("_small_files")
def test_a_result_of_which_a_part_fits_is_refused(tmp_path: Path) -> None:
    """The system takes a part without an error; what is lost would be read later."""
    result = DocumentResult(config="a", record=None, rejected=None, changes=())
    with ResultFile(tmp_path) as file:
        file.add(msgspec.json.encode(result))
        with pytest.raises(CannotCreate):
            file.add(msgspec.json.encode(replace(result, shingles=bytes(1_000))))

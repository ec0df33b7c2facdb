"""The ledger: what is written is read, whatever stands in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import ABSENT, Reason
from curation.dataset.ledger import CHANGES, DOCUMENTS, open_ledger, write_ledger
from curation.system.errors import NoInput
from tests.made import ADDED, change, entry, record, rejected

if TYPE_CHECKING:
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

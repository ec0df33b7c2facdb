"""Records and the ledger as parquet: order, bytes, columns; figures and stories."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.benchmark import SPLITS
from curation.core.documents import ABSENT, Origin, Reason
from curation.core.records import BenchmarkRecord
from curation.dataset.ledger import (
    CHANGES,
    DOCUMENTS,
    FORMS,
    open_ledger,
    stories,
    write_ledger,
)
from curation.dataset.parquet import (
    COLUMNS,
    RECORDS,
    ROW_GROUP_LENGTH,
    SplitFiles,
    file_name,
    make_columns,
    make_table,
    split_files,
    table_of_columns,
    write_sorted,
)
from curation.system.errors import BadData, NoInput
from tests.builds import write_config
from tests.made import ADDED, change, count_entries, entry, in_split, record, rejected

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def write_split(records: Iterable[BenchmarkRecord], folder: Path) -> Path:
    """Write records as a split of a config; return its only file."""
    (path,) = write_config(folder, "Snowplow", {"train": records})[:1]
    return folder / path


def test_columns_are_the_fields_of_a_record() -> None:
    """The columns are `BenchmarkRecord`'s fields in order; tuples are lists of text."""
    assert [each.name for each in fields(BenchmarkRecord)] == COLUMNS.names
    assert str(COLUMNS.field("features").type).startswith("list<")
    assert str(COLUMNS.field("field_count").type) == "int64"
    assert str(COLUMNS.field("fastjsonschema").type) == "string"


def test_a_list_is_null_empty_or_filled(tmp_path: Path) -> None:
    """What was not asked is null, and no empty list."""
    values = [None, (), ("gemini", "vllm"), None]
    records = [record(f"o{at}", fits=value) for at, value in enumerate(values)]
    found = pq.read_table(write_split(records, tmp_path))["fits"].to_pylist()
    assert found == [None, [], ["gemini", "vllm"], None]


def test_a_split_without_records_has_no_file(tmp_path: Path) -> None:
    """`datasets` opens no table without rows."""
    write_config(tmp_path, "Snowplow", {"test": [in_split("test")]})
    (written,) = (tmp_path / "Snowplow").iterdir()
    assert written == tmp_path / file_name("Snowplow", "test")


def test_row_groups_are_small(tmp_path: Path) -> None:
    """No group of several rows holds more schema text than the viewer takes."""
    text = '"' + "x" * (ROW_GROUP_LENGTH // 3) + '"'
    records = [record(f"o{number}", json_schema=text) for number in range(7)]
    huge = record("o99", json_schema='"' + "y" * (3 * ROW_GROUP_LENGTH) + '"')
    found = pq.ParquetFile(write_split([*records, huge], tmp_path)).metadata
    rows = [found.row_group(index).num_rows for index in range(found.num_row_groups)]
    assert rows == [2, 2, 2, 1, 1]


def test_pages_are_indexed(tmp_path: Path) -> None:
    """The viewer finds a page without reading the group."""
    path = write_split([record("o1")], tmp_path)
    column = pq.ParquetFile(path).metadata.row_group(0).column(0)
    assert column.has_column_index
    assert column.has_offset_index
    assert column.compression == "ZSTD"


def test_records_that_come_sorted_give_the_same_files(tmp_path: Path) -> None:
    """Written as they come, a row group at a time, they are those of `write_config`."""
    long = "x" * (ROW_GROUP_LENGTH // 3)
    splits = {
        split: [
            replace(in_split(split), unique_id=f"{split[0]}{number}", json_schema=long)
            for number in range(7)
        ]
        for split in SPLITS
    }
    for name in ("together", "as they come"):
        (tmp_path / name).mkdir()
    write_config(tmp_path / "together", "Snowplow", splits)
    mixed = [
        record for records in zip(*splits.values(), strict=True) for record in records
    ]
    write_sorted(tmp_path / "as they come", "Snowplow", mixed)
    for split in SPLITS:
        file = file_name("Snowplow", split)
        written = tmp_path / "as they come" / file
        assert pq.ParquetFile(written).num_row_groups == 3
        assert written.read_bytes() == (tmp_path / "together" / file).read_bytes()


def test_a_full_file_is_followed_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends with the row group that fills it; names count the files in the end."""
    monkeypatch.setattr("curation.dataset.parquet.FULL_FILE", 4_000)
    form = replace(RECORDS, most_rows=3)
    (tmp_path / "Snowplow").mkdir()
    with SplitFiles(tmp_path, "Snowplow", "train", form) as files:
        for number in range(20):
            files.add(record(f"o{number}"))
    names = split_files(tmp_path, "Snowplow", "train")
    assert len(names) > 2
    assert names == [
        file_name("Snowplow", "train", number, len(names))
        for number in range(len(names))
    ]
    tables = [pq.read_table(tmp_path / name) for name in names]
    ids = [name for table in tables for name in table["unique_id"].to_pylist()]
    assert ids == [f"o{number}" for number in range(20)]
    for name in names[:-1]:
        metadata = pq.read_metadata(tmp_path / name)
        sizes = [
            metadata.row_group(group).total_byte_size
            for group in range(metadata.num_row_groups)
        ]
        assert sum(sizes) > 4_000 > sum(sizes[:-1])


def test_a_write_that_fails_names_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error comes through, and no name says that the split is whole."""
    monkeypatch.setattr("curation.dataset.parquet.FULL_FILE", 1)
    (tmp_path / "Snowplow").mkdir()
    form = replace(RECORDS, most_rows=1)

    def interrupted() -> None:
        with SplitFiles(tmp_path, "Snowplow", "train", form) as files:
            for number in range(3):
                files.add(record(f"o{number}"))
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    assert file_name("Snowplow", "train", 0, 2) not in split_files(
        tmp_path, "Snowplow", "train"
    )


@dataclass(frozen=True)
class _Row:
    name: str
    note: str | None
    count: int
    known: int | None
    done: bool
    parts: tuple[str, ...]


_ROW = _Row(name="a", note=None, count=1, known=None, done=True, parts=())
_INT = st.integers(-(2**63), 2**63 - 1)
_ROWS = st.lists(
    st.builds(
        _Row,
        st.text(),
        st.none() | st.text(),
        _INT,
        st.none() | _INT,
        st.booleans(),
        st.lists(st.text(), max_size=3).map(tuple),
    ),
    max_size=6,
)


@given(rows=_ROWS)
def test_a_table_holds_what_the_rows_hold(rows: list[_Row]) -> None:
    """Nulls, empty lists and any text come out of it as they went in."""
    table = make_table(rows, make_columns(_Row))
    table.validate(full=True)
    assert table.schema == make_columns(_Row)
    held = [{**row, "parts": tuple(row["parts"])} for row in table.to_pylist()]
    assert held == list(map(asdict, rows))


def test_a_value_of_another_type_is_refused() -> None:
    """A number in a column of texts is a fault, and no text."""
    with pytest.raises(TypeError):
        table_of_columns({"name": [1]}, pa.schema([("name", pa.string())]))


def test_half_of_a_surrogate_pair_is_refused() -> None:
    """Parquet holds UTF-8; who has such a text must say what stands there instead."""
    with pytest.raises(UnicodeEncodeError):
        make_table([replace(_ROW, name="\ud800")], make_columns(_Row))


@pytest.mark.slow
def test_making_a_table_does_not_load_pandas() -> None:
    """Every build would wait half a second for a library that it does not use."""
    code = (
        "import sys; from curation.dataset.ledger import Change, CHANGE_COLUMNS;"
        "from curation.dataset.parquet import table_of_columns;"
        "table_of_columns({name: [] for name in CHANGE_COLUMNS.names}, CHANGE_COLUMNS);"
        "print('pandas' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout == "False\n"


ENTRIES = [
    entry(record("o1"), "Github_easy", changes=(change(), ADDED)),
    rejected("o2", "Github_easy", Reason.DUPLICATE, detail="Github_easy/o1"),
    entry(record("o1"), "Snowplow", changes=(change("dead-keywords", after=ABSENT),)),
]


def test_entries_come_back(tmp_path: Path) -> None:
    """Every entry is read as it was written, changes in their order."""
    write_ledger(iter(ENTRIES), tmp_path)
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


def test_no_entries_give_columns_without_rows(tmp_path: Path) -> None:
    """An empty build has a ledger too, and no table of changes."""
    write_ledger([], tmp_path)
    assert not (tmp_path / CHANGES).exists()
    assert open_ledger(tmp_path).changes().collect().height == 0
    assert open_ledger(tmp_path).documents().collect().height == 0
    assert open_ledger(tmp_path).entries(unique_id="o1") == []


@pytest.mark.slow
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


def test_figures_are_counted_of_the_ledger() -> None:
    """Configs in the benchmark's order, reasons in the enum's; a rule once a record."""
    found = count_entries(SUMMED)
    origins = [(config, figures.origin) for config, figures in found.items()]
    assert origins == [("Glaiveai2K", "sample"), ("Snowplow", "upstream")]
    snowplow = found["Snowplow"]
    assert (snowplow.raw, snowplow.kept) == (4, 1)
    assert list(snowplow.rejected.items()) == [("bad_encoding", 1), ("template", 2)]
    assert dict(snowplow.splits) == {"train": 0, "val": 1, "test": 0}
    # Edits of rejected documents do not count.
    assert dict(snowplow.changed) == {"dialect": 1, "pattern": 1}


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
        if column in FORMS[name].required:
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

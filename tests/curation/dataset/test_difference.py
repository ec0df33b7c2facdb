"""Editions open from a build or files; their differences: laws and kinds."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.dataset.difference import (
    RecordPair,
    compare,
)
from curation.dataset.editions import COLUMNS, Edition, open_edition
from curation.system.errors import (
    BadConfiguration,
    BadData,
    NoInput,
    Unavailable,
)
from tests.builds import KEPT_ROWS, write_build

EditionRow = tuple[str, str | None, str, str]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["A", "B"]),
        st.sampled_from(["train", "test", None]),
        st.sampled_from(["x", "y", "z"]),
        st.sampled_from(
            ['{"a": 1}', '{"a": 1.0}', '{"a": 2}', "{", '{"b": 1, "a": 1}']
        ),
    ),
    max_size=6,
)


def edition(rows: list[EditionRow]) -> Edition:
    """Return an edition of these rows."""
    schema = dict.fromkeys(COLUMNS, pl.String)
    return Edition(
        name="made", folder=Path(), rows=pl.DataFrame(rows, schema=schema, orient="row")
    )


def _mirrored(pair: RecordPair) -> tuple[object, ...]:
    exchanged = {"added": "removed", "removed": "added"}
    kinds = tuple(exchanged.get(kind, kind) for kind in pair.kinds)
    return pair.after, pair.before, kinds


@given(ROWS)
def test_an_edition_does_not_differ_from_itself(rows: list[EditionRow]) -> None:
    """Comparing a with a finds nothing."""
    assert compare(edition(rows), edition(rows)) == []


@given(ROWS, ROWS)
def test_the_other_direction_finds_the_same(
    one: list[EditionRow], other: list[EditionRow]
) -> None:
    """Comparing b with a is comparing a with b, with the sides exchanged."""
    there = compare(edition(one), edition(other))
    back = compare(edition(other), edition(one))
    assert Counter(map(_mirrored, there)) == Counter(
        (pair.before, pair.after, pair.kinds) for pair in back
    )


@given(ROWS, ROWS)
def test_every_row_is_accounted_for(
    one: list[EditionRow], other: list[EditionRow]
) -> None:
    """Rows that no pair names are equal in number on both sides."""
    pairs = compare(edition(one), edition(other))
    named = [
        sum(row is not None for row in side)
        for side in zip(*((pair.before, pair.after) for pair in pairs), strict=True)
    ] or [0, 0]
    assert len(one) - named[0] == len(other) - named[1]


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        (("A", "test", "x", "1"), ("B", "test", "x", "1"), ("moved_config",)),
        (("A", "test", "x", "1"), ("A", "train", "x", "1"), ("moved_split",)),
        (("A", None, "x", "1"), ("B", "train", "x", "2"), ("changed", "moved_config")),
        (("A", "test", "x", "1"), ("A", "test", "y", "1.0"), ("textual", "renamed")),
        (("A", "test", "x", "{"), ("A", "test", "x", "{}"), ("changed",)),
        (
            ("A", None, "x", '{"a":1,"b":2}'),
            ("A", None, "x", '{"b":2,"a":1}'),
            ("textual",),
        ),
        (("A", None, "x", "1"), ("A", None, "y", "2"), ("removed", "added")),
    ],
)
def test_kinds(before: EditionRow, after: EditionRow, kinds: tuple[str, ...]) -> None:
    """A record can have moved, been renamed and changed at once, or be another."""
    pairs = compare(edition([before]), edition([after]))
    assert tuple(kind for pair in pairs for kind in pair.kinds) == kinds


def test_a_build_is_read_whole(tmp_path: Path) -> None:
    """Every record is there once, with config, split and all columns."""
    rows = open_edition(str(write_build(tmp_path))).rows
    assert tuple(rows.columns[:4]) == COLUMNS
    assert rows.height == len(KEPT_ROWS)
    assert sorted(rows["config"].to_list()) == sorted(name for name, _ in KEPT_ROWS)
    assert rows["split"].null_count() == 0
    assert "dialect" in rows.columns


def test_copies_and_ledgers_are_no_configs(tmp_path: Path) -> None:
    """`data`, `default`, `ledger` and hidden folders are passed over."""
    folder = write_build(tmp_path)
    split = next((folder / "Snowplow").glob("*.parquet")).read_bytes()
    for name in ("data", "default", ".cache"):
        (folder / name).mkdir()
        (folder / name / "train-00000-of-00001.parquet").write_bytes(split)
    assert open_edition(str(folder)).rows.height == len(KEPT_ROWS)


def test_exploded_files_are_records(tmp_path: Path) -> None:
    """In `<config>/<id>.json` the file is the schema, and no split is known."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "b.json").write_text('{\n "type" : 1.00}')
    (tmp_path / "mine" / "a.json").write_text("{broken")
    rows = open_edition(str(tmp_path)).rows
    assert rows.rows() == [
        ("mine", None, "a", "{broken"),
        ("mine", None, "b", '{"type": 1.00}'),
    ]


def test_a_folder_is_no_exploded_file(tmp_path: Path) -> None:
    """It is passed over, whatever it is called."""
    (tmp_path / "mine" / "x.json").mkdir(parents=True)
    (tmp_path / "mine" / "a.json").write_text("{}")
    assert open_edition(str(tmp_path)).rows["unique_id"].to_list() == ["a"]


def test_an_exploded_file_whose_name_is_no_utf_8_is_named(tmp_path: Path) -> None:
    """Its id could be printed nowhere: exit 66."""
    (tmp_path / "mine").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/mine/\xff.json")).write_text("{}")
    with pytest.raises(NoInput, match="UTF-8"):
        open_edition(str(tmp_path))


@pytest.mark.parametrize("name", ["nowhere", "no/such/folder", "/no/such", "a b/c"])
def test_a_name_that_leads_nowhere_is_a_fault(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line says what is not there; nothing is fetched for it."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoInput):
        open_edition(name)


def test_the_hub_offline_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the network, a dataset that is not cached is unavailable: exit 69."""
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", 1)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(Unavailable, match="HF_HUB_OFFLINE is set"):
        open_edition("nobody/nothing@v1")


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    """The fault carries the file's path: exit 65."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "train.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(BadData, match=r"train\.parquet"):
        open_edition(str(tmp_path))


def test_a_table_of_something_else_is_named(tmp_path: Path) -> None:
    """A parquet file without schemas is a wrong configuration: exit 78."""
    (tmp_path / "mine").mkdir()
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "mine" / "train.parquet")
    with pytest.raises(BadConfiguration, match="no column unique_id, json_schema"):
        open_edition(str(tmp_path))

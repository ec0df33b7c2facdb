"""A column of a Hub dataset; the snapshot stands in for the Hub."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.sources.local import open_source, read_hub_column
from curation.system.errors import BadData, NoInput

if TYPE_CHECKING:
    from pathlib import Path

    from curation.core.json_types import UntypedJson


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that the Hub's client gives for `ours/data` at `v1`."""

    def snapshot(name: str, revision: str) -> Path:
        assert (name, revision) == ("ours/data", "v1")
        return tmp_path

    monkeypatch.setattr("curation.download.huggingface.hub_snapshot", snapshot)
    return tmp_path


def write(path: Path, **columns: UntypedJson) -> None:
    """Write a table."""
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), path)


def test_values_are_schemas(hub: Path) -> None:
    """Texts or objects, of all files; what is no JSON is counted."""
    write(hub / "a/0.parquet", s=['{"type": "null"}', "{", None], unique_id=list("xyz"))
    write(hub / "b/0.parquet", s=[{"type": "string"}])
    told: list[str] = []
    found = read_hub_column("ours/data", "v1", "s", told.append)
    assert [(own.name, own.schema) for own in found] == [
        ("x", {"type": "null"}),
        ("row-4", {"type": "string"}),
    ]
    assert told == ["ours/data@v1#s: 2 values left out: no JSON"]


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        ([0, 7], ["0", "7"]),
        ([b"a", b"b"], ["a", "b"]),
        ([None, ""], ["row-1", "row-2"]),
    ],
)
def test_ids_are_texts(hub: Path, ids: list[object], names: list[str]) -> None:
    """Numbers and bytes too, as in a file of the user's."""
    write(hub / "0.parquet", s=["{}", "{}"], unique_id=ids)
    found = read_hub_column("ours/data", "v1", "s", print)
    assert [own.name for own in found] == names
    assert len(list(open_source("ours/data@v1#s").texts())) == 2


@pytest.mark.parametrize(
    "values",
    [
        [b'{"type": "null"}', b"\xff"],
        [{"const": 1.5}, {"const": float("nan")}],
        [{"const": b"x"}],
        [True, None],
        [float("inf")],
        [timedelta(1)],
    ],
)
def test_a_value_that_is_no_json_is_left_out(
    hub: Path, values: list[UntypedJson]
) -> None:
    """Wherever in the value it stands."""
    write(hub / "0.parquet", s=["{}"])
    write(hub / "1.parquet", s=values)
    told: list[str] = []
    found = read_hub_column("ours/data", "v1", "s", told.append)
    kept = found[1:]
    assert [own.name for own in kept] == ["row-2"][: len(values) - 1]
    assert told == ["ours/data@v1#s: 1 value left out: no JSON"]


def test_a_column_that_is_not_there_is_named(hub: Path) -> None:
    """With those that are."""
    write(hub / "0.parquet", s=["{}"])
    with pytest.raises(BadData, match="no column 't'"):
        read_hub_column("ours/data", "v1", "t", print)
    write(hub / "0.parquet", s=["{"])
    with pytest.raises(BadData, match="no value"):
        read_hub_column("ours/data", "v1", "s", print)


def test_a_dataset_without_tables_is_told_so(hub: Path) -> None:
    """There must be parquet files."""
    assert not list(hub.iterdir())
    with pytest.raises(NoInput, match="no parquet files"):
        read_hub_column("ours/data", "v1", "s", print)


def test_the_expression_names_all_three(hub: Path) -> None:
    """A column needs a revision: a branch would move."""
    write(hub / "0.parquet", s=['{"type": "null"}'])
    opened = open_source("ours/data@v1#s")
    assert [(text.id, text.read()) for text in opened.texts()] == [
        ("row-1", b'{"type": "null"}')
    ]
    assert opened.name == "data"
    for expression in ("a/b#s", "data@v1#s"):
        with pytest.raises(NoInput, match="no such file or folder"):
            open_source(expression)

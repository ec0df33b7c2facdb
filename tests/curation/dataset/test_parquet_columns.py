"""Rows as arrow tables."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict, dataclass, replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.dataset.parquet import columns_of, table_of, table_of_columns


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
    table = table_of(rows, columns_of(_Row))
    table.validate(full=True)
    assert table.schema == columns_of(_Row)
    held = [{**row, "parts": tuple(row["parts"])} for row in table.to_pylist()]
    assert held == list(map(asdict, rows))


def test_a_value_of_another_type_is_refused() -> None:
    """A number in a column of texts is a fault, and no text."""
    with pytest.raises(TypeError):
        table_of_columns({"name": [1]}, pa.schema([("name", pa.string())]))


def test_half_of_a_surrogate_pair_is_refused() -> None:
    """Parquet holds UTF-8; who has such a text must say what stands there instead."""
    with pytest.raises(UnicodeEncodeError):
        table_of([replace(_ROW, name="\ud800")], columns_of(_Row))


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

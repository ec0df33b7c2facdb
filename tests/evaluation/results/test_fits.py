"""What targets take of a sample: counts of ways, figures of what is rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import polars as pl
import pytest

from curation.packaging.rewritten_fits import FITS
from curation.system.errors import BadData
from evaluation.results.edition_picture import fits_picture
from evaluation.results.fits import WAYS, FitRow, fits_table, reached, read_fits

if TYPE_CHECKING:
    from pathlib import Path

_AS_IT_STANDS, _SAFE, _ANY = WAYS
_ROWS = [
    FitRow(config="c", id="0", target="b", taken=_AS_IT_STANDS, late=True),
    FitRow(config="c", sampled=True, id="1", target="b", taken=_AS_IT_STANDS),
    FitRow(
        config="c",
        sampled=True,
        id="2",
        target="b",
        taken=_SAFE,
        kept=True,
        refused=1.0,
    ),
    FitRow(
        config="c",
        sampled=True,
        id="3",
        target="b",
        taken=_ANY,
        kept=True,
        refused=0.5,
        in_the_way=["`not`"],
    ),
    FitRow(
        config="c",
        sampled=True,
        id="4",
        target="b",
        taken=_ANY,
        kept=False,
        refused=0.0,
        in_the_way=["`not`", "depth"],
        late=True,
    ),
    FitRow(
        config="c",
        sampled=True,
        id="1",
        target="a",
        taken="never",
        in_the_way=["depth"],
    ),
]


def test_a_way_counts_those_before_it_and_nothing_that_keeps_no_witness() -> None:
    """Else a schema that says nothing any more would count as fitting."""
    counts = {name: [it.count for it in ways] for name, ways in reached(_ROWS).items()}
    assert list(counts.items()) == [("b", [1, 2, 3]), ("a", [0, 0, 0])]
    assert {it.of for it in reached(_ROWS)["b"]} == {4}


def test_near_misses_are_those_of_rewritten_records() -> None:
    """As it stands, a schema refuses all; a lost one counts neither; none is a dash."""
    table = fits_table(_ROWS)
    assert [row[4:] for row in table.rows] == [
        ("75.0 %", "50.0 %", "`not` 1"),
        (None, None, "depth 1"),
    ]
    assert "ended: 1." in table.note


def test_the_picture_has_three_bars_a_target() -> None:
    """Each as wide as its share, the widest below the others."""
    picture = fits_picture(_ROWS, "2026.11")
    assert picture.count("<rect") == 6
    assert picture.index('width="225.0"') < picture.index('width="75.0"')
    assert "25 / 50 / 75 %" in picture


def test_the_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Of an edition without the file there are no rows; a foreign one is named."""
    assert read_fits(tmp_path) == []
    rows = [msgspec.to_builtins(row) for row in _ROWS]
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(tmp_path / FITS)
    assert read_fits(tmp_path) == _ROWS
    pl.DataFrame({"target": ["a"]}).write_parquet(tmp_path / FITS)
    with pytest.raises(BadData, match="not of an edition"):
        read_fits(tmp_path)

"""Tables: the same figures in every form, whatever they hold."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from rich.console import Console

from evaluation.reporting.printing import as_csv, as_json, as_markdown, for_terminal
from evaluation.reporting.statistics import Interval
from evaluation.reporting.tables import (
    BRACKETS,
    NOT_RUN,
    Duration,
    Estimate,
    FixedFigure,
    Quartiles,
    Rate,
    Ratio,
    Table,
    duration,
    to_text,
)

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from evaluation.reporting.tables import Cell


def _table(*cells: Cell) -> Table:
    columns = tuple(f"c{index}" for index in range(len(cells)))
    return Table(title="Some figures", columns=columns, rows=(cells,), note="A note.")


def test_a_column_without_any_figure_takes_its_meaning_along() -> None:
    """Where no row has one; only the named ones go, and what defines them."""
    table = _table(1, None, None)
    rows = ((1, Rate(0, 0), Rate(0, 2)), (2, Rate(0, 0), None))
    assert replace(table, rows=rows).without_empty_columns().columns == ("c0", "c2")
    assert table.without_empty_columns("c1").columns == ("c0", "c2")
    explained = replace(table, note=f"c0: one. c1: two. {BRACKETS}")
    shown = explained.without_empty_columns("c1")
    assert shown.note == f"c0: one. {BRACKETS}"


def test_a_rate_is_a_part_of_a_whole() -> None:
    """More than the whole is a defect; 0 of 0 is neither 0 % nor 100 %."""
    for count, of in ((-1, 3), (4, 3), (0, -1)):
        with pytest.raises(ValueError, match=str(of)):
            Rate(count, of)
    assert Rate(0, 0).share is None


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "-"),
        (math.nan, "-"),
        (math.inf, "-"),
        (NOT_RUN, "not run"),
        (Rate(0, 0), "- (0 of 0)"),
        (Rate(1_234, 1_485), "83.1 % [81.1, 84.9] (1,234 of 1,485)"),
        (0, "0"),
        (1_234, "1,234"),
        (True, "yes"),
        (0.12345, "0.123"),
        (Duration(0), "0 ns"),
        (Duration(999), "999 ns"),
        (Duration(1_234), "1.23 µs"),
        (Duration(45_678), "45.7 µs"),
        (Duration(9_830), "9.83 µs"),
        (Duration(456_789), "457 µs"),
        (Duration(1_234_567_890), "1.23 s"),
        (Duration(40e9, at_least=True), "≥ 40.0 s"),
        (Duration(math.nan), "-"),
        (FixedFigure(3.477), "3.48"),
        (FixedFigure(40, at_least=True), "≥ 40.00"),
        (Quartiles.of([9e5, 1e6, 2e6]), "1.00 ms [950 µs, 1.50 ms]"),
        (Quartiles.of([7], [9, 9], "tokens"), "≥ 9 [≥ 8, ≥ 9]"),
        (Quartiles.of([]), "-"),
        (Estimate(1.016, Interval(0.971, 1.07)), "1.02 [0.97, 1.07]"),
        (Estimate(1.016), "1.02"),
        (Rate.total([Rate(1, 1), Rate(0, 1)]), "50.0 % [9.5, 90.5] (1 of 2)"),
        (Ratio(1.2345, Interval(1.1, 1.4)), "1.23x [1.1, 1.4]"),
        (Ratio(math.nan), "-"),
        (duration(None), "-"),
    ],
)
def test_a_cell_reads_well(cell: Cell, text: str) -> None:
    """Three figures with a unit; what is missing is said to be."""
    assert to_text(cell) == text


def test_json_has_every_figure_and_null_for_what_is_missing() -> None:
    """Rates carry count, whole, share and bounds; NaN becomes null, never 0."""
    table = _table(Rate(1, 4), math.nan, None, NOT_RUN, Duration(7))
    content: UntypedJson = as_json(table)
    (row,) = content["rows"]
    assert (row["c0"]["count"], row["c0"]["of"]) == (1, 4)
    assert row["c0"]["share"] == 0.25
    assert (row["c1"], row["c2"]) == (None, None)
    assert row["c3"] == {"missing": "not run"}
    assert row["c4"] == {"ns": 7, "at_least": False}
    json.dumps(row, allow_nan=False)


def test_csv_has_a_column_for_each_figure() -> None:
    """A rate takes five columns; what is missing is an empty field."""
    rows = (("a,b\n", Rate(1, 4), Duration(7)), ("c", NOT_RUN, None))
    table = Table(title="t", columns=("engine", "passed", "p50"), rows=rows)
    names, first, second = csv.reader(io.StringIO(as_csv(table), newline=""))
    values = dict(zip(names, first, strict=True))
    assert values["engine"] == "a,b\n"
    assert (values["passed count"], values["passed of"]) == ("1", "4")
    assert float(values["passed share"]) == 0.25
    assert values["p50 ns"] == "7"
    assert {*second[1:]} == {""}


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=cmd|' calc'!A0.json", "'=cmd|' calc'!A0.json"),
        *((f"{sign}x", f"'{sign}x") for sign in "+-@\t"),
        ("a\x1b[31mb", "'a\\u001b[31mb"),
        *((text, text) for text in ("-1.5", "+3", "o1", "a=b", "")),
    ],
)
def test_no_cell_of_csv_is_a_formula(text: str, cell: str) -> None:
    """Of a printed table; numbers stay."""
    assert list(csv.reader(io.StringIO(as_csv(_table(text, -1)))))[1] == [cell, "-1"]


def test_markdown_shows_hostile_names_as_they_are() -> None:
    """No cell can end its column, start a tag, or steer a terminal."""
    text = as_markdown(_table("a|b", "<script>", "x\ny", "\x1b[2J", "`c`"))
    row = text.splitlines()[4]
    assert row.count(" | ") == 4
    assert r"a\|b" in row
    assert r"\<script\>" in row
    assert "\x1b" not in text


def test_a_ragged_row_is_a_defect() -> None:
    """Each row has as many cells as there are columns."""
    with pytest.raises(ValueError, match="t"):
        Table(title="t", columns=("a", "b"), rows=(("x",),))


_COMMAND = "csbdata eval --engine alpha --id 'Github_easy/o 2' " + "--set x=1 " * 20


def _printed(table: Table, width: int = 80) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width)
    with mock.patch.dict(os.environ, COLUMNS=str(width)):
        console.print(for_terminal(table), crop=False)
    return out.getvalue()


def test_a_terminal_shows_the_same_figures_in_their_columns() -> None:
    """A row is a line where there is room for it, with each figure whole."""
    rates = (Rate(3, 1_485), Rate(1_485, 1_485))
    printed = _printed(_table("[bold]x[/bold]", *rates, Duration(7)), 200)
    assert re.search(r"c0 +c1 +c2 +c3", printed)
    assert re.search(rf"\[bold\]x\[/bold\] +{re.escape(str(rates[0]))}   ", printed)
    assert f"   {rates[1]}   {Duration(7)}" in printed


@pytest.mark.parametrize(("engines", "parts"), [(2, 1), (9, 2)])
def test_no_figure_is_broken_on_a_narrow_screen(engines: int, parts: int) -> None:
    """Few engines become columns; of many the table is printed in parts."""
    names = tuple(f"figure-{number}" for number in range(12))
    rows = tuple((f"engine-{n}", *range(100, 112)) for n in range(engines))
    words = _printed(Table(title="t", columns=("engine", *names), rows=rows)).split()
    assert [words.count(name) for name in (*names, "111")] == [*[1] * 12, engines]
    assert words.count("engine-0") == words.count("engine") == parts


@pytest.mark.parametrize("width", [40, 80, 400])
def test_a_command_stands_on_one_line_of_its_own(width: int) -> None:
    """It can be copied: nothing beside it, nothing cut off, nothing folded."""
    table = Table(
        title="Failures",
        columns=("outcome", "seen", "to see it again"),
        rows=(("crash", "word " * 60, _COMMAND),),
        commands=("to see it again",),
    )
    assert f"  {_COMMAND}" in _printed(table, width).splitlines()


def test_a_table_without_rows_is_its_title() -> None:
    """Headers of nothing say nothing."""
    table = Table(title="Failures: 0 of 0", columns=("outcome", "seen"), rows=())
    assert _printed(table).split("\n")[:2] == ["Failures: 0 of 0", ""]


def test_control_characters_are_shown() -> None:
    """A name from a stranger's schema moves no cursor."""
    table = _table("\x1b[31m", "\x07")
    assert "\x1b" not in _printed(table)
    assert "\x07" not in _printed(table, 4)

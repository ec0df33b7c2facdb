"""Tables on a terminal: figures as they are, commands to be copied."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from evaluation.reporting.printing import for_terminal
from evaluation.reporting.tables import Rate, Table

_COMMAND = "csbdata eval --engine alpha --id 'Github_easy/o 2' " + "--set x=1 " * 20


def _printed(table: Table, width: int = 80) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width)
    console.print(for_terminal(table), crop=False)
    return out.getvalue()


def test_a_table_has_its_columns() -> None:
    """A row is a line where there is room for it, with each figure whole."""
    rates = (Rate(3, 1_485), Rate(1_485, 1_485))
    table = Table(
        title="Coverage",
        columns=("engine", "declared", "passed"),
        rows=(("engine-1 1.0", *rates),),
    )
    printed = _printed(table, 200)
    assert re.search(r"engine +declared +passed", printed)
    assert f"{rates[0]}   {rates[1]}" in printed


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
    table = Table(title="t", columns=("a", "b"), rows=(("\x1b[31m", "\x07"),))
    assert "\x1b" not in _printed(table)
    assert "\x07" not in _printed(table, 4)


def test_columns_without_any_figure_are_left_out() -> None:
    """A task without instances has no share of them, in no engine."""
    table = Table(
        title="t",
        columns=("engine", "declared", "passed", "time"),
        rows=(("a", Rate(1, 2), Rate(0, 0), None), ("b", Rate(0, 2), Rate(0, 0), None)),
    )
    assert table.without_empty_columns().columns == ("engine", "declared")

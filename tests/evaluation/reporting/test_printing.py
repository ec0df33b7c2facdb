"""Tables on a terminal: whole words and figures in any width, commands as they are."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from evaluation.reporting.printing import for_terminal, shortened
from evaluation.reporting.tables import Duration, Rate, Table

if TYPE_CHECKING:
    from evaluation.reporting.tables import Cell

_RATES = tuple(Rate(count, 1_485) for count in (3, 77, 912, 1_485))
_COMMAND = "csbdata eval --engine alpha --id 'Github_easy/o 2' " + "--set x=1 " * 20
_WORDS = st.lists(st.sampled_from(("llguidance", "1.9.1", "faithful")), min_size=1)
_NAMES = st.builds(" ".join, _WORDS)
_CELLS = st.one_of(
    st.integers(0, 10**9),
    st.builds(Rate, st.integers(0, 9), st.integers(9, 10**6)),
    st.builds(Duration, st.floats(1, 1e12)),
)


def _printed(table: Table, width: int = 80) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width)
    console.print(for_terminal(table), crop=False)
    return out.getvalue()


def _wide(rows: int) -> Table:
    return Table(
        title="Coverage",
        columns=("engine", "declared", "passed", "compliance", "valid accepted"),
        rows=tuple((f"engine-{number} 1.0", *_RATES) for number in range(rows)),
    )


def _named(rows: list[tuple[str, list[Cell]]]) -> Table:
    most = max(len(cells) for _, cells in rows)
    return Table(
        title="Made",
        columns=("engine", *(f"column number {index}" for index in range(most))),
        rows=tuple(
            (name, *cells, *[None] * (most - len(cells))) for name, cells in rows
        ),
    )


@given(
    st.lists(st.tuples(_NAMES, st.lists(_CELLS, max_size=9)), min_size=1, max_size=6),
    st.integers(60, 120),
)
def test_no_word_and_no_figure_is_broken(
    rows: list[tuple[str, list[Cell]]], width: int
) -> None:
    """Whatever the width, each figure stands on one line, and no line is longer."""
    printed = _printed(_named(rows), width)
    assert max(map(len, printed.splitlines())) <= width
    for name, cells in rows:
        # The default preset may go without saying.
        for word in name.removesuffix(" faithful").split():
            assert word in printed
        for cell in cells:
            text = shortened(cell, 2)
            assert any(text in line for line in printed.splitlines()), text


def test_what_fits_is_a_table_as_it_stands() -> None:
    """Columns stay columns where there is room for them."""
    assert re.search(r"engine +declared +passed", _printed(_wide(3), 200))


@pytest.mark.parametrize(
    ("width", "cell"),
    [(200, "0.2 % [0.1, 0.6] (3 of 1,485)"), (110, "0.2 % [0.1, 0.6]"), (80, "0.2 %")],
)
def test_cells_are_shortened_before_anything_wraps(width: int, cell: str) -> None:
    """First the denominator goes, then the interval; an engine has one line."""
    lines = _printed(_wide(6), width).splitlines()
    own = [line for line in lines if "engine-" in line]
    assert len(own) == 6
    assert all(re.split(r"  +", line.strip())[1] == cell for line in own)


def test_a_compact_table_names_the_columns_for_which_there_is_no_room() -> None:
    """What is hidden is said; what is left stands on one line a row."""
    out = io.StringIO()
    layout = for_terminal(_wide(6), compact=True)
    Console(file=out, width=40).print(layout, crop=False)
    lines = out.getvalue().splitlines()
    assert len([line for line in lines if "engine-" in line]) == 6
    assert lines[-3:-1] == ["Too wide for here: compliance, valid ", "accepted"]


def test_many_wide_rows_are_folded() -> None:
    """Each row is a block with its name above."""
    lines = [line.rstrip() for line in _printed(_wide(6), 58).splitlines()]
    for number in range(6):
        place = lines.index(f"engine-{number} 1.0")
        assert lines[place + 1].split() == ["declared", *str(_RATES[0]).split()]


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


def test_a_table_whose_commands_are_all_empty_is_a_table() -> None:
    """There is nothing to copy, so that nothing needs a line of its own."""
    table = Table(
        title="Engines",
        columns=("engine", "version", "to install it"),
        rows=(("alpha", "1.0", ""),),
        commands=("to install it",),
    )
    assert re.search(r"engine +version", _printed(table))


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

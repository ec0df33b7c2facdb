"""Tables for people, laid out by rich."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from curation.system.escaping import safe_lines

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text


def plain(text: str, style: str = "") -> Text:
    """Return safe text that rich prints as it is: no markup, no emoji codes."""
    from rich.text import Text  # noqa: PLC0415 - takes time

    return Text(safe_lines(text), style=style)


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    numbers: Iterable[int] = (),
) -> Group:
    """Return a table of safe cells; a screen folds those that are too long.

    Args:
        headers: The titles of the columns.
        rows: The cells; a `Text` keeps its style, None prints as an empty cell.
        title: Printed above the table.
        numbers: Positions of the columns that align right.
    """
    from rich.box import SIMPLE  # noqa: PLC0415 - takes time
    from rich.console import Group  # noqa: PLC0415 - takes time
    from rich.table import Table  # noqa: PLC0415 - takes time

    framed = Table(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 1))
    right = frozenset(numbers)
    for index, header in enumerate(headers):
        framed.add_column(
            _cell(header),
            justify="right" if index in right else "left",
            overflow="fold",
        )
    for row in rows:
        framed.add_row(*map(_cell, row))
    return Group(plain(title, "italic"), framed) if title else Group(framed)


def _cell(value: object) -> Text:
    from rich.text import Text  # noqa: PLC0415 - takes time

    if isinstance(value, Text):
        return value
    if value is None:
        return Text()
    if isinstance(value, bool):
        return Text(str(value).lower())
    return Text(safe_lines(f"{value:,}" if isinstance(value, int) else str(value)))

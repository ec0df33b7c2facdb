"""Tables as HTML, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def html_table(
    title: str, columns: Iterable[str], rows: Iterable[Iterable[str]], note: str = ""
) -> str:
    """Return a table; every text is escaped."""
    lines = "".join(_line("td", row) for row in rows)
    return (
        f"<table><caption>{escape(title)}</caption><thead>{_line('th', columns)}"
        f"</thead><tbody>{lines}</tbody></table><p>{escape(note)}</p>"
    )


def _line(kind: str, cells: Iterable[str]) -> str:
    texts = "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells)
    return f"<tr>{texts}</tr>"

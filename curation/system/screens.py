"""One screen of tables for people: those that fit, and the names of the rest."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from curation.system.tables import plain
from curation.system.terminal import say, say_command, show, stdout

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import RenderableType

#: Lines of a screen.
_LINES: Final = 40
_MORE: Final = "Another table with its notes, or --all"


def print_screen(
    command: str,
    tables: Mapping[str, RenderableType],
    names: Sequence[str],
    lines: Sequence[str] = (),
    remark: str = "",
) -> None:
    """Print the tables that fit on a screen, and on stderr the names of the others.

    Args:
        command: What prints another table with `--table`, and all with `--all`.
        tables: The tables by name, the most telling first.
        names: The names of all tables, of a task's `TASK/NAME`.
        lines: Printed above them.
        remark: A sentence about the cells.
    """
    for line in lines:
        show(line)
    names = list(dict.fromkeys((*names, *tables)))
    more = f"{remark} {_MORE}".lstrip()
    # The command below is one line more.
    left = _LINES - 1 - _height(map(plain, (*lines, more, *_by_task(names))))
    for name, table in tables.items():
        height = _height([table])
        if height <= left:
            left -= height
            stdout().print(table, crop=False)
            names.remove(name)
    if names:
        say_command(more, f"{command} --table {shlex.quote(names[0])}")
    for line in _by_task(names):
        say(line)


def _height(parts: Iterable[RenderableType]) -> int:
    """Return the number of lines that parts of a screen take."""
    console = stdout()
    return sum(len(console.render_lines(part)) for part in parts)


def _by_task(names: Iterable[str]) -> list[str]:
    """Return names of tables, a line for each task and one for those of none."""
    by_task: dict[str, list[str]] = {}
    for name in names:
        task, _, slug = name.rpartition("/")
        by_task.setdefault(task, []).append(slug)
    return [
        ": ".join(filter(None, (task, ", ".join(own)))) for task, own in by_task.items()
    ]

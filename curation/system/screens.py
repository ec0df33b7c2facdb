"""One screen of tables for people: what fits, and the names of the rest."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from rich.text import Text

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
        lines: What stands above them.
        remark: What is said of the cells.
    """
    for line in lines:
        show(line)
    more = f"{remark} {_MORE}".lstrip()
    names = list(dict.fromkeys((*names, *tables)))
    if not names:
        return
    way = f"{command} --table {max(names, key=len)}"
    left = _LINES - _height([*lines, more, way, *_by_task(names)])
    console = stdout()
    for name, layout in tables.items():
        with console.capture() as captured:
            console.print(layout, crop=False)
        needed = captured.get().count("\n")
        if needed <= left:
            left -= needed
            console.print(layout, crop=False)
            names.remove(name)
    if names:
        say_command(more, f"{command} --table {shlex.quote(names[0])}")
    for line in _by_task(names):
        say(line)


def _height(lines: Sequence[str]) -> int:
    """Return how many lines of the screen these lines of text take."""
    console = stdout()
    return sum(len(Text(line).wrap(console, console.width)) or 1 for line in lines)


def _by_task(names: Iterable[str]) -> list[str]:
    """Return names of tables, a line for each task and one for those of none."""
    by_task: dict[str, list[str]] = {}
    for name in names:
        task, _, slug = name.rpartition("/")
        by_task.setdefault(task, []).append(slug)
    return [
        ": ".join(filter(None, (task, ", ".join(own)))) for task, own in by_task.items()
    ]

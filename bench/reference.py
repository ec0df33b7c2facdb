"""Write the pages that `make docs` takes from the code: commands, rules, Python names.

python -m bench.reference FOLDER
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from typer.main import get_command

import csbdata
from curation.cli import application
from curation.rules.sets import rule_set

if TYPE_CHECKING:
    from collections.abc import Iterator


def _paths(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, child in getattr(command, "commands", {}).items():
        yield from _paths(child, (*path, name))


def _help(path: tuple[str, ...], option: str = "--help") -> str:
    out = StringIO()
    with redirect_stdout(out):
        get_command(application(path)).main(
            [*path, option], prog_name="csbdata", standalone_mode=False
        )
    if (
        re.search(r"^ +--help-all ", out.getvalue(), re.MULTILINE)
        and option == "--help"
    ):
        return _help(path, "--help-all")
    return out.getvalue()


def _commands() -> str:
    """Return the help of every command, with all its options."""
    text = "# Commands\n\n"
    for path in _paths(get_command(application())):
        name = " ".join(("csbdata", *path))
        text += f"## {name}\n\n```text\n{_help(path).rstrip()}\n```\n\n"
    return text


def _rules() -> str:
    """Return the name and summary of each rule of both sets."""
    text = "# Rules\n\n`csbdata explain RULE` names the source of each.\n"
    for name in ("clean", "paper"):
        rules = rule_set(name)
        text += f"\n## {name}\n\n{rules.summary}\n\n"
        text += "|  | rule | effect |\n|--:|---|---|\n"
        for rule in rules.all_rules:
            summary = rule.summary.replace("|", r"\|")
            text += f"| {rules.numbers[rule.name]} | `{rule.name}` | {summary} |\n"
    return text


def _python() -> str:
    """Return the signature and docstring of every public name of `csbdata`."""
    text = (
        "# Python\n\n`import csbdata` offers these names; each is imported when used.\n"
    )
    for name in dir(csbdata):
        value = getattr(csbdata, name)
        signature = str(inspect.signature(value)) if callable(value) else ""
        about = inspect.getdoc(value) or ""
        text += f"\n## {name}\n\n```text\n{name}{signature}\n\n{about}\n```\n"
    return text


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    folder = Path(sys.argv[1])
    (folder / "commands.md").write_text(_commands(), encoding="utf-8")
    (folder / "rules.md").write_text(_rules(), encoding="utf-8")
    (folder / "python.md").write_text(_python(), encoding="utf-8")

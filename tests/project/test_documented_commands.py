"""Every command and name that the documents show is there, with its options."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

import csbdata
from curation.cli import application

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ENDS = {"|", ";", "&&", ">", ">>"}
COMMAND_LINE = typer.main.get_command(application())


def _lines(document: Path) -> list[str]:
    """Return the command lines of a document, continued ones joined."""
    text = document.read_text(encoding="utf-8")
    shown = [
        body for kind, body in _BLOCK.findall(text) if kind in {"", "console", "sh"}
    ]
    # So is what is indented.
    shown += re.findall(r"^    (.*\n)", _BLOCK.sub("", text), re.MULTILINE)
    joined = "".join(shown).replace("\\\n", " ")
    return [line.strip().removeprefix("$ ") for line in joined.splitlines()]


def _calls(document: Path) -> list[tuple[str, ...]]:
    """Return what follows `csbdata` in each command of a document."""
    found = []
    for line in _lines(document):
        if not line.startswith("csbdata "):
            continue
        words = shlex.split(re.sub(r"\s#.*", "", line))
        end = next((at for at, word in enumerate(words) if word in _ENDS), len(words))
        found.append(tuple(words[1:end]))
    return found


CALLS = [(path.name, call) for path in DOCUMENTS for call in _calls(path)]


def test_the_documents_show_commands() -> None:
    """They are found, so that what follows is no empty promise."""
    assert len(CALLS) > 40


def parse(call: tuple[str, ...]) -> None:
    """Parse the words of a command: it is there and takes these options.

    Raises:
        AssertionError: there is no such command.
    """
    command = COMMAND_LINE
    rest, name = list(call), "csbdata"
    # A group that may stand alone, as `csbdata engines`, is parsed itself.
    while isinstance(command, TyperGroup) and rest[:1] != [] and rest[0][0] != "-":
        name, *rest = rest
        assert name in command.commands, f"no command {name}"
        command = command.commands[name]
    command.make_context(name, rest)


def test_every_command_shown_can_be_parsed(subtests: pytest.Subtests) -> None:
    """The command is there and takes these options, whatever they then come to."""
    for document, call in CALLS:
        with subtests.test(document=document, call=call):
            parse(call)


def _names(document: Path) -> set[str]:
    """Return the attributes of `csbdata` that the document's Python code names."""
    blocks = _BLOCK.findall(document.read_text(encoding="utf-8"))
    trees = [ast.parse(body) for kind, body in blocks if kind == "python"]
    return {
        node.attr
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "csbdata"
    }


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_python_example_is_python_and_names_what_is_there(document: Path) -> None:
    """What is read off the module is public there."""
    assert _names(document) <= {*csbdata.__all__, "__version__"}


def test_nothing_is_installed_from_where_it_is_not_yet() -> None:
    """Before a release no document has pip ask the index for csbdata itself."""
    asked = [
        (path.name, line)
        for path in DOCUMENTS
        for line in _lines(path)
        if re.search(r"pip install\b.*\bcsbdata\b", line)
    ]
    assert asked == []

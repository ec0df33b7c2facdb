"""Help and texts of the program: whole sentences, commands to paste."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

from curation.cli import application
from tests.project.test_documents import COMMAND_LINE

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Of a help text at 80 columns.
_LINES = 60
_COLUMNS = 80


def _commands(
    command: object, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from _commands(child, (*path, name))


#: Every command and group of them by its words.
PATHS = dict(_commands(get_command(application())))


def help_of(path: tuple[str, ...], option: str = "--help") -> str:
    """Return what a command prints of itself."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        get_command(application(path)).main(
            [*path, option], prog_name="csbdata", standalone_mode=False
        )
    return out.getvalue()


def test_first_screen(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a command: at most 20 lines, of commands that exist."""
    get_command(application()).main([], prog_name="csbdata", standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 20
    assert max(map(len, lines)) <= _COLUMNS
    named = [line.split()[1] for line in lines if line.startswith("  csbdata ")]
    assert len(named) == 7
    assert {(name,) for name in named} - {("--help",)} <= PATHS.keys()


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_fits(path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """At most 60 lines of 80 columns, and no sentence is cut off."""
    monkeypatch.setenv("COLUMNS", str(_COLUMNS))
    text = help_of(path, "--help")
    lines = text.splitlines()
    assert len(lines) <= _LINES
    assert max(map(len, lines)) <= _COLUMNS
    cut_off = [line for line in lines if line.endswith("...") and "Usage:" not in line]
    assert not cut_off, cut_off
    assert "\f" not in text


@pytest.mark.parametrize("path", [("build",), ("eval",), ("suite", "run")])
def test_help_all_has_the_rest(
    path: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every option has a line there, and no line is wider than the screen."""
    monkeypatch.setenv("COLUMNS", str(_COLUMNS))
    shown, every = help_of(path, "--help"), help_of(path, "--help-all")
    assert "--help-all" in shown
    options = [parameter.opts[0] for parameter in PATHS[path].params]
    rest = [name for name in options if name.startswith("-") and name not in shown]
    assert rest or "Settings of --set" in every
    assert all(option in every for option in rest)
    assert max(map(len, every.splitlines())) <= _COLUMNS


_ROOT = Path(__file__).parents[2]
_COMMAND = re.compile(r"\bcsbdata (?!is )[a-z]+ [^.;,()]*\Z")
#: Prompts of suites and messages to models are texts of their authors.
_NOT_OURS = ("suites/", "curation/fit/")
#: Interpolated words that a shell reads as they are.
_PLAIN = re.compile(r"command\(|quote\(|NAME\b|file\.name|ready\.|engines\b")
#: What follows `csbdata` where it names the program and no command of it.
_PROSE = re.compile(
    "X|and|built|developers|does|from|has|is|itself|knows|live|may|nothing|of|or"
    "|ships|than|that|there|would|writes|VERB"
)
#: A command in a text: its words, up to the end of the sentence.
_HINT = re.compile(r"\bcsbdata ([\w-][^:;,()`\n]*)")


@cache
def _nodes() -> list[tuple[str, ast.expr]]:
    """Return texts and calls of the program with their places; parsed once."""
    return [
        (f"{path.relative_to(_ROOT)}:{node.lineno}", node)
        for package in ("curation", "evaluation")
        for path in sorted((_ROOT / package).rglob("*.py"))
        if re.search(r"csbdata |\bcommand\(", text := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Constant, ast.JoinedStr, ast.Call))
    ]


def _texts() -> Iterator[tuple[str, list[ast.expr]]]:
    for where, node in _nodes():
        is_ours = not any(part in where for part in _NOT_OURS)
        if is_ours and isinstance(node, ast.JoinedStr):
            yield where, node.values


def _before(parts: list[ast.expr]) -> str:
    text = parts[-1].value if parts and isinstance(parts[-1], ast.Constant) else ""
    return str(text)


def test_a_proposed_command_can_be_pasted() -> None:
    """Folders are quoted (`curation.system.words.command`)."""
    wrong = [
        f"{where}: {ast.unparse(part.value)}"
        for where, parts in _texts()
        for at, part in enumerate(parts)
        if isinstance(part, ast.FormattedValue)
        if _COMMAND.search(_before(parts[:at]))
        if not _PLAIN.search(ast.unparse(part.value))
    ]
    assert not wrong, "\n".join(wrong)


def _shown(node: ast.AST) -> str:
    """Return a text or a call of `command`, with X for what is put in."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "command":
        return " ".join(["csbdata", *map(_shown, node.args)])
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_shown, node.values))
    return str(node.value) if isinstance(node, ast.Constant) else "X"


def _expected_failure(words: list[str]) -> str:
    """Return what is not there of a command that a text proposes; empty if all is."""
    command: Any = COMMAND_LINE
    while words and words[0] in getattr(command, "commands", ()):
        command = command.commands[words.pop(0)]
    if hasattr(command, "commands") and words and not words[0].startswith("-"):
        return "" if _PROSE.fullmatch(words[0]) else f"no command {words[0]}"
    known = {name for option in command.params for name in option.opts}
    options = {word for word in words if word.startswith("--")} - {"--help"}
    return ", ".join(options - known)


def test_every_command_in_a_text_is_there_with_its_options() -> None:
    """Errors and help that say which command mends a thing: all of the source."""
    hints = [
        (where, hint.replace(".", " ").split())
        for where, node in _nodes()
        for hint in _HINT.findall(_shown(node))
    ]
    assert len(hints) > 100
    faults = [
        f"{where}: {fault}"
        for where, words in hints
        if (fault := _expected_failure(words))
    ]
    assert not faults, "\n".join(faults)

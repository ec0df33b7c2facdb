"""The help of every command: one screen and a half, whole sentences, 80 columns."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

from curation.cli import application

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

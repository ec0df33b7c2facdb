"""Hostile files given to every parameter of every command that takes a path.

The tree of commands is walked, so that a new command or option is tried without a
change here; a required parameter that is no path needs a value in `_VALUES`.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from curation import cli
from curation.system.errors import CsbdataError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Words in the placeholder of a parameter that takes a path.
_PATHS = (
    *("SOURCE", "DATA", "DIR", "FILE", "FOLDER", "RUN", "PATH", "BUILD", "REPO"),
    *("KEY", "SHARD", "ANSWERS", "A", "B", "ID"),
)
#: Values of required parameters that are no path, and what keeps a command short.
_VALUES = {"NAME[@paper]": "quality", "N": "5", "CONFIG/ID": "Github_easy/o36"}
_EXTRA = {
    "build": ["--sample", "--jobs", "1"],
    "eval": ["--task", "declared", "--engine", "none", "--limit", "2"],
    "load": ["--rate", "1"],
    "push": ["--dry-run"],
    "release": ["--dry-run"],
    "suite run": ["--limit", "1", "--set", "budget=4"],
}
#: Targets of commands that take seconds; the folder holds all the others.
_FEW = ("folder", "binary.json", "loop.json")
_SLOW = {"build", "eval", "load", "push", "suite run", "verify"}
#: Commands that take no path, or would install something.
_LEFT_OUT = {"engines add", "engines remove", "sources"}
#: Exit codes that a documented error has.
_CODES = {0, 1, 2, 65, 66, 69, 73, 75, 77, 78}


class Case(NamedTuple):
    """One parameter of one command that takes a path."""

    command: str
    #: Its option, or its place among the arguments.
    parameter: str


def _leaves(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    children = getattr(command, "commands", None)
    if not children:
        yield path
        return
    for name, child in children.items():
        yield from _leaves(child, (*path, name))


@cache
def _tree() -> object:
    return typer.main.get_command(cli.application())


def _parameters(path: tuple[str, ...]) -> list[object]:
    command = _tree()
    for name in path:
        command = command.commands[name]  # type: ignore[attr-defined]  # typer has no public type
    return [each for each in command.params if each.name != "help"]  # type: ignore[attr-defined]  # typer has no public type


def _words(parameter: object) -> set[str]:
    metavar = getattr(parameter, "metavar", None) or ""
    for mark in "[]|=/.#":
        metavar = metavar.replace(mark, " ")
    return set(metavar.split())


def _takes_path(parameter: object) -> bool:
    name = str(getattr(parameter, "name", ""))
    return not _words(parameter).isdisjoint(_PATHS) or name in {"out", "mirror"}


def _cases() -> list[Case]:
    return [
        Case(" ".join(path), str(parameter.name))  # type: ignore[attr-defined]  # typer has no public type
        for path in _leaves(_tree())
        if " ".join(path) not in _LEFT_OUT
        for parameter in _parameters(path)
        if _takes_path(parameter)
    ]


def _command_line(case: Case, target: str, sound: dict[str, str]) -> list[str]:
    """Return a command line with a target in one place, and sound values elsewhere."""
    path = tuple(case.command.split())
    line = [*path, *_EXTRA.get(case.command, [])]
    arguments: list[str] = []
    for parameter in _parameters(path):
        is_argument = parameter.param_type_name == "argument"  # type: ignore[attr-defined]  # typer has no public type
        metavar = str(getattr(parameter, "metavar", "") or "")
        own = str(getattr(parameter, "name", "")) == case.parameter
        if not own and not getattr(parameter, "required", False):
            continue
        value = target if own else _VALUES.get(metavar, sound["folder"])
        if is_argument:
            arguments.append(value)
        elif str(getattr(parameter, "name", "")) in {"form", "format_"}:
            line += ["--format", "html"]
        else:
            line += [max(parameter.opts, key=len), value]  # type: ignore[attr-defined]  # typer has no public type
    return [*line, *arguments]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return hostile files and a folder of all of them, by what is odd."""
    root = tmp_path_factory.mktemp("hostile") / "folder"
    root.mkdir()
    schema = '{"type": "object", "properties": {"a": {"type": "string"}}}'
    (root / "sound.json").write_text(schema)
    (root / "=cmd|' calc'!A0.json").write_text(schema.replace("string", "integer"))
    (root / "esc\x1b[31m.json").write_text(schema.replace("string", "boolean"))
    (root / "loop.json").symlink_to("loop.json")
    (root / "loop").symlink_to(".")
    (root / "nowhere.json").symlink_to("/nowhere/at/all")
    (root / "zero.json").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe.json")
    with (root / "sparse.json").open("wb") as file:
        file.truncate(2**36)
    digits = "9" * 400
    bounds = f'{{"minimum": {digits}, "minItems": {digits}, "maxLength": -{digits}}}'
    (root / "bounds.json").write_text(f'{{"properties": {{"a": {bounds}}}}}')
    (root / "list.json").write_text("[1, 2]")
    (root / "number.json").write_text("12")
    (root / "empty.json").touch()
    (root / "binary.json").write_bytes(bytes(range(256)))
    (root / "bom.json").write_bytes(b"\xef\xbb\xbf" + schema.encode())
    (root / "cut.parquet").write_bytes(b"PAR1" + bytes(40))
    (root / "folder.json").mkdir()
    Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.json")).write_text(schema)
    targets = {"folder": str(root), "absent": str(root / "absent")}
    # A pipe that is named is waited for, as `check <(generate)` wants it.
    names = [path for path in root.iterdir() if path.name != "pipe.json"]
    return targets | {path.name: str(path) for path in names}


@pytest.mark.slow
@pytest.mark.parametrize("case", _cases(), ids=" ".join)
def test_no_path_is_a_defect(
    case: Case,
    hostile: dict[str, str],
    sample_build: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each ends with a documented code, in a line of its own or with a result."""
    application = cli.application()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    sound = {"folder": str(sample_build)}
    defects = []
    for name in _FEW if case.command in _SLOW else hostile:
        target = hostile[name]
        line = _command_line(case, target, sound)
        done = CliRunner().invoke(application, line)
        known = isinstance(done.exception, CsbdataError | SystemExit | type(None))
        if (
            not known
            or done.exit_code not in _CODES | {CsbdataError.exit_code}
            or getattr(done.exception, "exit_code", 0) == CsbdataError.exit_code
        ):
            defects.append((name, line, repr(done.exception)))
    assert not defects, "\n".join(map(str, defects))


def test_every_required_parameter_is_tried() -> None:
    """A new command with a parameter that is no path needs a value here."""
    commands = {case.command for case in _cases()}
    assert {
        "check",
        "build",
        "eval",
        "verify",
        "results show",
        "suite score",
    } <= commands
    assert len(_cases()) > 30

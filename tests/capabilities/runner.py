"""Run the rows of the table through the command line, and check what comes."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tomllib
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.capabilities import checks, servers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_PLACE = re.compile(r"\{([a-z][a-z0-9-]*)\}")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One thing that the project can do; `table.toml` says what its members are."""

    id: str
    sentence: str
    source: str
    command: str
    text: tuple[str, ...] = ()
    equal: Mapping[str, Any] = field(default_factory=dict)
    cells: tuple[tuple[str, dict[str, Any], str, Any], ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    check: str = ""
    server: str = ""
    wrong: str = ""


@dataclass(frozen=True, kw_only=True)
class Output:
    """What a row's command left: its standard output, and its folder."""

    stdout: str
    folder: Path
    #: The folders of the rows that it names.
    folders: Mapping[str, Path] = field(default_factory=dict)
    stderr: str = ""

    @property
    def lines(self) -> list[Any]:
        """The output as JSON, line by line."""
        return [json.loads(line) for line in self.stdout.splitlines()]

    @property
    def value(self) -> Any:  # noqa: ANN401 (any JSON)
        """The output as one JSON value."""
        return json.loads(self.stdout)

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table of the output that has this name."""
        return next(
            each["rows"] for each in self.value["tables"] if each["name"] == table
        )


def read_table() -> dict[str, Row]:
    """Return the rows by their ids."""
    read = tomllib.loads((_HERE / "table.toml").read_text("utf-8"))
    return {each["id"]: Row(**each) for each in read["row"]}


class Session:
    """Runs each row once; a row that names another in braces uses its folder."""

    def __init__(self, rows: Mapping[str, Row], folder: Path) -> None:
        """Start without any output."""
        self._rows = rows
        self._folder = folder
        self._outputs: dict[str, Output] = {}

    def output(self, name: str) -> Output:
        """Return what the command of a row left."""
        if name not in self._outputs:
            self._outputs[name] = self._run(self._rows[name])
        return self._outputs[name]

    def _run(self, row: Row) -> Output:
        folder = self._folder / row.id
        folder.mkdir()
        named = {
            name: self.output(name).folder
            for name in _PLACE.findall(row.command)
            if name in self._rows
        }
        with ExitStack() as stack:
            places: dict[str, object] = {**named, "material": _HERE / "material"}
            variables = {}
            if row.server:
                start = getattr(servers, row.server)
                variables = stack.enter_context(start(folder))
            command = _PLACE.sub(
                lambda found: str(places.get(found[1], found[0])), row.command
            )
            ended = subprocess.run(
                ["bash", "-c", command],  # noqa: S607 (bash as it is here)
                cwd=folder,
                env=_environment(self._folder, variables),
                capture_output=True,
                text=True,
                check=False,
            )
        return Output(
            stdout=ended.stdout, stderr=ended.stderr, folder=folder, folders=named
        )


def _environment(folder: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """Return that of a stranger: a home of its own, no mirror, this environment."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CSBDATA_", "HF_", "XDG_"))
        and not name.lower().endswith("_proxy")
    }
    programs = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
    return {
        **kept,
        "HOME": str(folder),
        "PATH": programs,
        "PROJECT": str(_ROOT),
        "CSBDATA_CACHE": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        **variables,
    }


def failures(row: Row, output: Output) -> Iterator[str]:
    """Yield each claim of a row that the output does not hold."""
    for text in row.text:
        if text not in output.stdout + output.stderr:
            yield f"no {text!r} in the output"
    for pointer, expected in row.equal.items():
        yield from _differs(pointer, expected, lambda p=pointer: at(output.value, p))
    for table, where, pointer, expected in row.cells:
        yield from _differs(
            f"{table} {where} {pointer}",
            expected,
            lambda t=table, w=where, p=pointer: at(_only(output.rows(t), w), p),
        )
    for pattern, text in row.files.items():
        found = [
            path
            for path in output.folder.glob(pattern)
            if text in path.read_text("utf-8", errors="replace")
        ]
        if not found:
            yield f"no {pattern} with {text!r}"
    if row.check:
        try:
            getattr(checks, row.check)(output)
        except Exception as error:  # noqa: BLE001 (whatever an output leads to)
            yield f"{row.check}: {type(error).__name__}: {error}"


def claims(row: Row) -> int:
    """Return how many claims a row makes."""
    kinds = (row.text, row.equal, row.cells, row.files)
    return sum(map(len, kinds)) + bool(row.check)


def _differs(name: str, expected: object, read: Any) -> Iterator[str]:  # noqa: ANN401 (a function)
    try:
        found = read()
    except (LookupError, ValueError, StopIteration) as error:
        yield f"{name}: {type(error).__name__}: {error}"
    else:
        if not _equal(found, expected):
            yield f"{name}: {found!r}, not {expected!r}"


def at(value: Any, pointer: str) -> Any:  # noqa: ANN401 (any JSON)
    """Return what stands at a JSON pointer."""
    for step in pointer.split("/")[1:]:
        value = value[int(step) if isinstance(value, list) else step]
    return value


def _only(rows: list[dict[str, Any]], where: dict[str, Any]) -> dict[str, Any]:
    """Return the one row of a table in which columns begin with these texts."""
    [found] = [
        row
        for row in rows
        if all(str(row[name]).startswith(str(text)) for name, text in where.items())
    ]
    return found


def _equal(found: object, expected: object) -> bool:
    if isinstance(expected, float) and isinstance(found, int | float):
        return math.isclose(found, expected, rel_tol=1e-3)
    return found == expected

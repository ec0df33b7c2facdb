"""Hostile files, and mutated valid ones, for every command that takes a path.

The tree of commands is walked, so that a new command or option is tried without a
change here; a required parameter that is no path needs a value in `_VALUES`.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.system.errors import CsbdataError
from tests.evaluation.made_runs import many, write_run
from tests.invoking import invoke
from tests.project.test_help import PATHS

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Words in the placeholder of a parameter that takes a path.
_PATHS = (
    *("SOURCE", "DATA", "DIR", "FILE", "FOLDER", "RUN", "PATH", "BUILD", "REPO"),
    *("KEY", "SHARD", "ANSWERS", "A", "B", "ID"),
)
#: Values of required parameters that are no path, and what keeps a command short.
_VALUES = {
    "NAME[@paper]": "quality",
    "N": "5",
    "CONFIG/ID": "Github_easy/o36",
    "MODEL": "http://127.0.0.1:9/v1#small",
}
_EXTRA = {
    "build": ["--sample", "--jobs", "1"],
    "eval": ["--task", "masks", "--engine", "none", "--limit", "2"],
    "push": ["--dry-run"],
    "suite run": ["--limit", "1", "--set", "budget=4"],
}
#: Targets of commands that take seconds; the folder holds all the others.
_FEW = ("folder", "binary.json", "loop.json")
_SLOW = {"build", "eval", "push", "suite run", "verify"}
#: Commands that take no path, or would install something.
_LEFT_OUT = {"engines add", "sources"}
#: By a word of the placeholder.
_SOUND = {"RUN": "run", "DATA": "build", "SOURCE": "schemas", "FILE": "responses.jsonl"}
#: Exit codes that a documented error has.
_CODES = {0, 1, 2, 65, 66, 69, 73, 75, 77, 78}
#: Those of one command: `fit` has a code for each of its verdicts.
_OF_COMMAND = {"fit": {3, 4}}


class Case(NamedTuple):
    """One parameter of one command that takes a path."""

    command: str
    #: Its option, or its place among the arguments.
    parameter: str


#: The parameters of each command, help apart.
_PARAMETERS = {
    " ".join(path): [each for each in command.params if each.name != "help"]
    for path, command in PATHS.items()
    if not getattr(command, "commands", None)
}


def _words(parameter: Any) -> set[str]:  # noqa: ANN401 (typer has no public type)
    return set(re.sub(r"[]\[|=/.#]", " ", parameter.metavar or "").split())


_CASES = [
    Case(command, parameter.name)
    for command, parameters in _PARAMETERS.items()
    if command not in _LEFT_OUT
    for parameter in parameters
    if _words(parameter) & {*_PATHS} or parameter.name in {"out", "mirror"}
]


def _sound(parameter: Any) -> str:  # noqa: ANN401 (typer has no public type)
    if parameter.name == "run_dir":
        return _SOUND["RUN"]
    words = _words(parameter)
    return next((_SOUND[word] for word in _SOUND if word in words), "build")


def _command_line(case: Case, target: str, sound: Path) -> list[str]:
    """Return a command line with a target in one place, and sound values elsewhere."""
    line = [*case.command.split(), *_EXTRA.get(case.command, [])]
    arguments: list[str] = []
    for parameter in _PARAMETERS[case.command]:
        own = parameter.name == case.parameter
        if not own and not parameter.required:
            continue
        value = _VALUES.get(parameter.metavar or "") or str(sound / _sound(parameter))
        if own:
            value = target
        elif parameter.name in {"form", "format_"}:
            value = "html"
        elif parameter.name == "out":
            value = f"new-{uuid4().hex}"
        if parameter.param_type_name == "argument":
            arguments.append(value)
        else:
            line += [max(parameter.opts, key=len), value]
    return [*line, *arguments]


def _defect(line: list[str]) -> str:
    """Return what ended a command in an undocumented way; empty if nothing did."""
    done = invoke(*line)
    known = isinstance(done.exception, CsbdataError | SystemExit | type(None))
    of_ours = getattr(done.exception, "exit_code", 0) == CsbdataError.exit_code
    if (
        known
        and not of_ours
        and done.exit_code in _CODES | _OF_COMMAND.get(line[0], set())
    ):
        return ""
    return f"{line}: {done.exception!r}"


@pytest.fixture
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CSBDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="module")
def sound(sample_build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of valid inputs, by the names in `_SOUND`."""
    root = tmp_path_factory.mktemp("sound")
    shutil.copytree(sample_build, root / "build")
    write_run(root / "run", [*many("alpha 1.0", 3), *many("beta 2.0", 3)])
    schema = '{"type": "object", "properties": {"a": {"type": "string"}}}'
    (root / "schemas").mkdir()
    (root / "schemas" / "a.json").write_text(schema)
    (root / "schemas" / "b.json").write_text(
        f'{{"schema": {schema}, "tests": [{{"data": {{"a": 1}}, "valid": false}}]}}'
    )
    (root / "responses.jsonl").write_text(
        '{"record": "g/a", "text": "{}"}\n{"record": "g/b", "text": "1"}\n'
    )
    return root


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
@pytest.mark.usefixtures("_alone")
@pytest.mark.parametrize("case", _CASES, ids=" ".join)
def test_no_path_is_a_defect(case: Case, hostile: dict[str, str], sound: Path) -> None:
    """Each ends with a documented code, in a line of its own or with a result."""
    names = _FEW if case.command in _SLOW else hostile
    lines = [_command_line(case, hostile[name], sound) for name in names]
    assert [*filter(None, map(_defect, lines))] == []


#: What makes a command read the build that it is given.
_SUBJECT = {name: ["Snowplow/sp_0_Normalized"] for name in ("explain", "instances")}


@pytest.fixture(scope="module")
def small_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a build of 42 records: each of its columns is read some thousand times."""
    out = tmp_path_factory.mktemp("small") / "build"
    line = "build --sample --only snowplow --instances --out"
    assert invoke(*line.split(), out).exit_code == 0
    return out


def _other_tables(table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """Yield a table with a column of another type, empty or gone, for each column."""
    for place, column in enumerate(table.column_names):
        is_text = pa.types.is_string(table.schema.field(place).type)
        other = pa.array([7] * len(table) if is_text else ["x y"] * len(table))
        nulls = pa.nulls(len(table), table.schema.field(place).type)
        yield f"{column} of another type", table.set_column(place, column, other)
        yield f"{column} empty", table.set_column(place, column, nulls)
        yield f"{column} gone", table.remove_column(place)


@pytest.mark.nightly
@pytest.mark.usefixtures("_alone")
@pytest.mark.parametrize(
    "case",
    [
        case
        for case in _CASES
        if case.parameter in {"where", "a", "b", "build", "folder", "against", "data"}
    ],
    ids=" ".join,
)
def test_no_column_of_a_table_is_a_defect(
    case: Case, sound: Path, small_build: Path, tmp_path: Path
) -> None:
    """Each column of each table of a build, in each way that it can be wrong."""
    build, defects = tmp_path / "build", []
    kinds = ("Snowplow/test-*", "instances/Snowplow/test-*", "ledger/*")
    tables = [path for kind in kinds for path in small_build.glob(kind)]
    for path in tables:
        for what, table in _other_tables(pq.read_table(path, partitioning=None)):
            shutil.copytree(small_build, build, copy_function=os.link)
            own = build / path.relative_to(small_build)
            own.unlink()
            pq.write_table(table, own)
            line = _command_line(case, str(build), sound)
            if defect := _defect([*line, *_SUBJECT.get(case.command, [])]):
                defects.append(f"{defect} ({own.relative_to(build)}: {what})")
            shutil.rmtree(build)
    assert not defects, "\n".join(defects)


def test_every_required_parameter_is_tried() -> None:
    """A new command with a parameter that is no path needs a value here."""
    wanted = {"check", "build", "eval", "verify", "results show", "suite score"}
    assert wanted <= {case.command for case in _CASES}
    assert len(_CASES) > 30

"""Faults of one line each; the plug-in registry, and a missing extra's command."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

import curation.system.errors
from curation.system.errors import (
    BadConfiguration,
    CsbdataError,
    install_extra,
    missing_library,
)
from curation.system.registry import Registry, closest_names
from curation.system.words import counted
from tests.slow_cases import first_fast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _all(root: type[CsbdataError]) -> list[type[CsbdataError]]:
    below = [each for child in root.__subclasses__() for each in _all(child)]
    return [root, *below]


OURS = [
    each
    for each in _all(CsbdataError)
    if each.__module__ == curation.system.errors.__name__
]


@pytest.mark.parametrize("kind", OURS)
def test_the_tree_is_drawn_in_the_docstring(kind: type[CsbdataError]) -> None:
    """With the exit code of each."""
    drawn = [
        line.split() for line in (curation.system.errors.__doc__ or "").splitlines()
    ]
    line = next(each for each in drawn if kind.__name__ in each)
    assert str(kind.exit_code) in line


@pytest.mark.parametrize("kind", OURS)
def test_a_fault_is_one_line(kind: type[CsbdataError]) -> None:
    """Where, what, what next; line breaks inside become spaces."""
    fault = kind("two\nlines", "place", "do it")
    assert str(fault) == "place: two lines: do it"
    assert str(kind("what")) == "what"


def test_a_fault_travels_between_processes() -> None:
    """With its parts."""
    fault = pickle.loads(pickle.dumps(CsbdataError("a", "b", "c")))  # noqa: S301 # our own
    assert (fault.message, fault.where, fault.hint) == ("a", "b", "c")


#: As a wheel declares them: by the name of the extra, each with what it includes.
_DECLARED = [
    "rich>=15",
    'hf-xet>=1; extra == "build"',
    'hf-xet>=1; extra == "all"',
    "torch>=2 ; extra == 'all'",
    "torch>=2 ; extra == 'models'",
]
#: Starts a command line in an installation that has no library of the extra `build`.
_LIGHT = """
import re, sys
from importlib.metadata import requires
lines = [line for line in requires("csbdata") if "'build'" in line]
held = {{re.match("[\\\\w-]+", line)[0].replace("-", "_") for line in lines}}
class Absent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in held:
            raise ModuleNotFoundError(name, name=name)
assert len(held) > 8
sys.meta_path.insert(0, Absent)
sys.argv[1:] = {words!r}
from csbdata import main
main()
"""


@pytest.mark.parametrize(
    ("module", "extra"),
    [
        *(("hf_xet.core", "build"), ("torch", "models")),
        *((module, None) for module in ("rich", "curation.none_such", None)),
    ],
)
def test_the_extra_of_a_library_is_named(
    module: str | None, extra: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a module of it is missing.

    A library of the base installation, or a module of ours, is a defect.
    """
    monkeypatch.setattr("importlib.metadata.requires", lambda _name: _DECLARED)
    fault = missing_library(ModuleNotFoundError("no", name=module))
    assert (fault and fault.hint) == (extra and install_extra(extra))


@pytest.mark.parametrize(
    ("words", "code", "said"),
    first_fast(
        2,
        [
            (["check", "{schema}"], 0, ""),
            (["build", "--sample"], 69, "csbdata[build]"),
            (["eval", "--engine", "none"], 69, "csbdata[build]"),
            (["instances", "{schema}"], 0, ""),
            (["explain", "references"], 0, ""),
            (["verify", "."], 69, "csbdata[build]"),
            (["--help"], 0, ""),
        ],
    ),
    ids=lambda value: str(value[0]) if isinstance(value, list) else "",
)
def test_a_light_installation_checks_schemas_and_says_what_else_needs(
    words: list[str], code: int, said: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """polars, pyarrow, matplotlib and their like are of the extra `build`."""
    folder = tmp_path_factory.mktemp("light")
    schema = folder / "schema.json"
    schema.write_text('{"type": "integer"}', encoding="utf-8")
    typed = [word.format(schema=schema) for word in words]
    ended = subprocess.run(
        [sys.executable, "-c", _LIGHT.format(words=typed)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == code, ended.stderr[-2000:]
    assert said in ended.stderr


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (1, "schema", "1 schema"),
        (0, "schema", "0 schemas"),
        (2, "URL with a password", "2 URLs with a password"),
        (1_000, "e-mail address", "1,000 e-mail addresses"),
    ],
)
def test_a_number_has_its_noun(number: int, noun: str, text: str) -> None:
    """One schema is no "1 schemas", and what is plural is the noun."""
    assert counted(number, noun) == text


@dataclass(frozen=True)
class Tool:
    """What the registries of these tests hold."""

    name: str


#: A module that holds a tool.
MODULE = dedent(
    """
    from tests.curation.system.test_errors import Tool

    TOOL = Tool({name!r})
    """
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder that Python imports from, and forget its modules afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(tmp_path)):
            del sys.modules[name]


def write_package(folder: Path, **names: str) -> None:
    """Lay out the package `tools`: a module for each name of a tool."""
    package = folder / "tools"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "shared.py").write_text("LIMIT = 3\n")
    for module, name in names.items():
        (package / f"{module}.py").write_text(MODULE.format(name=name))


def install(folder: Path, text: str, **groups: str) -> None:
    """Lay out a distribution: the module `theirs`, and an entry point a group."""
    (folder / "theirs.py").write_text(text)
    about = folder / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: theirs\nVersion: 1.0\n")
    lines = [f"[{group}]\ntheirs = {target}\n" for group, target in groups.items()]
    (about / "entry_points.txt").write_text("".join(lines))


def registry(package: str = "", group: str = "", module: str = "") -> Registry[Tool]:
    """Return a registry of tools."""
    return Registry[Tool](
        noun="tool",
        classes=(Tool,),
        attribute="TOOL",
        group=group,
        package=package,
        module=module,
    )


def test_every_file_of_a_folder_that_holds_one_is_found(folder: Path) -> None:
    """Plug-ins come in order of their files; what holds none is passed over."""
    write_package(folder, second="b", first="c")
    assert list(registry("tools").by_name()) == ["c", "b"]


def test_a_plug_in_may_be_a_folder(folder: Path) -> None:
    """A module of the folder then holds the plug-in; files are plug-ins too."""
    write_package(folder, file="a")
    inner = folder / "tools" / "inner"
    inner.mkdir()
    (inner / "__init__.py").write_text("")
    (inner / "main.py").write_text(MODULE.format(name="b"))
    assert list(registry("tools", module="main").by_name()) == ["a", "b"]


@pytest.mark.parametrize("target", ["theirs", "theirs:TOOL"])
def test_another_package_adds_one(folder: Path, target: str) -> None:
    """An entry point names the plug-in, or the module that holds it."""
    install(folder, MODULE.format(name="theirs"), tools_group=target)
    assert list(registry("", "tools_group").by_name()) == ["theirs"]


def test_two_of_one_name_are_refused(folder: Path) -> None:
    """The message says the name, and where the second one stands."""
    write_package(folder, first="same", second="same")
    with pytest.raises(BadConfiguration, match=r"tools\.second: a second tool named"):
        registry("tools").by_name()


def test_an_entry_point_to_something_else_is_refused(folder: Path) -> None:
    """The message names the entry point and what it leads to."""
    install(folder, "TOOL = 3\n", tools_group="theirs")
    with pytest.raises(BadConfiguration, match="theirs: the entry point 'theirs' is"):
        registry("", "tools_group").by_name()


def test_a_misspelt_name_is_met_with_what_it_may_mean() -> None:
    """Names that are alike are offered, or all of them where none is."""
    known = ("hammer", "saw")
    assert str(registry().unknown("hamer", known)) == (
        "there is no tool 'hamer': did you mean hammer?"
    )
    assert "known: hammer, saw" in str(registry().unknown("zzz", known))
    assert closest_names("hamer", known) == ["hammer"]

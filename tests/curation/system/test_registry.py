"""The plug-in registry: a folder, entry points, duplicates, misspelt names."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from curation.system.errors import BadConfiguration
from curation.system.registry import Registry, closest_names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Tool:
    """What the registries of these tests hold."""

    name: str


#: A module that holds a tool.
MODULE = dedent(
    """
    from tests.curation.system.test_registry import Tool

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

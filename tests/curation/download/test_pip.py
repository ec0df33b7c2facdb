"""How this Python's pip is found."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from curation.download.publishers import pip_command
from curation.system.errors import Unavailable


def test_looking_for_pip_leaves_distutils_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A finder of setuptools exchanges it where pip is looked for; torch uses it."""
    there = ModuleType("distutils")
    monkeypatch.setitem(sys.modules, "distutils", there)
    assert pip_command() == [sys.executable, "-m", "pip"]
    assert sys.modules["distutils"] is there


def test_without_a_pip_of_its_own_that_on_the_path_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Under either name; without any the command that brings one is told."""
    finder = "curation.download.publishers.PathFinder.find_spec"
    monkeypatch.setattr(finder, lambda _name: None)
    for names in (["pip", "pip3"], ["pip3"]):
        there = {name: f"/bin/{name}" for name in names}
        monkeypatch.setattr("curation.download.publishers.which", there.get)
        assert pip_command() == [f"/bin/{names[0]}"]
    monkeypatch.setattr("curation.download.publishers.which", {}.get)
    with pytest.raises(Unavailable, match="ensurepip"):
        pip_command()

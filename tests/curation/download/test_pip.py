"""How this Python's pip is found."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from curation.download.publishers import pip_command

if TYPE_CHECKING:
    import pytest


def test_looking_for_pip_leaves_distutils_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A finder of setuptools exchanges it where pip is looked for; torch uses it."""
    there = ModuleType("distutils")
    monkeypatch.setitem(sys.modules, "distutils", there)
    assert pip_command() == [sys.executable, "-m", "pip"]
    assert sys.modules["distutils"] is there

"""The examples in the docstrings of `curation.instances` hold."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import curation.instances

_MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(
        curation.instances.__path__, "curation.instances."
    )
)


@pytest.mark.parametrize("name", _MODULES)
def test_every_example_gives_what_it_says(name: str) -> None:
    """A reader who types an example gets the result that stands below it."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0

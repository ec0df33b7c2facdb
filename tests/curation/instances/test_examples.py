"""The examples in the docstrings of `curation.instances` hold."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import curation.instances
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.values.model import InstanceKind, Witness
from curation.schema.dialects import DRAFT_07

_MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(
        curation.instances.__path__, "curation.instances."
    )
)

#: Names that examples need not import.
_NAMES = {name.__name__: name for name in (CompiledSchema, InstanceKind, Witness)} | {
    "DRAFT_07": DRAFT_07
}


@pytest.mark.parametrize("name", _MODULES)
def test_every_example_gives_what_it_says(name: str) -> None:
    """A reader who types an example gets the result that stands below it."""
    module = importlib.import_module(name)
    assert doctest.testmod(module, extraglobs=_NAMES).failed == 0

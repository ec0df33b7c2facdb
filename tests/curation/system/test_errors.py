"""Faults: one line each, with an exit code."""

from __future__ import annotations

import pickle

import pytest

import curation.system.errors
from curation.system.errors import CsbdataError


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
    assert (fault.what, fault.where, fault.then) == ("a", "b", "c")

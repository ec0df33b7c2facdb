"""Faults: one line each, with an exit code."""

from __future__ import annotations

import pickle

import pytest

import curation.system.errors
from curation.system.errors import Fault


def _all(root: type[Fault]) -> list[type[Fault]]:
    below = [each for child in root.__subclasses__() for each in _all(child)]
    return [root, *below]


OURS = [
    each for each in _all(Fault) if each.__module__ == curation.system.errors.__name__
]


@pytest.mark.parametrize("kind", OURS)
def test_the_tree_is_drawn_in_the_docstring(kind: type[Fault]) -> None:
    """With the exit code of each."""
    drawn = [
        line.split() for line in (curation.system.errors.__doc__ or "").splitlines()
    ]
    line = next(each for each in drawn if kind.__name__ in each)
    assert str(kind.exit_code) in line


@pytest.mark.parametrize("kind", OURS)
def test_a_fault_is_one_line(kind: type[Fault]) -> None:
    """Where, what, what next; line breaks inside become spaces."""
    fault = kind("two\nlines", "place", "do it")
    assert str(fault) == "place: two lines: do it"
    assert str(kind("what")) == "what"


def test_a_fault_travels_between_processes() -> None:
    """With its parts."""
    fault = pickle.loads(pickle.dumps(Fault("a", "b", "c")))  # noqa: S301 # our own
    assert (fault.what, fault.where, fault.then) == ("a", "b", "c")

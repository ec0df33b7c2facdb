"""Values that must not be missing."""

from __future__ import annotations

from typing import TypeVar

_Value = TypeVar("_Value")


def known(value: _Value | None) -> _Value:
    """Return a value; None fails the test."""
    assert value is not None
    return value

"""What tasks write into the labels of rows, read back: rows may be of any version."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation.core.cases import Row


def number_in(row: Row, name: str, default: int) -> int:
    """Return a number in a row's label; the default where it is none."""
    value = row.label.get(name)
    return value if type(value) is int else default


def features_of(row: Row) -> tuple[str, ...]:
    """Return the features of a row's schema; none where the row does not say."""
    stated = row.label.get("features")
    return tuple(map(str, stated)) if isinstance(stated, list) else ()


def formats_of(row: Row) -> tuple[str, ...]:
    """Return the values of `format` in a row's schema; none if it does not say."""
    stated = row.label.get("formats")
    return tuple(map(str, stated)) if isinstance(stated, list) else ()

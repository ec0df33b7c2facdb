"""What JSON values are: types, numbers, equality."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.json.values import identity, is_multiple, is_number, type_of

if TYPE_CHECKING:
    from curation.core.json_types import Json


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (False, "boolean"),
        ("1", "string"),
        (1, "integer"),
        (1.0, "integer"),
        (1.5, "number"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_every_value_has_one_type(value: Json, kind: str) -> None:
    """A number without a fraction is an integer, a boolean is no number."""
    assert type_of(value) == kind
    assert is_number(value) == (kind in ("integer", "number"))


def test_equal_values_have_one_identity() -> None:
    """1 is 1.0 at any depth, but true is not 1, and "1" is neither."""
    assert identity({"a": [1]}) == identity({"a": [1.0]})
    assert len({identity(value) for value in (1, True, "1", None)}) == 4


def test_multiples_are_those_of_decimals() -> None:
    """0.3 is three times 0.1, which binary fractions deny."""
    assert is_multiple(0.3, 0.1)
    assert not is_multiple(0.35, 0.1)

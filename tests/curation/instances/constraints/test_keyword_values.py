"""Keywords of one schema object."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.keyword_values import (
    accepts_everything,
    array_of,
    item_keywords,
    names_of,
    number_of,
    object_of,
)
from curation.schema.dialects import DRAFT_07, DRAFT_2020_12

if TYPE_CHECKING:
    from curation.core.json_types import Json


def test_only_true_and_the_empty_object_plainly_accept_everything() -> None:
    """What needs a proof is not taken to accept everything."""
    assert accepts_everything(schema=True)
    assert accepts_everything({})
    assert not accepts_everything(schema=False)
    assert not accepts_everything({"minLength": 0})


def test_a_keyword_of_another_type_holds_nothing() -> None:
    """An object where an array is due, or the other way round, counts as none."""
    schema: dict[str, Json] = {"properties": [], "allOf": {}, "required": ["a"]}
    assert object_of(schema, "properties") == {}
    assert array_of(schema, "allOf") == []
    assert array_of(schema, "required") == ["a"]
    assert names_of(schema["required"]) == names_of("a") == ["a"]
    assert names_of(None) == []


def test_a_keyword_that_holds_no_number_is_refused() -> None:
    """A boolean is none: draft-04's flags are read where they are known."""
    schema: dict[str, Json] = {"minimum": 1.5, "exclusiveMinimum": True}
    assert number_of(schema, "minimum") == 1.5
    with pytest.raises(TypeError, match="exclusiveMinimum"):
        number_of(schema, "exclusiveMinimum")


@pytest.mark.parametrize(
    ("schema", "in_draft_07", "in_2020_12"),
    [
        ({"items": [True]}, ("items", ""), ("", "items")),
        ({"items": {}}, ("", "items"), ("", "items")),
        (
            {"prefixItems": [True], "items": False},
            ("", "items"),
            ("prefixItems", "items"),
        ),
        (
            {"items": [True], "additionalItems": {}},
            ("items", "additionalItems"),
            ("", "items"),
        ),
        ({}, ("", ""), ("", "")),
    ],
)
def test_the_dialect_says_which_keyword_is_for_which_element(
    schema: dict[str, Json], in_draft_07: tuple[str, str], in_2020_12: tuple[str, str]
) -> None:
    """An array of `items` speaks of the first elements until draft 2019-09."""
    assert item_keywords(schema, DRAFT_07) == in_draft_07
    assert item_keywords(schema, DRAFT_2020_12) == in_2020_12

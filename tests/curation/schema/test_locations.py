"""Locations in a schema."""

from __future__ import annotations

import pytest

from curation.schema.locations import SchemaLocation


def test_a_location_says_where_it_stands() -> None:
    """Its pointer is escaped as RFC 6901 says."""
    location = SchemaLocation(("properties", "a/b~c"), {"type": "string"})
    assert location.pointer == "/properties/a~1b~0c"
    assert location.keywords == {"type": "string"}
    assert (location.base, location.document, location.is_subschema) == ("", "", True)


@pytest.mark.parametrize("schema", [True, False, ["a"], "text", None])
def test_only_an_object_has_keywords(schema: object) -> None:
    """Of a boolean schema, and of what is no schema, there are none."""
    assert SchemaLocation((), schema).keywords == {}


def test_a_location_is_equal_to_itself_alone() -> None:
    """It serves as a key, however large its schema is, and never changes."""
    one, other = SchemaLocation((), {}), SchemaLocation((), {})
    assert one != other
    assert {one: 1, other: 2}[one] == 1
    with pytest.raises(AttributeError):
        one.base = "x"  # type: ignore[misc] # this is the claim

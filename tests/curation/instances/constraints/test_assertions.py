"""Which keywords of a schema object can refuse a value."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from curation.instances.constraints.assertions import asserting_keywords
from curation.instances.constraints.keyword_values import asserted_formats
from curation.schema.dialects import BY_NAME

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


@pytest.mark.parametrize(
    ("schema", "dialect_name", "keywords"),
    [
        (True, "2020-12", ()),
        ({"title": "t", "examples": [1]}, "2020-12", ()),
        ({"minLength": 0, "minItems": 1}, "2020-12", ("minItems",)),
        ({"uniqueItems": False, "not": False}, "2020-12", ()),
        ({"type": ["number", "string"]}, "2020-12", ("type",)),
        ({"const": 1}, "draft-04", ()),
        ({"const": 1}, "draft-06", ("const",)),
        ({"minimum": 1, "exclusiveMinimum": True}, "draft-04", ("exclusiveMinimum",)),
        ({"anyOf": [{"type": "null"}, True]}, "2020-12", ()),
        ({"oneOf": [{}, True]}, "2020-12", ("oneOf",)),
        ({"if": {"minimum": 1}, "then": {}}, "2020-12", ()),
        ({"if": {"minimum": 1}, "then": False}, "2020-12", ("if",)),
        ({"contains": {}, "minContains": 2}, "2020-12", ("minContains",)),
        ({"contains": {}, "minContains": 2}, "draft-07", ("contains",)),
        ({"additionalProperties": {}}, "2020-12", ()),
        ({"additionalProperties": False}, "2020-12", ("additionalProperties",)),
        ({"dependentRequired": {"a": []}}, "2020-12", ()),
        ({"dependentRequired": {"a": ["b"]}}, "2020-12", ("dependentRequired",)),
        ({"format": "uuid"}, "draft-07", ()),
        ({"format": "uuid"}, "2019-09", ("format",)),
    ],
)
def test_a_keyword_that_no_value_can_fail_asserts_nothing(
    schema: UntypedJson, dialect_name: str, keywords: tuple[str, ...]
) -> None:
    """What counts is the keyword's value, its neighbours and the dialect."""
    assert asserting_keywords(schema, BY_NAME[dialect_name]) == keywords


def test_newer_dialects_assert_more_formats() -> None:
    """Each dialect asserts the formats of the one before it."""
    names = ("draft-04", "draft-06", "draft-07", "2019-09", "2020-12")
    known = [asserted_formats(BY_NAME[name]) for name in names]
    assert all(older <= newer for older, newer in itertools.pairwise(known))
    assert "ipv4" in known[0]

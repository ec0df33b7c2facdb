"""The two published validations do what was published, its faults included."""

from __future__ import annotations

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.suites.coverage.scorer import (
    accepts_as_published,
    accepts_by_listing_10,
)

_ADDRESSES = {
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "6f2b1c3e-8a4d-4f10-9a77-0c5d2e1f3b44",
}


@pytest.mark.parametrize("name", _ADDRESSES)
def test_the_published_checkers_refuse_every_address(name: str) -> None:
    """A right one and a wrong one alike, and what is no string; Listing 10 does not."""
    schema = json.dumps({"format": name})
    for value in (_ADDRESSES[name], "no address", 7):
        assert not accepts_as_published(json.dumps(value), schema)
    assert accepts_by_listing_10(json.dumps(_ADDRESSES[name]), schema)
    assert not accepts_by_listing_10('"no address"', schema)
    assert accepts_by_listing_10("7", schema)


@pytest.mark.parametrize(
    ("text", "listing_10", "published"),
    [
        ("{}", True, True),
        ("```json\n{}\n```", False, True),
        ("```\n{}\n```", False, True),
        ("\n {} \n", True, True),
        ("null", True, False),
        ("true", True, True),
        ('"json"', True, True),
        ("Here it is: {}", False, False),
        ("", False, False),
        ("NaN", True, True),
    ],
)
def test_fences_go_and_null_is_eaten(
    text: str, *, listing_10: bool, published: bool
) -> None:
    """Back quotes and the letters j, s, o, n go off both ends before parsing."""
    assert accepts_by_listing_10(text, "{}") is listing_10
    assert accepts_as_published(text, "{}") is published


def test_a_schema_that_is_invalid_under_2020_12_accepts_nothing() -> None:
    """Whatever its own draft says of it."""
    schema = '{"maximum": 9, "exclusiveMaximum": true}'
    assert not accepts_by_listing_10("8", schema)
    assert not accepts_as_published("8", schema)


def test_nothing_is_fetched() -> None:
    """A reference to elsewhere refuses; the network of tests would say so if asked."""
    schema = '{"$ref": "http://example.com/elsewhere.json"}'
    assert not accepts_by_listing_10("{}", schema)
    assert not accepts_as_published("{}", schema)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
_SCHEMAS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "array", "string", "nonsense"]),
        "format": st.sampled_from(["date", "email", "regex"]),
        "minLength": st.integers(-1, 3),
        "items": st.just({"type": "integer"}),
    },
)


@given(_VALUES, _SCHEMAS)
def test_listing_10_is_listing_10(value: object, schema: dict[str, object]) -> None:
    """The very calls that the paper prints give the same answer."""
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
        checker = jsonschema.FormatChecker()
        jsonschema.Draft202012Validator(schema, format_checker=checker).validate(value)
        expected = True
    except (jsonschema.SchemaError, jsonschema.ValidationError):
        expected = False
    assert accepts_by_listing_10(json.dumps(value), json.dumps(schema)) is expected

"""The quick check gives the verdicts of jsonschema's own `check_schema`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.json.text import SpelledFloat, plain
from curation.validation import metaschema_2020_12
from curation.validation.metaschemas import Complaint

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

#: Values, each likely to be right under some words and wrong under others.
ODDS = st.sampled_from(
    [
        True,
        None,
        -1,
        0,
        1.0,
        1.5,
        10**30,
        SpelledFloat("2.00"),
        "string",
        "a[",
        "(?P<n>x)",
        "{1",
        "http://x.test/a#b",
        "//x y",
        "urn:x",
        "#frag",
        "%zz",
        "1a\n",
        ["a", "a"],
        ["a"],
        [],
    ]
)
WORDS = st.sampled_from(
    [
        "$id",
        "$schema",
        "$ref",
        "$anchor",
        "$dynamicRef",
        "$recursiveRef",
        "$comment",
        "pattern",
        "format",
        "type",
        "enum",
        "required",
        "minLength",
        "multipleOf",
        "exclusiveMinimum",
        "uniqueItems",
        "examples",
        "deprecated",
    ]
)
MAPS = ["properties", "patternProperties", "$defs", "definitions", "dependencies"]
SINGLE = [
    "items",
    "not",
    "if",
    "additionalProperties",
    "contentSchema",
    "additionalItems",
]
SCHEMAS = st.recursive(
    st.one_of(ODDS, st.dictionaries(WORDS, ODDS, max_size=2)),
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from(SINGLE), inner, max_size=2),
        st.dictionaries(
            st.sampled_from(MAPS),
            st.dictionaries(
                st.sampled_from(["a", "^x[", "b{", "("]), inner, max_size=2
            ),
            max_size=2,
        ),
        st.dictionaries(
            st.sampled_from(["anyOf", "prefixItems", "items"]),
            st.lists(inner, max_size=2),
            max_size=1,
        ),
    ),
    max_leaves=8,
)


@given(SCHEMAS)
def test_both_checks_agree(schema: UntypedJson) -> None:
    """On made schemas, right and wrong in every word that has a format or a type."""
    own = metaschema_2020_12.python_complaint(plain(schema))
    assert (metaschema_2020_12.complaint(schema) is None) == (own is None)


@pytest.mark.parametrize(
    "schema",
    [
        {"$id": "a#b"},
        {"$anchor": "1a"},
        {"$anchor": "a\n"},
        {"dependencies": {"a": {"$anchor": "a\n"}}},
        {"$anchor": "a\n", "type": "a\n"},
        {"$vocabulary": {"not a uri": True}},
        {"$vocabulary": {"http://x.test": True}},
        {"dependencies": {"a": {"pattern": "("}}},
        {"dependencies": {"a": ["b", "b"]}},
        {"patternProperties": {"(": {}}},
        {"pattern": "a{99999999999}"},
        {"pattern": "[[a]"},
        {"default": {"$ref": "not a reference"}},
        {"enum": [{"pattern": "("}]},
        {"minimum": 10**400},
        {"maxLength": SpelledFloat("1.00")},
        {"maxLength": SpelledFloat("1.50")},
    ],
)
def test_both_checks_agree_on_the_edges(schema: UntypedJson) -> None:
    """Line ends, names as patterns, numbers past a double, and mere data."""
    own = metaschema_2020_12.python_complaint(plain(schema))
    assert (metaschema_2020_12.complaint(schema) is None) == (own is None)


def test_a_complaint_says_where_and_what() -> None:
    """The pointer of the first error, then the message."""
    found = metaschema_2020_12.complaint({"properties": {"a/b": {"type": "thing"}}})
    assert found is not None
    assert found.pointer == "/properties/a~1b/type"
    assert str(found).startswith("/properties/a~1b/type: ")
    assert str(Complaint(pointer="", message="m")) == "(root): m"


def test_a_long_message_is_cut() -> None:
    """jsonschema-rs repeats whole schemas in some messages."""
    found = metaschema_2020_12.complaint({"anyOf": "x" * 10_000})
    assert found is not None
    assert len(found.message) <= 240


def test_deep_schemas_are_checked() -> None:
    """As deep as a document may nest, without an exception."""
    schema: UntypedJson = {"type": "thing"}
    for _ in range(255):
        schema = {"not": schema}
    found = metaschema_2020_12.complaint(schema)
    assert found is not None
    assert found.pointer.endswith("/not/type")


def test_verdicts_of_texts_are_remembered_without_warnings() -> None:
    """Python warns of patterns that may change their meaning; nobody is told."""
    schema = json.loads('{"pattern": "[[a]", "not": {"pattern": "[a&&b]"}}')
    assert metaschema_2020_12.complaint(schema) is None
    assert metaschema_2020_12.complaint(schema) is None

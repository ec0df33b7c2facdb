"""The measures of Table 8, and the table of keywords."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_specifications import REGISTRY

from curation.core.benchmark import github_config
from curation.json.text import parse, plain
from curation.schema.dialects import ANY_DIALECT, BY_NAME, DIALECTS
from curation.schema.keywords import (
    ANNOTATIONS,
    CONTAINERS,
    DRAFTS,
    KEYWORDS,
    KNOWN_KEYWORDS,
    REFERENCE_KEYWORDS,
    TYPE_OF_KEYWORD,
)
from curation.schema.measures import (
    Nesting,
    field_count,
    max_fan_out,
    nesting,
    size_bytes,
)

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"])),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=20,
)


def test_arrays_count_for_the_fan_out_only() -> None:
    """Keys and levels inside arrays are no fields, but they can be a fan-out."""
    value: UntypedJson = {"a": {"b": 1}, "c": [{"d": 1, "e": 2, "f": {"g": {}}}]}
    assert field_count(value) == 3
    assert nesting(value) == Nesting(field_count=3, depth=2, fan_out=2)
    assert max_fan_out(value) == 3


@pytest.mark.parametrize("value", [1, "text", None, [], [{"a": 1}]])
def test_what_is_no_object_has_no_fields(value: UntypedJson) -> None:
    """A scalar or an array at the root has neither fields nor depth."""
    assert field_count(value) == 0
    assert nesting(value) == Nesting(field_count=0, depth=0, fan_out=0)


def nested(value: UntypedJson) -> tuple[int, int]:
    """Return field count and depth by recursion, as one would define them."""
    if not isinstance(value, dict):
        return 0, 0
    inner: UntypedJson = [nested(each) for each in value.values()]
    count = len(value) + sum(fields for fields, _ in inner)
    return count, 1 + max((depth for _, depth in inner), default=0)


@given(VALUES)
def test_counts_equal_their_recursive_definitions(value: UntypedJson) -> None:
    """The loops over stacks count what the definitions say."""
    assert (field_count(value), nesting(value).depth) == nested(value)
    assert nesting(value).fan_out <= max_fan_out(value)


@given(VALUES)
def test_the_size_is_that_of_pythons_default_text(value: UntypedJson) -> None:
    """What is not ASCII counts as its escape."""
    parsed: UntypedJson = parse(json.dumps(value).encode())
    read = plain(parsed)
    assert size_bytes(read) == len(json.dumps(read).encode())


def test_a_size_keeps_the_spelling_of_numbers() -> None:
    """A number is as long as its author wrote it."""
    value: UntypedJson = parse(b"[1.000]")
    assert size_bytes(value) == len("[1.000]")


def test_deep_values_are_measured_without_recursion() -> None:
    """Nesting beyond the interpreter's limit is only more levels."""
    value: UntypedJson = {}
    for _ in range(5_000):
        value = {"a": value}
    assert (field_count(value), nesting(value).depth) == (5_000, 5_001)
    assert max_fan_out(value) == nesting(value).fan_out == 1


@pytest.mark.parametrize(
    ("fields", "config"),
    [
        (0, "Github_trivial"),
        (9, "Github_trivial"),
        (10, "Github_easy"),
        (29, "Github_easy"),
        (30, "Github_medium"),
        (99, "Github_medium"),
        (100, "Github_hard"),
        (499, "Github_hard"),
        (500, "Github_ultra"),
    ],
)
def test_githubs_subsets_are_bounded_by_field_counts(fields: int, config: str) -> None:
    """Below 10, 30, 100 and 500 fields."""
    assert github_config(fields) == config


#: What the published metaschemas leave out, and what they keep of earlier drafts.
_LEFT_OUT = {
    "draft-03": {"definitions"},
    "draft-04": {"$ref"},
    "draft-07": {"writeOnly"},
}
_KEPT = {
    "2019-09": {"dependencies"},
    "2020-12": {"dependencies", "$recursiveAnchor", "$recursiveRef"},
}

_METASCHEMAS = {uri.rstrip("#"): REGISTRY[uri].contents for uri in REGISTRY}


def _properties(uri: str) -> set[str]:
    """Return the keywords that a metaschema describes, its vocabularies included."""
    metaschema = _METASCHEMAS[uri.rstrip("#")]
    names = set(metaschema.get("properties", ()))
    for part in metaschema.get("allOf", ()):
        names |= _properties(urljoin(metaschema["$id"], part["$ref"]))
    return names


@pytest.mark.parametrize("name", DRAFTS)
def test_a_draft_knows_the_keywords_that_its_metaschema_describes(name: str) -> None:
    """No more and no fewer, but for what the published files are known to miss."""
    ours = {keyword.name for keyword in KEYWORDS if keyword.is_known_in(name)}
    described = _properties(BY_NAME[name].uri)
    assert ours - described == _LEFT_OUT.get(name, set())
    assert described - ours == _KEPT.get(name, set())


@pytest.mark.parametrize("name", DRAFTS)
def test_a_keyword_has_one_meaning_in_a_draft(name: str) -> None:
    """No draft reads two rows of one name."""
    names = [keyword.name for keyword in KEYWORDS if keyword.is_known_in(name)]
    assert len(names) == len(set(names))


def test_what_is_read_off_the_table() -> None:
    """Groups of keywords in whichever draft."""
    assert {"definitions", "$defs"} == CONTAINERS
    assert REFERENCE_KEYWORDS == ("$ref", "$dynamicRef", "$recursiveRef")
    assert {"title", "format", "contentSchema"} < ANNOTATIONS
    assert ANY_DIALECT.effective | ANNOTATIONS | CONTAINERS == KNOWN_KEYWORDS


_VALUES = {"array": [1, 1], "number": 7.5, "object": {"a": 1}, "string": "text"}
#: A value of each keyword that refuses the value of its type above.
_REFUSING = {
    "minimum": 8,
    "maximum": 7,
    "exclusiveMinimum": 7.5,
    "exclusiveMaximum": 7.5,
    "multipleOf": 2,
    "minLength": 5,
    "maxLength": 3,
    "pattern": "^b",
    "items": False,
    "prefixItems": [False],
    "unevaluatedItems": False,
    "contains": False,
    "minItems": 3,
    "maxItems": 1,
    "uniqueItems": True,
    "properties": {"a": False},
    "patternProperties": {"a": False},
    "additionalProperties": False,
    "unevaluatedProperties": False,
    "propertyNames": False,
    "dependentSchemas": {"a": False},
    "dependentRequired": {"a": ["b"]},
    "required": ["b"],
    "minProperties": 2,
    "maxProperties": 0,
}


@pytest.mark.parametrize("keyword", _REFUSING)
def test_a_keyword_speaks_of_one_type_alone(keyword: str) -> None:
    """It refuses a value of its type, and lets values of every other pass."""
    validator = jsonschema_rs.Draft202012Validator({keyword: _REFUSING[keyword]})
    about = TYPE_OF_KEYWORD[keyword]
    refused = {name for name, each in _VALUES.items() if not validator.is_valid(each)}
    assert refused == {about}
    assert validator.is_valid(None)
    assert validator.is_valid(instance=True)


def test_dialects_are_in_the_order_of_their_drafts() -> None:
    """Oldest first, as their positions in time are."""
    assert tuple(BY_NAME) == DRAFTS
    assert [each.name for each in sorted(DIALECTS, key=lambda d: d.order)] == list(
        DRAFTS[1:]
    )

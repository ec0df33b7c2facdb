"""The table of keywords."""

from __future__ import annotations

from urllib.parse import urljoin

import jsonschema_rs
import pytest
from jsonschema_specifications import REGISTRY

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

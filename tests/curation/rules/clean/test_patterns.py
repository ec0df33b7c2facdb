"""Patterns in rule set `clean`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Document, Reason, Rejected
from curation.rules.clean import patterns
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def _applied(schema: UntypedJson) -> Document | Rejected:
    return patterns.apply(document(schema, dialect="draft-07"), CONTEXT)


def _kept(schema: UntypedJson) -> UntypedJson:
    result = _applied(schema)
    assert isinstance(result, Document), result
    return result.schema


def test_a_fine_schema_is_returned_itself() -> None:
    """Nothing is copied where nothing changes."""
    made = document({"pattern": "^a$"}, dialect="draft-07")
    assert patterns.apply(made, CONTEXT) is made


def test_a_pattern_is_mended_and_the_change_recorded() -> None:
    """Value and place are in the change, before and after."""
    result = _applied({"properties": {"a": {"pattern": r"\d\-\d"}}})
    assert isinstance(result, Document)
    assert result.schema == {"properties": {"a": {"pattern": r"\d-\d"}}}
    change = result.changes[0]
    assert (change.pointer, change.before, change.after) == (
        "/properties/a/pattern",
        r'"\\d\\-\\d"',
        r'"\\d-\\d"',
    )


def test_names_of_pattern_properties_are_patterns() -> None:
    """They are renamed in place, order kept, what is inside mended too."""
    kept = _kept(
        {"patternProperties": {r"^\_": {"pattern": r"\:"}, "b": {}, r"c\_": {}}}
    )
    assert list(kept["patternProperties"].items()) == [
        ("^_", {"pattern": ":"}),
        ("b", {}),
        ("c_", {}),
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": r"\Aa"},
        {"items": {"pattern": "("}},
        {"patternProperties": {"*": {}}},
        {"patternProperties": {"_": {"a": 1}, r"\_": {}}},
        {
            "properties": {"a": {"$ref": "#/patternProperties/%5C_"}},
            "patternProperties": {r"\_": {"type": "string"}},
        },
    ],
)
def test_what_cannot_be_mended_ends_the_record(schema: UntypedJson) -> None:
    """No repair, two names that become one, or a reference that names it."""
    result = _applied(schema)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.BAD_PATTERN


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": [{"pattern": "("}]},
        {"default": {"pattern": "("}},
        {"properties": {"pattern": {"type": "string"}}},
        {"x-other": {"pattern": "("}},
    ],
)
def test_only_keywords_are_patterns(schema: UntypedJson) -> None:
    """Data, names of properties and unknown words are left alone."""
    assert _kept(schema) == schema


def test_what_only_a_reference_reaches_is_looked_at_too() -> None:
    """A schema under an unknown word takes part once something refers to it."""
    schema = {"items": {"$ref": "#/types/a"}, "types": {"a": {"pattern": r"\_"}}}
    assert _kept(schema)["types"] == {"a": {"pattern": "_"}}

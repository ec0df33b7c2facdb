"""The metaschema rule of rule set `clean`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.core.documents import Document, Reason, Rejected
from curation.rules.clean import check_metaschema
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def applied(schema: UntypedJson, dialect: str) -> Document | Rejected:
    """Return what the rule makes of a schema of this dialect."""
    return check_metaschema.apply(document(schema, dialect=dialect), CONTEXT)


def test_what_its_own_draft_allows_is_kept() -> None:
    """Draft-04's booleans and arrays stay, though 2020-12 refuses them."""
    schema = {"minimum": 1, "exclusiveMinimum": True, "items": [{}]}
    assert isinstance(applied(schema, "draft-04"), Document)
    assert isinstance(applied(schema, "2020-12"), Rejected)


def test_formats_are_left_out() -> None:
    """A pattern or reference that is none is for other rules to judge."""
    schema = {"pattern": "(", "$id": "not a uri", "format": "regex"}
    assert isinstance(applied(schema, "2020-12"), Document)


def test_the_rejection_names_draft_place_and_error() -> None:
    """The detail says under which draft, where and what."""
    result = applied({"properties": {"a/b": {"required": "x"}}}, "draft-07")
    assert isinstance(result, Rejected)
    assert result.reason is Reason.INVALID_SCHEMA
    assert result.detail == (
        'draft-07: /properties/a~1b/required: "x" is not of type "array"'
    )


def test_a_known_difference_is_told_as_one() -> None:
    """Where only jsonschema-rs refuses, the two disagree, and both are quoted."""
    result = applied({"$anchor": "a\n"}, "2020-12")
    assert isinstance(result, Rejected)
    assert result.reason is Reason.VALIDATORS_DISAGREE
    assert "jsonschema accepts it" in result.detail

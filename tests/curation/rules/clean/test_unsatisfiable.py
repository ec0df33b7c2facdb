"""What is proven to accept nothing is dropped, with the proof."""

from __future__ import annotations

from curation.core.documents import Reason, Rejected
from curation.rules.clean import unsatisfiable
from tests.curation.rules.documents_made import CONTEXT, document


def test_the_rule_rejects_with_the_proof() -> None:
    """The detail says where, why, and by which kind of proof."""
    schema = {
        "type": "object",
        "properties": {"next": {"$ref": "#"}},
        "required": ["next"],
    }
    result = unsatisfiable.apply(document(schema, dialect="draft-07"), CONTEXT)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.UNSATISFIABLE
    assert result.detail == (
        "/properties/next: every instance would be endless (endless-recursion)"
    )


def test_what_is_not_proven_stays() -> None:
    """Another branch ends the recursion."""
    schema = {
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["next"],
    }
    made = document(schema, dialect="draft-07")
    assert unsatisfiable.apply(made, CONTEXT) is made


def test_an_optional_property_that_cannot_be_does_no_harm() -> None:
    """Only what every instance must have is followed."""
    made = document(
        {"type": "object", "properties": {"a": {"type": "null", "enum": [1]}}},
        dialect="draft-04",
    )
    assert unsatisfiable.apply(made, CONTEXT) is made

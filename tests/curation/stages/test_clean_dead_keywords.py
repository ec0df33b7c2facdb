"""Dead keywords of the edited copies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from curation.documents import Document
from curation.stages.clean_dead_keywords import RULE
from tests.curation.stages.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.documents import Json


def edited_copy(schema: Json) -> Document:
    """Return a document that stands where the edited copies stand."""
    made = document(schema)
    path = "artifacts/x/expDataset/kubernetes/sat/kb_0_Normalized.json"
    return replace(made, provenance=replace(made.provenance, path=path))


def applied(schema: Json) -> Document:
    """Return what the rule makes of an edited copy with this schema."""
    result = RULE.apply(edited_copy(schema), CONTEXT)
    assert isinstance(result, Document)
    return result


def test_dead_keywords_get_their_names_back_in_their_place() -> None:
    """All four are renamed where they stand, in their order, one change each."""
    result = applied(
        {
            "_$id": "http://example.com/a",
            "type": "object",
            "properties": {
                "when": {"_format": "date-time", "type": "string"},
                "tags": {"type": "array", "_uniqueItems": True, "_id": "t"},
            },
        }
    )
    assert list(result.schema) == ["$id", "type", "properties"]
    assert list(result.schema["properties"]["when"].items()) == [
        ("format", "date-time"),
        ("type", "string"),
    ]
    assert result.schema["properties"]["tags"] == {
        "type": "array",
        "uniqueItems": True,
        "id": "t",
    }
    assert {each.pointer for each in result.changes} == {
        "/$id",
        "/properties/when/format",
        "/properties/tags/uniqueItems",
        "/properties/tags/id",
    }


def test_a_property_of_that_name_is_no_keyword() -> None:
    """Members of `properties`, `default` and unknown words keep their names."""
    schema = {
        "properties": {"_id": {"type": "string"}, "_format": {}},
        "default": {"_format": "x"},
        "x-data": {"_id": 1},
    }
    assert applied(schema).schema is schema


def test_a_living_keyword_is_never_overwritten() -> None:
    """Where the living name is taken, the dead one stays."""
    schema = {"_format": "a", "format": "b"}
    assert applied(schema).schema is schema


def test_only_edited_copies_are_changed() -> None:
    """Anywhere else `_id` is the author's own word."""
    given = document({"_id": "x", "_format": "date"})
    assert RULE.apply(given, CONTEXT) is given

"""Dead keywords of the edited copies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from curation.core.documents import ABSENT, Document, Origin
from curation.rules.clean import dead_keywords
from tests.curation.rules.documents_made import CONTEXT, document

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def edited_copy(schema: UntypedJson) -> Document:
    """Return a document that stands where the edited copies stand."""
    made = document(schema)
    path = "artifacts/x/expDataset/kubernetes/sat/kb_0_Normalized.json"
    return replace(made, provenance=replace(made.provenance, path=path))


def applied(schema: UntypedJson) -> Document:
    """Return what the rule makes of an edited copy with this schema."""
    result = dead_keywords.apply(edited_copy(schema), CONTEXT)
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
    """Where the living name is taken, the dead one goes."""
    result = applied({"_format": "a", "format": "b"})
    assert result.schema == {"format": "b"}
    (change,) = result.changes
    assert (change.pointer, change.after) == ("/_format", ABSENT)


def test_elsewhere_the_words_go() -> None:
    """Of an author's own, which do nothing, none is left and each is recorded."""
    result = dead_keywords.apply(
        document({"_id": 7, "_format": "date", "type": "x"}), CONTEXT
    )
    assert isinstance(result, Document)
    assert result.schema == {"type": "x"}
    assert [each.before for each in result.changes] == ["7", '"date"']


def test_the_user_s_own_schemas_are_left_alone() -> None:
    """A company's `_id` is its own business."""
    given = document({"_id": "x", "_format": "date"})
    own = replace(given, provenance=replace(given.provenance, origin=Origin.LOCAL))
    assert dead_keywords.apply(own, CONTEXT) is own

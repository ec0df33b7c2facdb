"""References in rule set `clean`: in one document, or the record ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Document, Reason, Rejected
from curation.rules.clean import references, wrap
from tests.curation.judges import accepts, rust_accepts
from tests.curation.rules.documents_made import CONTEXT, document
from tests.curation.rules.shelf import SITE, reason_of, record_of

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": {}}},
        {"properties": {"a": {"$ref": "#"}}},
        {
            "properties": {"a": {"$ref": "#name"}},
            "definitions": {"x": {"$id": "#name"}},
        },
        {"items": {"$ref": "#/types/a"}, "types": {"a": {"type": "string"}}},
        {"properties": {"$ref": {"type": "string"}}},
        {"enum": [{"$ref": "#/nowhere"}]},
    ],
)
def test_what_stands_alone_is_left_as_it_is(schema: UntypedJson) -> None:
    """References that resolve inside the record are not touched."""
    made = document(schema, dialect="draft-07")
    assert references.apply(made, CONTEXT) is made


def test_a_reference_to_its_own_document_becomes_a_fragment() -> None:
    """However it is spelled, what leads to the same document needs no address."""
    schema = {
        "$id": SITE + "me",
        "items": {"$ref": SITE + "me#/x"},
        "contains": {"$ref": "me"},
        "x": {"type": "null"},
    }
    result = references.apply(document(schema, dialect="draft-07"), CONTEXT)
    assert isinstance(result, Document)
    assert result.schema["items"] == {"$ref": "#/x"}
    assert result.schema["contains"] == {"$ref": "#"}


@pytest.mark.parametrize(
    "reference",
    [
        "#/definitions/missing",
        "#missing",
        "#/type",
        "#/required",
        "#/definitions/x/~1",
        5,
        None,
        ["#"],
        {"type": "string"},
    ],
)
def test_a_reference_that_leads_nowhere_ends_the_record(reference: UntypedJson) -> None:
    """Nowhere, or to what is no schema: the reason is `unresolved_reference`."""
    schema = {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"$ref": reference}},
        "definitions": {"x": {}},
    }
    assert reason_of(schema) is Reason.UNRESOLVED_REFERENCE


@pytest.mark.parametrize(
    "reference",
    [
        "http://127.0.0.1:9/a.json",
        "https://elsewhere.example/a.json#/b",
        "file:///etc/passwd",
        "ftp://elsewhere.example/a",
        "data:application/json,{}",
        "//elsewhere.example/a.json",
        "../../a.json",
        "a.json",
        "urn:made:thing",
    ],
)
def test_a_reference_out_of_the_source_ends_the_record(reference: str) -> None:
    """Nothing is fetched or read: the reason is `remote_reference`."""
    assert reason_of({"properties": {"a": {"$ref": reference}}}) is (
        Reason.REMOTE_REFERENCE
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"not": {"$ref": "#"}},
        {"anyOf": [{"type": "string"}, {"$ref": "#"}]},
        {
            "$ref": "#/definitions/a",
            "definitions": {
                "a": {"$ref": "#/definitions/b"},
                "b": {"allOf": [{"$ref": "#/definitions/a"}]},
            },
        },
        {"dependencies": {"a": {"$ref": "#"}}},
        {"if": {"$ref": "#"}, "then": {}},
    ],
)
def test_a_reference_that_never_ends_ends_the_record(schema: UntypedJson) -> None:
    """To judge an instance by it, a validator would recurse for ever."""
    assert reason_of(schema) is Reason.UNRESOLVED_REFERENCE


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#"}}},
        {"items": {"allOf": [{"$ref": "#"}]}},
        {"additionalProperties": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}},
        {"contains": {"$ref": "#"}},
    ],
)
def test_recursion_that_moves_on_is_kept(schema: UntypedJson) -> None:
    """A step into the instance makes recursion end with the instance."""
    assert record_of(schema) == schema


def test_a_pointer_inside_an_embedded_resource_starts_there() -> None:
    """An identifier on the way changes what `#` means (F24)."""
    broken = {
        "properties": {
            "a": {"$id": "/properties/a", "items": {"$ref": "#/definitions/x"}}
        },
        "definitions": {"x": {"type": "string"}},
    }
    assert reason_of(broken) is Reason.UNRESOLVED_REFERENCE
    whole = {**broken, "$id": SITE + "r"}
    whole["properties"] = {"a": {"$id": "a", "items": {"$ref": "r#/definitions/x"}}}
    kept = record_of(whole)
    assert kept["properties"] == {"a": {"items": {"$ref": "#/definitions/x"}}}
    for instance in ({"a": ["x"]}, {"a": [1]}):
        expected = accepts(whole, instance, "draft-07")
        assert rust_accepts(kept, instance, "draft-07") is expected


def test_a_circle_that_nothing_reaches_does_no_harm() -> None:
    """A definition that no one uses may be what it likes."""
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/fine"}},
        "definitions": {"fine": {}, "mad": {"$ref": "#/definitions/mad"}},
    }
    assert record_of(schema) == schema


def test_jsonschema_must_find_the_same_place() -> None:
    """A relative identifier of the root is joined to itself there, and gets lost."""
    schema = {
        "$id": "sub/",
        "allOf": [{"$ref": "#name"}],
        "definitions": {"named": {"$id": "#name", "type": "string"}},
    }
    assert reason_of(schema) is Reason.UNRESOLVED_REFERENCE


def test_a_reference_that_the_wrap_added_is_not_called_the_authors() -> None:
    """The place named is that of the definition, which the file itself holds."""
    library = {
        "$schema": "http://json-schema.org/draft-06/schema#",
        "things": {"enum": {"a": 1}, "items": {"enum": [1]}},
    }
    wrapped = wrap.apply(document(library, dialect="draft-06"), CONTEXT)
    assert isinstance(wrapped, Document)
    lost = references.apply(wrapped, CONTEXT)
    assert isinstance(lost, Rejected)
    assert lost.pointer == "/things"
    assert lost.reason is Reason.INVALID_SCHEMA
    assert lost.detail.endswith('/enum: {"a": 1} is not of type "array"')


def test_a_lost_reference_of_the_author_says_where_it_stands() -> None:
    """Its place in the record, for whoever mends it."""
    schema = {"properties": {"a": {"$ref": "#/definitions/x"}}}
    lost = references.apply(document(schema, dialect="draft-07"), CONTEXT)
    assert isinstance(lost, Rejected)
    assert lost.pointer == "/properties/a/$ref"

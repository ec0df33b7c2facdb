"""References brought in mean what they meant, in every way to write one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.documents import ABSENT, Document
from tests.curation.judges import accepts, rust_accepts
from tests.curation.rules.shelf import SITE, record_of, result_of

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson

_NULL: UntypedJson = {"type": "null"}


def _other(reference: str, **members: UntypedJson) -> UntypedJson:
    """Return a document that refers to itself and has these members."""
    return {"items": {"$ref": reference}, **members}


@pytest.mark.parametrize(
    ("reference", "other", "dialect"),
    [
        ("o", _other("#/definitions/a%20b", definitions={"a b": _NULL}), "draft-07"),
        ("o", _other("#/definitions/a<b>", definitions={"a<b>": _NULL}), "draft-07"),
        ("o", _other("#/definitions/a~1b", definitions={"a/b": _NULL}), "draft-07"),
        ("o", _other("#/definitions/a%25b", definitions={"a%b": _NULL}), "draft-07"),
        (
            "o",
            _other("#name", definitions={"a": {"$id": "#name", **_NULL}}),
            "draft-07",
        ),
        ("o#name", {"$defs": {"a": {"$anchor": "name", "items": _NULL}}}, "2020-12"),
        (
            "o",
            # An anchor of one resource is none of another.
            _other(
                "in/ner#name",
                **{
                    "$defs": {
                        "a": {"$anchor": "name", "type": "string"},
                        "b": {
                            "$id": "in/ner",
                            "$defs": {"c": {"$anchor": "name", **_NULL}},
                        },
                    }
                },
            ),
            "2020-12",
        ),
        (
            "o",
            # Relative to the identifier in whose resource it stands.
            _other(
                "in/ner",
                definitions={
                    "a": {"$id": "in/ner", "allOf": [{"$ref": "leaf"}]},
                    "b": {"$id": "in/leaf", **_NULL},
                    "c": {"$id": "leaf", "type": "string"},
                },
            ),
            "draft-07",
        ),
        (
            "o#/definitions/a/definitions/b",
            # From its own document a pointer leads into an embedded resource.
            {
                "definitions": {
                    "a": {
                        "$id": "inner",
                        "definitions": {"b": _other("#/definitions/c"), "c": _NULL},
                    },
                    "c": {"type": "string"},
                }
            },
            "draft-07",
        ),
        (
            "o",
            # In a member that no draft knows, a pointer starts from the same resource.
            _other(
                "inner#/types/a",
                definitions={
                    "i": {
                        "$id": "inner",
                        "types": {"a": {"$ref": "#/types/b"}, "b": _NULL},
                    }
                },
            ),
            "draft-07",
        ),
        (
            "o",
            # An instance that looks like an identifier, and one like a reference.
            _other(
                "leaf",
                anyOf=[{"const": {"$id": "leaf", "$ref": "#/a"}}, {"type": "array"}],
                definitions={"a": {"$id": "leaf", **_NULL}},
            ),
            "draft-07",
        ),
        (
            "o",
            # Up to draft-07 a reference hides what stands beside it...
            _other(
                "#/definitions/a",
                definitions={
                    "a": {"$ref": "#/definitions/b", "$id": "x", "type": "string"},
                    "b": _NULL,
                },
            ),
            "draft-07",
        ),
        (
            "o",
            # ... and later it does not.
            _other(
                "#/$defs/a",
                **{
                    "$defs": {
                        "a": {"$ref": "#/$defs/b", "type": "null"},
                        "b": {"type": ["null", "number"]},
                    }
                },
            ),
            "2019-09",
        ),
    ],
)
def test_a_reference_leads_where_it_led(
    reference: str, other: UntypedJson, dialect: str
) -> None:
    """Both validators judge the bundle as jsonschema judges the documents."""
    schema = {"properties": {"p": {"$ref": SITE + reference}}}
    documents = {SITE + "o": other}
    kept = record_of(schema, documents, dialect)
    for instance, verdict in (({"p": [None]}, True), ({"p": [1]}, False)):
        assert accepts(schema, instance, dialect, documents) is verdict
        assert accepts(kept, instance, dialect) is verdict
        assert rust_accepts(kept, instance, dialect) is verdict


def test_a_reference_that_no_reader_visits_is_dropped_if_it_leads_out() -> None:
    """In a member that no draft knows; what is an instance stays as it is."""
    example = {"$ref": SITE + "instance"}
    other = {
        "gallery": {"a": {"$ref": SITE + "gone", "title": "t"}, "b": {"$ref": "#/x"}},
        "enum": [example],
        "default": example,
        "properties": {"$ref": {"default": example}},
    }
    schema = {
        "items": {"$ref": SITE + "o"},
        "contains": {"$ref": "#/types/n"},
        "types": {"n": {"enum": [example], "own": [{"$ref": "out.json"}]}},
    }
    result = result_of(schema, {SITE + "o": other})
    assert isinstance(result, Document)
    assert result.schema["definitions"]["o"] == {
        **other,
        "gallery": {"a": {"title": "t"}, "b": {"$ref": "#/x"}},
    }
    assert result.schema["types"] == {"n": {"enum": [example], "own": [{}]}}
    dropped = {
        change.pointer: change.note
        for change in result.changes
        if change.after == ABSENT
    }
    why = "it leads out of the record, and no keyword leads to it"
    assert dropped == {"/definitions/o/gallery/a/$ref": why, "/types/n/own/0/$ref": why}


def test_a_record_that_refers_to_nothing_else_loses_such_a_reference_too() -> None:
    """The only reference of a record may be one that no reader visits."""
    schema = {"type": "object", "x-more": {"$ref": "https://elsewhere.example/a"}}
    assert record_of(schema) == {"type": "object", "x-more": {}}


def test_one_document_may_be_referred_to_by_http_and_by_https() -> None:
    """Both lead to the same place, in whatever order they come."""
    uri = "json-schema.org/draft-07/schema#/definitions/nonNegativeInteger"
    schema = {"allOf": [{"$ref": f"http://{uri}"}, {"$ref": f"https://{uri}"}]}
    kept = record_of(schema)
    assert kept["allOf"] == [{"$ref": "#/definitions/nonNegativeInteger"}] * 2

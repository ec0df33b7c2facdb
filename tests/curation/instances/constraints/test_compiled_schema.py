"""The subject: places, references and the validator's words about them."""

from __future__ import annotations

import pytest

from curation.instances.constraints.compiled_schema import Subject

_EMBEDDED = {
    "$id": "https://example.com/root",
    "definitions": {
        "inner one": {
            "$id": "https://example.com/inner",
            "definitions": {"z": {"type": "string"}},
            "properties": {"u": {"$ref": "#/definitions/z"}},
        },
    },
    "properties": {
        "p": {"$ref": "inner"},
        "meta": {"$ref": "http://json-schema.org/draft-07/schema#"},
        "any": {"anyOf": [{"type": "null"}, {"minLength": 2}]},
    },
}
_HERE = "/definitions/inner one/definitions/z"


@pytest.fixture
def subject() -> Subject:
    """Return a schema with another resource inside."""
    return Subject.of(_EMBEDDED, "draft-07")


def test_one_node_a_place(subject: Subject) -> None:
    """A place is one object, however one gets there."""
    inner = subject.target(subject.node(("properties", "p")))
    assert inner is subject.node(("definitions", "inner one"))


def test_follows_references_through_resources(subject: Subject) -> None:
    """A reference is resolved against the identifier in force where it stands."""
    inner = subject.node(("definitions", "inner one"))
    place = subject.child(inner, ("properties", "u"))
    assert subject.resolve(place, "#/definitions/z") == (_HERE, {"type": "string"})
    assert subject.resolve(place, "#/definitions/none") is None
    assert subject.resolve(place, "https://example.org/else") is None


def test_knows_the_standard_documents(subject: Subject) -> None:
    """A reference to a metaschema leads into its own document."""
    target = subject.target(subject.node(("properties", "meta")))
    assert target is not None
    assert target.document == "http://json-schema.org/draft-07/schema"


def test_judges_single_places(subject: Subject) -> None:
    """A place is judged alone, its references followed from where it stands."""
    place = subject.node(("properties", "p"))
    assert subject.accepts(place, {"u": ""})
    assert not subject.accepts(place, {"u": 1})


def test_errors_point_into_the_record(subject: Subject) -> None:
    """The pointer of a failed keyword counts from the root, not the resource."""
    (error,) = subject.errors({"p": {"u": 1}})
    assert error.keyword == "type"
    assert error.schema_pointer == f"{_HERE}/type"
    assert error.instance_pointer == "/p/u"


def test_errors_tell_of_branches(subject: Subject) -> None:
    """A failed anyOf carries the errors of each of its branches."""
    (error,) = subject.errors({"any": "a"})
    assert error.keyword == "anyOf"
    assert [[each.keyword for each in branch] for branch in error.inner] == [
        ["type"],
        ["minLength"],
    ]


def test_formats_count_unless_said_otherwise() -> None:
    """`rs` asserts formats, `rs_plain` does not."""
    subject = Subject.of({"format": "ipv4"}, "draft-07")
    assert not subject.is_valid("x")
    assert subject.rs_plain.is_valid("x")


@pytest.mark.parametrize("identifier", ["/", "odd id", "#frag", ""])
def test_odd_identifiers_do_no_harm(identifier: str) -> None:
    """Places compile whatever the root calls itself."""
    schema = {"id": identifier, "properties": {"a": {"type": "null"}}}
    subject = Subject.of(schema, "draft-04")
    place = subject.node(("properties", "a"))
    assert subject.accepts(place, None)
    assert not subject.accepts(place, 1)

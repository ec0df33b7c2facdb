"""A schema and its validators: locations, references, verdicts, what fails."""

from __future__ import annotations

import pytest

from curation.instances.constraints.compiled_schema import CompiledSchema

_EMBEDDED = {
    "$id": "https://example.com/root",
    "definitions": {
        "inner one": {
            "$id": "https://example.com/inner",
            "definitions": {"z": {"type": "string"}},
            "properties": {"u": {"$ref": "#/definitions/z"}},
        }
    },
    "properties": {
        "p": {"$ref": "inner"},
        "meta": {"$ref": "http://json-schema.org/draft-07/schema#"},
        "any": {"anyOf": [{"type": "null"}, {"minLength": 2}]},
    },
}
_HERE = "/definitions/inner one/definitions/z"


@pytest.fixture
def compiled() -> CompiledSchema:
    """Return a schema with another resource inside."""
    return CompiledSchema.from_json(_EMBEDDED, "draft-07")


def test_a_location_is_one_object(compiled: CompiledSchema) -> None:
    """A schema location is the same object on every way to it."""
    inner = compiled.target(compiled.location_at(("properties", "p")))
    assert inner is compiled.location_at(("definitions", "inner one"))


def test_follows_references_through_resources(compiled: CompiledSchema) -> None:
    """A reference is resolved against the identifier in force where it stands."""
    inner = compiled.location_at(("definitions", "inner one"))
    location = compiled.child(inner, ("properties", "u"))
    found = compiled.follow(location, "#/definitions/z")
    assert found is not None
    assert (found.pointer, found.schema) == (_HERE, {"type": "string"})
    assert compiled.follow(location, "#/definitions/none") is None
    assert compiled.follow(location, "https://example.org/else") is None


def test_knows_the_standard_documents(compiled: CompiledSchema) -> None:
    """A reference to a metaschema leads into its own document."""
    target = compiled.target(compiled.location_at(("properties", "meta")))
    assert target is not None
    assert target.document == "http://json-schema.org/draft-07/schema"


def test_judges_single_subschemas(compiled: CompiledSchema) -> None:
    """A subschema is judged alone, its references followed from where it stands."""
    location = compiled.location_at(("properties", "p"))
    assert compiled.accepts(location, {"u": ""})
    assert not compiled.accepts(location, {"u": 1})


def test_errors_point_into_the_record(compiled: CompiledSchema) -> None:
    """The pointer of a failed keyword counts from the root, not the resource."""
    (error,) = compiled.errors({"p": {"u": 1}})
    assert error.keyword == "type"
    assert error.schema_pointer == f"{_HERE}/type"
    assert error.instance_pointer == "/p/u"


def test_formats_count_unless_said_otherwise() -> None:
    """`rs` asserts formats, `rs_plain` does not."""
    compiled = CompiledSchema.from_json({"format": "ipv4"}, "draft-07")
    assert not compiled.is_valid("x")
    assert compiled.validator_without_formats.is_valid("x")


@pytest.mark.parametrize("identifier", ["/", "odd id", "#frag", ""])
def test_odd_identifiers_do_no_harm(identifier: str) -> None:
    """Places compile whatever the root calls itself."""
    schema = {"id": identifier, "properties": {"a": {"type": "null"}}}
    compiled = CompiledSchema.from_json(schema, "draft-04")
    location = compiled.location_at(("properties", "a"))
    assert compiled.accepts(location, None)
    assert not compiled.accepts(location, 1)

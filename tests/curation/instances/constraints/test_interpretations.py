"""By which interpretations of a schema a value is valid."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Rejected
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.interpretations import (
    Interpretations,
    heeding,
    read_schema,
)
from curation.instances.dataset.make_instances import make_instances
from curation.instances.search.witnesses import Budget, find_witnesses
from tests.curation.instances.unreached import unreached
from tests.curation.rules.shelf import SITE, Shelf

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


def _heeding(schema: UntypedJson, dialect: str) -> UntypedJson:
    found = heeding(CompiledSchema.from_json(schema, dialect))
    return None if found is None else found.value


@pytest.mark.parametrize(
    ("dialect", "schema", "heeded"),
    [
        (
            "draft-07",
            {"items": {"$ref": "#/definitions/a", "maxLength": 1, "$id": "x"}},
            {"items": {"maxLength": 1, "allOf": [{"$ref": "#/definitions/a"}]}},
        ),
        (
            "draft-04",
            {"$ref": "#/definitions/a", "allOf": [{"type": "null"}], "id": "urn:x"},
            {"allOf": [{"type": "null"}, {"$ref": "#/definitions/a"}], "id": "urn:x"},
        ),
        (
            "draft-04",
            {"const": 1, "minimum": 1, "exclusiveMinimum": True, "id": "urn:x"},
            {"const": 1, "exclusiveMinimum": 1, "$id": "urn:x"},
        ),
        ("draft-06", {"if": {}, "then": False}, {"if": {}, "then": False}),
        ("draft-04", {"$ref": "#/definitions/a", "title": "t"}, None),
        ("draft-04", {"properties": {"const": {}}, "default": {"if": 1}}, None),
        ("2019-09", {"$ref": "#/definitions/a", "maxLength": 1}, None),
    ],
)
def test_what_the_draft_ignores_is_heeded(
    dialect: str, schema: UntypedJson, heeded: UntypedJson
) -> None:
    """Siblings of a `$ref` and later keywords; the pointers stay what they are."""
    definitions = {"definitions": {"a": {"type": "string"}}}
    expected = None if heeded is None else {**heeded, **definitions}
    assert _heeding({**schema, **definitions}, dialect) == expected


_SIBLINGS = {
    "properties": {
        "a": {"$ref": "#/definitions/a", "minLength": 9},
        "b": {"oneOf": [{"const": 1}, {"$ref": "#/definitions/a", "enum": ["x"]}]},
    },
    "required": ["a", "b"],
    "definitions": {"a": {"type": "string"}},
}


@pytest.mark.parametrize(
    ("dialect", "schema"),
    [
        ("draft-07", _SIBLINGS),
        ("draft-04", {"properties": {"a": {"const": 5}}, "required": ["a"]}),
        ("2020-12", {"anyOf": [{"format": "date"}, {"type": "null"}]}),
    ],
)
def test_witnesses_hold_by_each_interpretation(
    dialect: str, schema: UntypedJson
) -> None:
    """Formats asserted or not, what the draft ignores heeded or not."""
    compiled = CompiledSchema.from_json(schema, dialect)
    every = Interpretations.of(compiled)
    found = find_witnesses(compiled, 0, Budget(covering=8)).witnesses
    assert found
    assert [one.value for one in found if not every.accepts(one.value)] == []


def test_a_witness_of_the_draft_is_kept_where_there_is_no_other() -> None:
    """Its verdicts say by which interpretation it is refused."""
    schema = {"$ref": "#/definitions/a", "type": "null", "definitions": {"a": _STRING}}
    made = make_instances(json.dumps(schema), "draft-07")
    said = [json.loads(row.verdicts) for row in made.witnesses]
    assert len(said) == 1
    assert {json.dumps(one["jsonschema_rs"]) for one in said} == {"[true, true]"}
    assert all(one["heeding"]["jsonschema"] == [False, False] for one in said)


def test_what_holds_with_formats_alone_is_reached_by_a_witness_of_its_own() -> None:
    """The others hold without formats, too."""
    either: UntypedJson = {"oneOf": [{"format": "ipv4"}, {"format": "ipv6"}]}
    schema: UntypedJson = {"properties": {"a": either, "b": _STRING, "c": _STRING}}
    made = make_instances(json.dumps(schema), "2020-12")
    with_formats = [row for row in made.witnesses if "false" in row.verdicts]
    values = [row.value for row in made.witnesses]
    assert all("/oneOf/" in place for place in unreached(schema, values, "2020-12"))
    assert 1 <= len(with_formats) < len(made.witnesses)


_STRING = {"type": "string", "minLength": 1}


def test_a_scope_counts_in_a_file_beside_others() -> None:
    """A `$dynamicRef` of another file leads back to the schema that extends it."""
    tree = {"$dynamicAnchor": "n", "properties": {"a": {"$dynamicRef": "#n"}}}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$dynamicAnchor": "n",
        "$ref": "tree",
        "maxProperties": 1,
    }
    compiled = read_schema(
        json.dumps(schema), "", SITE + "me", Shelf({SITE + "tree": tree})
    )
    assert not isinstance(compiled, Rejected)
    assert compiled.is_valid({"a": {"a": 1}})
    assert not compiled.is_valid({"a": {"b": 1, "c": 1}})

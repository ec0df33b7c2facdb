"""What a root says by itself."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import jsonschema_rs
import pytest
from jsonschema import validators
from jsonschema.validators import validator_for

from curation.schema.dialects import BY_NAME, DIALECTS
from curation.schema.drafts import VENDORS, StatementKind, read, statement, works
from curation.schema.roots import asks_nothing, constrains, embedded, entries, unused
from curation.validation.metaschemas import RUST_VALIDATORS, refuse

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {}}},
        {"properties": {}},
        {"$ref": "#/x"},
        {"type": "string"},
        {"type": ["object", "null"]},
        {"enum": ["a"]},
        {"const": None},
        {"required": ["a"]},
        {"minProperties": 1},
        {"items": {"type": "null"}},
        {"additionalProperties": False},
        {"patternProperties": {"a": {}}},
        {"dependencies": {"a": ["b"]}},
        {"dependentRequired": {"a": ["b"]}},
        {"if": {"type": "null"}, "then": {}},
        {"not": {"type": "null"}},
        {"extends": {"type": "null"}},
        {"disallow": "string"},
        {"exclusiveMaximum": 5},
        {"uniqueItems": True},
        {"prefixItems": [{}]},
        False,
    ],
)
def test_keywords_of_any_draft_constrain(schema: UntypedJson) -> None:
    """Whatever draft knows the keyword, it asks something."""
    assert constrains(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"type": "object"},
        {"type": ["object"]},
        {"type": ["array", "boolean", "null", "number", "object", "string"]},
        {"type": "person"},
        {"title": "a", "description": "b", "format": "c", "default": 1},
        {"definitions": {"a": {"type": "string"}}},
        {"$defs": {"a": {"type": "string"}}},
        {"required": []},
        {"required": {"type": "boolean"}},
        {"minProperties": 0},
        {"additionalProperties": True},
        {"additionalProperties": {}},
        {"allOf": []},
        {"$ref": {"type": "string"}},
        {"properties": {"a": "text"}},
        {"enum": {"type": "string"}},
        {"uniqueItems": False},
        {"dependentRequired": {"a": []}},
    ],
)
def test_what_restricts_nothing_does_not_constrain(schema: UntypedJson) -> None:
    """Annotations, empty keywords, `type: object`, and words with odd values."""
    assert not constrains(schema)


@pytest.mark.parametrize(
    "root",
    [
        {"properties": "text"},
        {"properties": {"a": "text"}},
        {"type": {"$ref": "#/x"}},
        {"allOf": {"a": 1}},
        {"minProperties": 1},
    ],
)
def test_a_malformed_root_is_left_to_the_metaschema(root: UntypedJson) -> None:
    """Wrapping must not paper over a broken keyword."""
    assert not asks_nothing(root)


def test_a_root_of_empty_properties_asks_nothing() -> None:
    """`properties: {}`, and no further properties, say nothing of the content."""
    assert asks_nothing({"type": "object", "properties": {}, "definitions": {"a": {}}})
    assert asks_nothing({"additionalProperties": False})


@pytest.mark.parametrize(
    ("root", "name"),
    [
        ({"name": "x", "schema": {"$schema": "s", "type": "object"}}, "schema"),
        ({"a": {"b": 1}, "in": {"$schema": "s"}, "out": {"$schema": "s"}}, "in"),
        ({"type": "command", "schema": {"$schema": "s"}}, "schema"),
        ({"$schema": "s", "schema": {"$schema": "s"}}, None),
        ({"properties": {"a": {}}, "schema": {"$schema": "s"}}, None),
        ({"a": {"b": {"$schema": "s"}}}, None),
        ({"definitions": {"$schema": "s"}}, None),
        ({"schema": {"$schema": {"type": "string"}}}, None),
        ([{"$schema": "s"}], None),
    ],
)
def test_an_embedded_schema_is_found_at_depth_one(
    root: UntypedJson, name: str | None
) -> None:
    """The first member with a `$schema` of its own, if the root asks nothing."""
    assert embedded(root) == name


def test_entries_are_named_after_their_path() -> None:
    """Containers are left out of names; a definition is not searched itself."""
    root: UntypedJson = {
        "$schema": "s",
        "title": "t",
        "default": {"type": "string"},
        "definitions": {
            "a": {"type": "string"},
            "group": {"b": {"enum": [1]}, "type": {"properties": {"c": {}}}},
            "empty": {"description": "nothing"},
        },
        "$defs": {"a": {"type": "null"}},
        "types": {"a": {"items": {"type": "string"}}},
    }
    found = {each.name: each.reference for each in entries(root)}
    assert found == {
        "a": "#/definitions/a",
        "group.b": "#/definitions/group/b",
        "group.type": "#/definitions/group/type",
        "a-2": "#/$defs/a",
        "types.a": "#/types/a",
    }


def test_a_definition_may_be_called_like_a_keyword() -> None:
    """A container holds definitions, whatever their names."""
    names = ["type", "enum", "default", "properties", "definitions", "$ref"]
    root: UntypedJson = {"definitions": {name: {"type": "string"} for name in names}}
    assert [each.tokens[-1] for each in entries(root)] == [
        name for name in names if name != "definitions"
    ]


def test_the_first_free_number_makes_a_name_new() -> None:
    """`a`, `a-2`, `a-3`."""
    assert unused("a", set()) == "a"
    assert unused("a", {"a", "a-2"}) == "a-3"


def test_deep_nesting_ends() -> None:
    """A file as deep as the reader allows is searched without trouble."""
    root: UntypedJson = {"type": "string"}
    for _ in range(250):
        root = {"x": root}
    assert entries({"definitions": root}) == ()


Unknown = validators.create({})
SITE = "http://json-schema.org"


@pytest.mark.parametrize("uri", [each.uri for each in BY_NAME.values()])
def test_the_address_of_a_draft_names_it(uri: str) -> None:
    """Each draft's own URI is exact, with and without its empty fragment."""
    bare = uri.removesuffix("#")
    for spelling in (bare, bare + "#"):
        said = read(spelling)
        assert said.kind is StatementKind.EXACT
        assert said.dialect is not None
        assert said.dialect.uri == uri


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name)
def test_a_spelling_works_where_both_validators_know_it(dialect: object) -> None:
    """`works` says yes to exactly the spellings that both validators resolve."""
    own = next(each for each in DIALECTS if each is dialect)
    bare = own.uri.removesuffix("#")
    other = bare.replace("http:", "https:")
    if other == bare:
        other = bare.replace("https:", "http:")
    for uri in (bare, bare + "#", other, other + "#", bare + "/"):
        schema = {"$schema": uri}
        known_here = validator_for(schema, default=Unknown) is not Unknown
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                built = jsonschema_rs.validator_for(schema, retriever=refuse)
            known_there = isinstance(built, RUST_VALIDATORS[own.name])
        except (ValueError, jsonschema_rs.ValidationError):
            known_there = False
        assert works(uri, own) is (known_here and known_there)


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        (f"{SITE}/draft-04/schema#4", "draft-04"),
        (f"{SITE}/draft-0.4/schema#", "draft-04"),
        (f"{SITE}/draft-v4/schema#", "draft-04"),
        (f"{SITE}/draft04/schema#", "draft-04"),
        (f"{SITE}/draft-04/schema/", "draft-04"),
        (f"{SITE}/draft-04/json-schema#", "draft-04"),
        (f" {SITE}/draft-04/schema# ", "draft-04"),
        ("https://json-schema.org/draft-06/schema#", "draft-06"),
        ("http://www.json-schema.org/draft-06/schema", "draft-06"),
        ("http://json-schema-org/draft-07/schema#", "draft-07"),
        (f"{SITE}/draft-07/schema#/definitions/", "draft-07"),
        ("//json-schema.org/draft-07/schema#", "draft-07"),
        ("json-schema.org/draft-07/schema#", "draft-07"),
        ("http://JSON-Schema.org/Draft-07/schema#", "draft-07"),
        ("draft-07", "draft-07"),
        (f"{SITE}/draft-08/schema#", "2019-09"),
        (f"{SITE}/draft/2019-09/schema#", "2019-09"),
        ("https://json-schema.org/draft-2020-12/schema", "2020-12"),
        ("https://json-schema.org/draft/2020-12/schema/", "2020-12"),
    ],
)
def test_a_misspelt_address_is_read(uri: str, name: str) -> None:
    """What can only mean one draft means it, though no validator knows it so."""
    said = read(uri)
    assert said.kind is StatementKind.MISSPELT
    assert said.dialect is BY_NAME[name]


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        (f"{SITE}/draft-03/hyper-schema", "draft-03"),
        (f"{SITE}/draft-04/hyper-schema#", "draft-04"),
        ("https://json-schema.org/draft/2019-09/hyper-schema", "2019-09"),
    ],
)
def test_a_hyper_schema_is_its_draft(uri: str, name: str) -> None:
    """The hyper-schema of a draft only adds links to it."""
    said = read(uri)
    assert said.kind is StatementKind.HYPER
    assert said.dialect is BY_NAME[name]


@pytest.mark.parametrize("uri", sorted(VENDORS))
def test_a_vendor_builds_on_a_draft(uri: str) -> None:
    """The table of vendors is found with and without the empty fragment."""
    for spelling in (uri, uri + "#"):
        said = read(spelling)
        assert said.kind is StatementKind.VENDOR
        assert said.dialect is VENDORS[uri]


@pytest.mark.parametrize(
    "uri",
    [
        "",
        f"{SITE}/schema",
        f"{SITE}/schema#",
        f"{SITE}/hyper-schema#",
        f"{SITE}/draft/schema#",
        "http://json-schema/org/schema#",
        SITE + "/",
        f"{SITE}/draft-05/schema#",
    ],
)
def test_an_address_without_a_draft_declares_nothing(uri: str) -> None:
    """Versionless addresses, and the draft without a metaschema, are silent."""
    assert read(uri).kind is StatementKind.SILENT


@pytest.mark.parametrize(
    "uri",
    [
        "https://schema.management.example/2015-01-01/deploymentTemplate.json#",
        f"{SITE}/schemas/2014-11-01/apiapp.json#",
        f"{SITE}/draft-01/schema#",
        f"{SITE}/draft-40/schema#",
        f"{SITE}/draft/next/schema",
        "./meta.json",
        "#",
        3,
        None,
        {"type": "string"},
    ],
)
def test_anything_else_is_unknown(uri: UntypedJson) -> None:
    """Another address, and what is no string, names no draft."""
    said = read(uri)
    assert said.kind is StatementKind.UNKNOWN
    assert said.dialect is None


def test_a_schema_without_the_keyword_is_silent() -> None:
    """Absence is silence; null is not absence."""
    assert statement({"type": "string"}).kind is StatementKind.SILENT
    assert statement({"$schema": None}).kind is StatementKind.UNKNOWN
    assert statement({"$schema": "draft-07"}).dialect is BY_NAME["draft-07"]

"""What a root says by itself, the measures of Table 8, and the table of keywords."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import validators
from jsonschema.validators import validator_for
from jsonschema_specifications import REGISTRY

from curation.core.benchmark import github_config
from curation.json.pointer import to_fragment
from curation.json.text import parse, plain
from curation.schema.dialects import ANY_DIALECT, BY_NAME, DIALECTS
from curation.schema.drafts import (
    VENDORS,
    Statement,
    StatementKind,
    read,
    statement,
    works,
)
from curation.schema.keywords import (
    ANNOTATIONS,
    CONTAINERS,
    DRAFTS,
    KEYWORDS,
    KNOWN_KEYWORDS,
    REFERENCE_KEYWORDS,
    TYPE_OF_KEYWORD,
)
from curation.schema.measures import (
    Nesting,
    field_count,
    max_fan_out,
    nesting,
    size_bytes,
)
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
    found = {name: to_fragment(tokens) for name, tokens in entries(root).items()}
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
    assert [tokens[-1] for tokens in entries(root).values()] == [
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
    assert entries({"definitions": root}) == {}


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


_MISSPELT = {
    f"{SITE}/draft-04/schema#4": "draft-04",
    f"{SITE}/draft-0.4/schema#": "draft-04",
    f"{SITE}/draft-v4/schema#": "draft-04",
    f"{SITE}/draft04/schema#": "draft-04",
    f"{SITE}/draft-04/schema/": "draft-04",
    f"{SITE}/draft-04/json-schema#": "draft-04",
    f" {SITE}/draft-04/schema# ": "draft-04",
    "https://json-schema.org/draft-06/schema#": "draft-06",
    "http://www.json-schema.org/draft-06/schema": "draft-06",
    "http://json-schema-org/draft-07/schema#": "draft-07",
    f"{SITE}/draft-07/schema#/definitions/": "draft-07",
    "//json-schema.org/draft-07/schema#": "draft-07",
    "json-schema.org/draft-07/schema#": "draft-07",
    "http://JSON-Schema.org/Draft-07/schema#": "draft-07",
    "draft-07": "draft-07",
    f"{SITE}/draft-08/schema#": "2019-09",
    f"{SITE}/draft/2019-09/schema#": "2019-09",
    "https://json-schema.org/draft-2020-12/schema": "2020-12",
    "https://json-schema.org/draft/2020-12/schema/": "2020-12",
}
_HYPER = {
    f"{SITE}/draft-03/hyper-schema": "draft-03",
    f"{SITE}/draft-04/hyper-schema#": "draft-04",
    "https://json-schema.org/draft/2019-09/hyper-schema": "2019-09",
}
_SILENT = (
    *("", f"{SITE}/schema", f"{SITE}/schema#", f"{SITE}/hyper-schema#", SITE + "/"),
    *(f"{SITE}/draft/schema#", "http://json-schema/org/schema#"),
    f"{SITE}/draft-05/schema#",
)
_UNKNOWN: tuple[UntypedJson, ...] = (
    "https://schema.management.example/2015-01-01/deploymentTemplate.json#",
    f"{SITE}/schemas/2014-11-01/apiapp.json#",
    *(f"{SITE}/draft-01/schema#", f"{SITE}/draft-40/schema#"),
    *(f"{SITE}/draft/next/schema", "./meta.json", "#", 3, None, {"type": "string"}),
)


@pytest.mark.parametrize(
    ("uri", "kind", "name"),
    [
        *((uri, StatementKind.MISSPELT, name) for uri, name in _MISSPELT.items()),
        *((uri, StatementKind.HYPER, name) for uri, name in _HYPER.items()),
        *((uri, StatementKind.VENDOR, VENDORS[uri].name) for uri in sorted(VENDORS)),
        *((f"{uri}#", StatementKind.VENDOR, VENDORS[uri].name) for uri in VENDORS),
        *((uri, StatementKind.SILENT, "") for uri in _SILENT),
        *((uri, StatementKind.UNKNOWN, "") for uri in _UNKNOWN),
    ],
)
def test_an_address_states_its_draft_or_none(
    uri: UntypedJson, kind: StatementKind, name: str
) -> None:
    """What can only mean one draft means it, though no validator knows it so.

    A hyper-schema only adds links to its draft, and a vendor's metaschema is found with
    and without the empty fragment. Versionless addresses, and the draft without a
    metaschema, are silent; anything else is unknown.
    """
    assert read(uri) == Statement(kind, BY_NAME.get(name))


def test_a_schema_without_the_keyword_is_silent() -> None:
    """Absence is silence; null is not absence."""
    assert statement({"type": "string"}).kind is StatementKind.SILENT
    assert statement({"$schema": None}).kind is StatementKind.UNKNOWN
    assert statement({"$schema": "draft-07"}).dialect is BY_NAME["draft-07"]


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"])),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=20,
)


def test_arrays_count_for_the_fan_out_only() -> None:
    """Keys and levels inside arrays are no fields, but they can be a fan-out."""
    value: UntypedJson = {"a": {"b": 1}, "c": [{"d": 1, "e": 2, "f": {"g": {}}}]}
    assert field_count(value) == 3
    assert nesting(value) == Nesting(field_count=3, depth=2, fan_out=2)
    assert max_fan_out(value) == 3
    assert nesting([{"a": 1}]) == Nesting(field_count=0, depth=0, fan_out=0)


def nested(value: UntypedJson) -> tuple[int, int]:
    """Return field count and depth by recursion, as one would define them."""
    if not isinstance(value, dict):
        return 0, 0
    inner: UntypedJson = [nested(each) for each in value.values()]
    count = len(value) + sum(fields for fields, _ in inner)
    return count, 1 + max((depth for _, depth in inner), default=0)


@given(VALUES)
def test_counts_equal_their_recursive_definitions(value: UntypedJson) -> None:
    """The loops over stacks count what the definitions say."""
    assert (field_count(value), nesting(value).depth) == nested(value)
    assert nesting(value).fan_out <= max_fan_out(value)


@given(VALUES)
def test_the_size_is_that_of_pythons_default_text(value: UntypedJson) -> None:
    """What is not ASCII counts as its escape."""
    parsed: UntypedJson = parse(json.dumps(value).encode())
    read = plain(parsed)
    assert size_bytes(read) == len(json.dumps(read).encode())


def test_a_size_keeps_the_spelling_of_numbers() -> None:
    """A number is as long as its author wrote it."""
    value: UntypedJson = parse(b"[1.000]")
    assert size_bytes(value) == len("[1.000]")


def test_deep_values_are_measured_without_recursion() -> None:
    """Nesting beyond the interpreter's limit is only more levels."""
    value: UntypedJson = {}
    for _ in range(5_000):
        value = {"a": value}
    assert (field_count(value), nesting(value).depth) == (5_000, 5_001)
    assert max_fan_out(value) == nesting(value).fan_out == 1


@pytest.mark.parametrize(
    ("fields", "config"),
    [
        (0, "Github_trivial"),
        (9, "Github_trivial"),
        (10, "Github_easy"),
        (29, "Github_easy"),
        (30, "Github_medium"),
        (99, "Github_medium"),
        (100, "Github_hard"),
        (499, "Github_hard"),
        (500, "Github_ultra"),
    ],
)
def test_githubs_subsets_are_bounded_by_field_counts(fields: int, config: str) -> None:
    """Below 10, 30, 100 and 500 fields."""
    assert github_config(fields) == config


#: What the published metaschemas leave out, and what they keep of earlier drafts.
_LEFT_OUT = {
    "draft-03": {"definitions"},
    "draft-04": {"$ref"},
    "draft-07": {"writeOnly"},
}
_KEPT = {
    "2019-09": {"dependencies"},
    "2020-12": {"dependencies", "$recursiveAnchor", "$recursiveRef"},
}

_METASCHEMAS = {uri.rstrip("#"): REGISTRY[uri].contents for uri in REGISTRY}


def _properties(uri: str) -> set[str]:
    """Return the keywords that a metaschema describes, its vocabularies included."""
    metaschema = _METASCHEMAS[uri.rstrip("#")]
    names = set(metaschema.get("properties", ()))
    for part in metaschema.get("allOf", ()):
        names |= _properties(urljoin(metaschema["$id"], part["$ref"]))
    return names


@pytest.mark.parametrize("name", DRAFTS)
def test_a_draft_knows_the_keywords_that_its_metaschema_describes(name: str) -> None:
    """No more and no fewer, but for what the published files are known to miss."""
    ours = {keyword.name for keyword in KEYWORDS if keyword.is_known_in(name)}
    described = _properties(BY_NAME[name].uri)
    assert ours - described == _LEFT_OUT.get(name, set())
    assert described - ours == _KEPT.get(name, set())


@pytest.mark.parametrize("name", DRAFTS)
def test_a_keyword_has_one_meaning_in_a_draft(name: str) -> None:
    """No draft reads two rows of one name."""
    names = [keyword.name for keyword in KEYWORDS if keyword.is_known_in(name)]
    assert len(names) == len(set(names))


def test_what_is_read_off_the_table() -> None:
    """Groups of keywords in whichever draft."""
    assert {"definitions", "$defs"} == CONTAINERS
    assert REFERENCE_KEYWORDS == ("$ref", "$dynamicRef", "$recursiveRef")
    assert {"title", "format", "contentSchema"} < ANNOTATIONS
    assert ANY_DIALECT.effective | ANNOTATIONS | CONTAINERS == KNOWN_KEYWORDS


_VALUES = {"array": [1, 1], "number": 7.5, "object": {"a": 1}, "string": "text"}
#: A value of each keyword that refuses the value of its type above.
_REFUSING = {
    "minimum": 8,
    "maximum": 7,
    "exclusiveMinimum": 7.5,
    "exclusiveMaximum": 7.5,
    "multipleOf": 2,
    "minLength": 5,
    "maxLength": 3,
    "pattern": "^b",
    "items": False,
    "prefixItems": [False],
    "unevaluatedItems": False,
    "contains": False,
    "minItems": 3,
    "maxItems": 1,
    "uniqueItems": True,
    "properties": {"a": False},
    "patternProperties": {"a": False},
    "additionalProperties": False,
    "unevaluatedProperties": False,
    "propertyNames": False,
    "dependentSchemas": {"a": False},
    "dependentRequired": {"a": ["b"]},
    "required": ["b"],
    "minProperties": 2,
    "maxProperties": 0,
}


@pytest.mark.parametrize("keyword", _REFUSING)
def test_a_keyword_speaks_of_one_type_alone(keyword: str) -> None:
    """It refuses a value of its type, and lets values of every other pass."""
    validator = jsonschema_rs.Draft202012Validator({keyword: _REFUSING[keyword]})
    about = TYPE_OF_KEYWORD[keyword]
    refused = {name for name, each in _VALUES.items() if not validator.is_valid(each)}
    assert refused == {about}
    assert validator.is_valid(None)
    assert validator.is_valid(instance=True)


def test_dialects_are_in_the_order_of_their_drafts() -> None:
    """Oldest first, as their positions in time are."""
    assert tuple(BY_NAME) == DRAFTS
    assert [each.name for each in sorted(DIALECTS, key=lambda d: d.order)] == list(
        DRAFTS[1:]
    )

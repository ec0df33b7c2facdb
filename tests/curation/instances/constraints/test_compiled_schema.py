"""A schema and its validators: keywords, conjunctions, depth, interpretations."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import pytest

from curation.core.documents import Rejected
from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.constraints.conjunction import conjoin
from curation.instances.constraints.interpretations import (
    heeding,
    make_interpretations,
    read_schema,
)
from curation.instances.constraints.keyword_values import (
    accepts_everything,
    asserted_formats,
    item_keywords,
    read_array,
    read_names,
    read_number,
    read_object,
)
from curation.instances.dataset.make_instances import make_instances
from curation.instances.near_misses.assertions import asserting_keywords
from curation.instances.witnesses.minimal_depth import minimal_depth
from curation.instances.witnesses.search import Budget, find_witnesses
from curation.schema.dialects import BY_NAME, DRAFT_07, DRAFT_2020_12
from curation.schema.subschemas import SchemaLocation
from tests.curation.instances.keywords import unreached
from tests.curation.rules.documents_made import SITE, Shelf
from tests.tables import table

if TYPE_CHECKING:
    from curation.core.json_types import Json, UntypedJson
    from curation.instances.constraints.conjunction import Conjunction


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
    base = compiled.inside(location)
    found = compiled.lookup("#/definitions/z", base)
    assert found is not None
    assert (found.pointer, found.schema) == (_HERE, {"type": "string"})
    assert compiled.lookup("#/definitions/none", base) is None
    assert compiled.lookup("https://example.org/else", base) is None


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


def test_only_true_and_the_empty_object_plainly_accept_everything() -> None:
    """What needs a proof is not taken to accept everything."""
    assert accepts_everything(schema=True)
    assert accepts_everything({})
    assert not accepts_everything(schema=False)
    assert not accepts_everything({"minLength": 0})


def test_a_keyword_of_another_type_holds_nothing() -> None:
    """An object where an array is due, or the other way round, counts as none."""
    schema: dict[str, Json] = {"properties": [], "allOf": {}, "required": ["a"]}
    assert read_object(schema, "properties") == {}
    assert read_array(schema, "allOf") == []
    assert read_array(schema, "required") == ["a"]
    assert read_names(schema["required"]) == read_names("a") == ["a"]
    assert read_names(None) == []


def test_a_keyword_that_holds_no_number_is_refused() -> None:
    """A boolean is none: draft-04's flags are read where they are known."""
    schema: dict[str, Json] = {"minimum": 1.5, "exclusiveMinimum": True}
    assert read_number(schema, "minimum") == 1.5
    with pytest.raises(TypeError, match="exclusiveMinimum"):
        read_number(schema, "exclusiveMinimum")


@pytest.mark.parametrize(
    ("schema", "in_draft_07", "in_2020_12"),
    table(__file__, "elements"),
)
def test_the_dialect_says_which_keyword_is_for_which_element(
    schema: dict[str, Json], in_draft_07: list[str], in_2020_12: list[str]
) -> None:
    """An array of `items` speaks of the first elements until draft 2019-09."""
    assert item_keywords(schema, DRAFT_07) == tuple(in_draft_07)
    assert item_keywords(schema, DRAFT_2020_12) == tuple(in_2020_12)


@pytest.mark.parametrize(
    ("schema", "dialect_name", "keywords"),
    table(__file__, "asserting"),
)
def test_a_keyword_that_no_value_can_fail_asserts_nothing(
    schema: UntypedJson, dialect_name: str, keywords: list[str]
) -> None:
    """What counts is the keyword's value, its neighbours and the dialect."""
    assert asserting_keywords(schema, BY_NAME[dialect_name]) == tuple(keywords)


def test_newer_dialects_assert_more_formats() -> None:
    """Each dialect asserts the formats of the one before it."""
    names = ("draft-04", "draft-06", "draft-07", "2019-09", "2020-12")
    known = [asserted_formats(BY_NAME[name]) for name in names]
    assert all(older <= newer for older, newer in itertools.pairwise(known))
    assert "ipv4" in known[0]


def test_heights_count_what_is_required() -> None:
    """A place is as high as its required properties make it."""
    schema = {
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": {"type": "array", "minItems": 1, "items": {"type": "null"}},
            "b": {"$ref": "#"},
        },
    }
    compiled = CompiledSchema.from_json(schema, "draft-07")
    assert minimal_depth(compiled, compiled.root) == 2


def test_what_never_ends_is_infinitely_high() -> None:
    """A place that requires itself has no height; a way out gives it one."""
    inner = {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}
    endless = CompiledSchema.from_json(inner, "draft-07")
    assert minimal_depth(endless, endless.root) == float("inf")
    ending = CompiledSchema.from_json({"anyOf": [inner, {"type": "null"}]}, "draft-07")
    assert minimal_depth(ending, ending.root) == 0


@pytest.mark.parametrize(
    ("schema", "least"),
    [
        ({"additionalProperties": False}, 1),
        ({"additionalProperties": False, "minProperties": 0}, 0),
        ({"additionalProperties": {}}, 0),
        ({"additionalProperties": False, "patternProperties": {"^x": {}}}, 0),
        ({"additionalProperties": False, "required": ["a"]}, float("inf")),
    ],
)
def test_an_object_with_one_of_the_declared_properties_has_the_shallowest(
    schema: UntypedJson, least: float
) -> None:
    """Where it must have one, and no other; the recursive one is not needed."""
    whole = {
        "type": "object",
        "minProperties": 1,
        "properties": {"a": {"$ref": "#"}, "b": {"type": "string"}},
        **schema,
    }
    compiled = CompiledSchema.from_json(whole, "draft-07")
    assert minimal_depth(compiled, compiled.root) == least


@pytest.mark.parametrize(
    "schema",
    [
        {"required": ["a"], "properties": {"a": {"$ref": "#"}}},
        {"minItems": 1, "items": {"$ref": "#"}},
    ],
)
def test_what_names_no_type_is_met_by_a_scalar_and_meant_for_another(
    schema: UntypedJson,
) -> None:
    """The bound says that a string does; the guess that the schema never ends."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    assert minimal_depth(compiled, compiled.root) == 0
    assert minimal_depth(compiled, compiled.root, hinted=True) == float("inf")


def _heeding(schema: UntypedJson, dialect: str) -> UntypedJson:
    found = heeding(CompiledSchema.from_json(schema, dialect))
    return None if found is None else found.value


@pytest.mark.parametrize(
    ("dialect", "schema", "heeded"),
    table(__file__, "heeded"),
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
    every = make_interpretations(compiled)
    found = find_witnesses(compiled, 0, Budget(covering=8)).witnesses
    assert found
    assert [one.value for one in found if every.refusing(one.value)] == []


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


def _conjunction(schema: UntypedJson, dialect: str = "draft-07") -> Conjunction:
    compiled = CompiledSchema.from_json(schema, dialect)
    return conjoin(compiled, (compiled.root,))


def test_references_and_all_of_are_merged() -> None:
    """References, allOf and siblings become one set of bounds."""
    conjunction = _conjunction(
        {
            "$defs": {"a": {"minimum": 3, "allOf": [{"maximum": 9}]}},
            "$ref": "#/$defs/a",
            "type": "integer",
            "maximum": 12,
        },
        "2020-12",
    )
    assert conjunction.types == ("integer",)
    assert conjunction.bounds == {"minimum": 3, "maximum": 9}


def test_a_count_spelled_as_a_float_is_an_integer() -> None:
    """A length cuts a text, and `maxLength: 2.0` is one as much as 2."""
    conjunction = _conjunction({"maxLength": 2.0, "minItems": 1.0, "maximum": 2.5})
    assert conjunction.bounds == {"maximum": 2.5}
    assert conjunction.counts == {"maxLength": 2, "minItems": 1}
    assert type(conjunction.counts["maxLength"]) is int


def test_a_reference_hides_its_siblings_up_to_draft_07() -> None:
    """Beside `$ref` nothing counts in the old drafts."""
    schema = {"definitions": {"a": {}}, "$ref": "#/definitions/a", "minimum": 3}
    assert not _conjunction(schema, "draft-07").bounds
    assert _conjunction(schema, "2019-09").bounds == {"minimum": 3}


def test_old_exclusive_bounds_are_flags() -> None:
    """Draft-04's boolean exclusiveMinimum turns minimum into an open bound."""
    conjunction = _conjunction({"minimum": 3, "exclusiveMinimum": True}, "draft-04")
    assert conjunction.bounds == {"exclusiveMinimum": 3}


def test_numbers_include_integers() -> None:
    """The types number and integer have the integers in common."""
    assert _conjunction({"allOf": [{"type": "number"}, {"type": "integer"}]}).types == (
        "integer",
    )


def test_values_are_intersected() -> None:
    """Of several enums what is in all, and admitted by the rest, is left."""
    conjunction = _conjunction(
        {"enum": [1, 2, "a", 3.0], "allOf": [{"enum": [3, 2, "b"]}]}
    )
    assert conjunction.values == [2, 3.0]
    assert _conjunction({"enum": [1, "a"], "type": "string"}).values == ["a"]


def test_const_means_nothing_in_draft_04() -> None:
    """What a draft does not know is not read."""
    assert _conjunction({"const": 1}, "draft-04").values is None


def _pointers(goals: object) -> list[str]:
    assert isinstance(goals, tuple)
    return [each.pointer for each in goals if isinstance(each, SchemaLocation)]


def test_a_property_meets_everything_that_matches() -> None:
    """`properties` and `patternProperties` apply together, the rest only else."""
    conjunction = _conjunction(
        {
            "properties": {"ab": {"type": "null"}},
            "patternProperties": {"^a": {"minimum": 1}},
            "additionalProperties": {"maximum": 3},
        }
    )
    assert _pointers(conjunction.member_goals("ab")) == [
        "/properties/ab",
        "/patternProperties/^a",
    ]
    assert _pointers(conjunction.member_goals("x")) == ["/additionalProperties"]


def test_a_closed_object_has_no_other_property() -> None:
    """A name that must not be has no goals at all."""
    schema = {"properties": {"a": {}}, "additionalProperties": False}
    assert _conjunction(schema).member_goals("b") is None
    assert _conjunction(schema).member_goals("a") == ()


def test_unevaluated_looks_at_what_applies_inside_only() -> None:
    """Cousins do not evaluate for each other (2020-12 core, section 11)."""
    closed = {"properties": {"b": {}}, "unevaluatedProperties": False}
    conjunction = _conjunction({"properties": {"a": {}}, "allOf": [closed]}, "2020-12")
    assert conjunction.member_goals("a") is None
    conjunction = _conjunction(
        {"allOf": [{"$ref": "#/$defs/b"}], "$defs": {"b": closed}}, "2020-12"
    )
    assert conjunction.member_goals("b") == ()


@pytest.mark.parametrize(
    ("dialect", "keyword", "rest"),
    [("draft-07", "items", "additionalItems"), ("2020-12", "prefixItems", "items")],
)
def test_elements_have_schemas(dialect: str, keyword: str, rest: str) -> None:
    """The first elements have schemas of their own, the rest share one."""
    schema = {keyword: [{"type": "null"}], rest: {"type": "string"}}
    conjunction = _conjunction(schema, dialect)
    assert _pointers(conjunction.member_goals(0)) == [f"/{keyword}/0"]
    assert _pointers(conjunction.member_goals(5)) == [f"/{rest}"]


@pytest.mark.parametrize(
    "schema",
    table(__file__, "contradictions"),
)
def test_plain_contradictions_are_seen(schema: UntypedJson) -> None:
    """What plainly contradicts itself is said to, with a reason."""
    compiled = CompiledSchema.from_json(schema, "draft-07")
    assert conjoin(compiled, (compiled.root,)).contradiction()

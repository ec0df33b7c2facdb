"""Proofs that nothing is accepted: sound, and found where they are simple."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.dialects import BY_NAME
from curation.instances.subject import Subject
from curation.instances.witnesses import witnesses
from curation.refutation import answer, refute, refuted_places
from curation.refutation_ground import Ground, matches
from curation.refutation_values import Judge
from tests.curation.judges import rust_accepts

if TYPE_CHECKING:
    from curation.documents import Json

_ENDLESS = {
    "type": "object",
    "required": ["next"],
    "properties": {"next": {"$ref": "#"}},
}
_ALIKE = {"type": "string", "title": "a"}


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("false-schema", False),
        ("false-schema", {"allOf": [False]}),
        ("false-schema", {"$ref": "#/definitions/a", "definitions": {"a": False}}),
        ("types-disjoint", {"allOf": [{"type": "string"}, {"type": "object"}]}),
        (
            "types-disjoint",
            {
                "allOf": [{"$ref": "#/definitions/a"}, {"type": "null"}],
                "definitions": {"a": {"type": "number"}},
            },
        ),
        ("listed-values-refused", {"type": "string", "enum": [1, 2]}),
        ("listed-values-refused", {"type": "string", "const": None}),
        ("listed-values-refused", {"enum": ["a", "b"], "const": "c"}),
        ("listed-values-refused", {"enum": ["a"], "pattern": "^b$"}),
        ("listed-values-refused", {"enum": [1, 2], "minimum": 3}),
        ("listed-values-refused", {"enum": [1, "a"], "not": {"enum": ["a", 1.0]}}),
        ("bounds-crossed", {"type": "integer", "minimum": 2, "maximum": 1}),
        ("bounds-crossed", {"type": "number", "minimum": 2, "exclusiveMaximum": 2}),
        ("bounds-crossed", {"type": "string", "minLength": 2, "maxLength": 1}),
        ("bounds-crossed", {"type": "array", "contains": {}, "maxItems": 0}),
        ("bounds-crossed", {"type": "object", "minProperties": 3, "maxProperties": 2}),
        (
            "bounds-crossed",
            {
                "type": "object",
                "minProperties": 2,
                "properties": {"a": {}},
                "additionalProperties": False,
            },
        ),
        ("integer-gap", {"type": "integer", "minimum": 1.2, "maximum": 1.9}),
        (
            "integer-gap",
            {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
        ),
        (
            "multiple-gap",
            {"type": "number", "minimum": 11, "maximum": 19, "multipleOf": 10},
        ),
        (
            "required-forbidden",
            {"type": "object", "required": ["a"], "additionalProperties": False},
        ),
        (
            "required-forbidden",
            {"type": "object", "required": ["a"], "properties": {"a": False}},
        ),
        (
            "required-forbidden",
            {
                "type": "object",
                "required": ["a"],
                "dependencies": {"a": ["b"]},
                "properties": {"a": {}},
                "additionalProperties": False,
            },
        ),
        (
            "name-refused",
            {"type": "object", "required": ["ab"], "propertyNames": {"maxLength": 1}},
        ),
        (
            "too-many-required",
            {"type": "object", "required": ["a", "b"], "maxProperties": 1},
        ),
        (
            "listed-values-refused",
            {
                "type": "object",
                "required": ["a"],
                "properties": {"a": {"type": "number", "enum": ["x"]}},
            },
        ),
        (
            "types-disjoint",
            {
                "type": "object",
                "required": ["ab"],
                "properties": {"ab": {"type": "number"}},
                "patternProperties": {"^a": {"type": "string"}},
            },
        ),
        ("false-schema", {"type": "array", "minItems": 1, "items": False}),
        ("false-schema", {"type": "array", "minItems": 2, "items": [{}, False]}),
        (
            "too-few-distinct",
            {
                "type": "array",
                "minItems": 3,
                "uniqueItems": True,
                "items": {"type": "boolean"},
            },
        ),
        (
            "contains-refuted",
            {"type": "array", "items": {"type": "string"}, "contains": {"const": 1}},
        ),
        (
            "every-branch-refuted",
            {"type": "object", "oneOf": [{"type": "string"}, {"type": "integer"}]},
        ),
        (
            "every-branch-refuted",
            {"if": {"type": "null"}, "then": False, "else": {"not": {}}},
        ),
        ("branches-alike", {"oneOf": [_ALIKE, {**_ALIKE, "title": "b"}]}),
        ("branches-alike", {"oneOf": [{}, True]}),
        ("negates-all", {"not": {}}),
        ("negates-all", {"not": True}),
        ("negates-all", {"type": "string", "not": {"type": "string"}}),
        ("endless-recursion", _ENDLESS),
        (
            "endless-recursion",
            {
                "$ref": "#/definitions/a",
                "definitions": {
                    "a": {
                        "type": "object",
                        "required": ["b"],
                        "properties": {"b": {"$ref": "#/definitions/b"}},
                    },
                    "b": {
                        "type": "array",
                        "minItems": 1,
                        "items": {"$ref": "#/definitions/a"},
                    },
                },
            },
        ),
    ],
)
def test_what_accepts_nothing_is_refuted(name: str, schema: Json) -> None:
    """Each simple reason on its own, by its name."""
    proof = refute(schema, BY_NAME["draft-07"])
    assert proof is not None
    assert proof.name == name
    assert str(proof)
    said = answer(schema, BY_NAME["draft-07"], has_witness=False)
    assert said == ("unsatisfiable", proof)


def test_branches_that_differ_in_unknown_words_are_alike() -> None:
    """Draft-04 has no `const`: both branches hold, or none."""
    schema = {
        "oneOf": [
            {"properties": {"a": {"const": 1}}, "required": ["a"]},
            {"properties": {"a": {"const": 2}}, "required": ["a"]},
        ]
    }
    proof = refute(schema, BY_NAME["draft-04"])
    assert proof is not None
    assert (proof.name, proof.pointer) == ("branches-alike", "/oneOf")
    assert refute(schema, BY_NAME["draft-06"]) is None


def test_places_are_refuted_too() -> None:
    """A property and a definition, each with the place where its proof begins."""
    schema = {
        "properties": {"a": {"$ref": "#/definitions/d"}, "b": {"minLength": 1}},
        "definitions": {"d": {"type": "string", "enum": [1]}},
    }
    found = refuted_places(schema, BY_NAME["draft-07"])
    assert [(each.place, each.pointer) for each in found] == [
        ("/properties/a", "/definitions/d/enum"),
        ("/definitions/d", "/definitions/d/enum"),
    ]


def test_a_witness_settles_it() -> None:
    """No proof and no witness is no answer."""
    dialect = BY_NAME["2020-12"]
    assert answer({}, dialect, has_witness=True) == ("satisfiable", None)
    unknown = answer({"pattern": "(?=a)b"}, dialect, has_witness=False)
    assert unknown == ("unknown", None)


def test_references_are_followed_into_embedded_resources() -> None:
    """Each resolved against the base in force where it stands."""
    schema = {
        "$id": "https://made.test/root",
        "$ref": "other",
        "$defs": {
            "a": {
                "$id": "other",
                "$ref": "#/$defs/b",
                "$defs": {"b": {"type": "null", "const": 1}},
            },
            "b": {},
        },
    }
    proof = refute(schema, BY_NAME["2020-12"])
    assert proof is not None
    assert proof.pointer == "/$defs/a/$defs/b/const"


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"type": "object", "properties": {"a": False}},
        {"properties": {"a": {"$ref": "#"}}, "required": ["b"]},
        {"anyOf": [_ENDLESS, {"type": "null"}]},
        {"type": "array", "items": False},
        {"type": "array", "minItems": 1, "items": {"$ref": "#"}, "not": {"minItems": 9}}
        | {"items": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}},
        {"minimum": 2, "maximum": 1},
        {"required": ["a"], "additionalProperties": False},
        {"type": ["object", "null"], "required": ["a"], "additionalProperties": False},
        {"type": "integer", "enum": [1.0]},
        {"$ref": "#/types/x"},
        {"$ref": "other.json"},
        {"type": "string", "pattern": "[[:alpha:]]", "enum": ["["]},
        {"oneOf": [{"format": "uri"}, {"format": "email"}]},
        {"oneOf": [{"type": "string"}, {"type": "string"}, {"type": "null"}]},
        {"if": {"type": "null"}, "then": False},
        {"not": {"type": "object"}},
        {"anyOf": [{"$ref": "#"}, {"type": "string"}]},
        {"type": "array", "contains": {"const": 1}, "items": [{"type": "string"}]},
        {"type": "number", "minimum": 1.2, "maximum": 1.9},
    ],
)
def test_what_may_accept_something_is_not(schema: Json) -> None:
    """Non-objects, empty arrays, another branch, or what is not understood."""
    assert refute(schema, BY_NAME["draft-07"]) is None


def test_deep_and_wide_schemas_end() -> None:
    """No fuel, no proof."""
    deep: Json = {"type": "string"}
    for _ in range(400):
        deep = {"allOf": [deep]}
    assert refute(deep, BY_NAME["draft-07"]) is None
    wide: Json = {
        f"d{i}": {"anyOf": [{"$ref": f"#/definitions/d{i + 1}"}] * 3} for i in range(50)
    }
    wide["d50"] = {"type": "null"}
    schema = {"$ref": "#/definitions/d0", "definitions": wide}
    assert refute(schema, BY_NAME["draft-07"]) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": list(range(100_000)), "type": "string"},
        {"oneOf": [{"type": "string"}] * 10_000},
        {"type": "array", "minItems": 10**9, "items": {"enum": ["a"]}},
        {
            "type": "object",
            "required": [f"n{i}" for i in range(5_000)],
            "dependencies": {f"n{i}": [f"n{i + 1}"] for i in range(5_000)},
            "patternProperties": {f"^x{i}": {} for i in range(49)},
        },
    ],
)
def test_large_schemas_end(schema: Json) -> None:
    """Steps are counted; what lies beyond them counts as accepting."""
    proof = refute(schema, BY_NAME["draft-07"])
    assert (proof is not None) == ("enum" in schema or "oneOf" in schema)


def _arrays(words: st.SearchStrategy[str]) -> st.SearchStrategy[Json]:
    return st.lists(words, min_size=1, max_size=2, unique=True)


_NAMES = st.sampled_from(["a", "b"])
_SMALL = st.integers(0, 2)
_TYPES = st.sampled_from(
    ["null", "boolean", "string", "integer", "number", "object", "array"]
)
_VALUES: st.SearchStrategy[Json] = st.sampled_from(
    ["", "a", "ab", 0, 1, 1.5, 2.0, None, True, [], {}, [1]]
)
_LEAVES: dict[str, st.SearchStrategy[Json]] = {
    "type": _TYPES | _arrays(_TYPES),
    "enum": st.lists(_VALUES, min_size=1, max_size=3, unique_by=repr),
    "const": _VALUES,
    "minimum": st.sampled_from([0, 1, 1.2, 2]),
    "maximum": st.sampled_from([0, 1, 1.7, 2]),
    "multipleOf": st.sampled_from([2, 3]),
    "minLength": _SMALL,
    "maxLength": _SMALL,
    "minItems": _SMALL,
    "maxItems": _SMALL,
    "minProperties": _SMALL,
    "maxProperties": _SMALL,
    "uniqueItems": st.just(value=True),
    "required": _arrays(_NAMES),
    "pattern": st.sampled_from(["^a", "b$", "[0-9]"]),
    "title": st.sampled_from(["x", "y"]),
    "$ref": st.sampled_from(["#", "#/definitions/d"]),
}


def _some(
    words: dict[str, st.SearchStrategy[Json]],
) -> st.SearchStrategy[dict[str, Json]]:
    """Return schemas of up to four of these words."""
    chosen = st.lists(st.sampled_from(sorted(words)), max_size=4, unique=True)
    return chosen.flatmap(
        lambda names: st.fixed_dictionaries({each: words[each] for each in names})
    )


def _words(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    """Return schemas of a few words, which may hold schemas themselves."""
    several = st.lists(inner, min_size=2, max_size=2)
    return _some(
        {
            **_LEAVES,
            **dict.fromkeys(("allOf", "anyOf", "oneOf"), several),
            **dict.fromkeys(("not", "if", "then", "else", "items", "contains"), inner),
            "properties": st.dictionaries(_NAMES, inner, max_size=2),
            "patternProperties": st.dictionaries(
                st.sampled_from(["^a", "b"]), inner, max_size=1
            ),
            "additionalProperties": st.just(value=False) | inner,
            "propertyNames": inner,
            "dependencies": st.dictionaries(_NAMES, inner, max_size=1),
        }
    )


_SCHEMAS = st.recursive(st.booleans() | _some(_LEAVES), _words, max_leaves=5)
_INSTANCES = st.recursive(
    st.sampled_from(["a", "ab", "", 0, 1, 1.5, 2, None, True]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=5,
)


@settings(deadline=None, max_examples=200)
@given(
    _SCHEMAS,
    _SCHEMAS,
    st.sampled_from(["draft-06", "draft-07", "2019-09", "2020-12"]),
    st.lists(_INSTANCES, min_size=10, max_size=20),
)
def test_no_instance_contradicts_a_proof(
    schema: Json, definition: Json, dialect: str, instances: list[Json]
) -> None:
    """Where a proof is given, jsonschema-rs accepts nothing either."""
    if not isinstance(schema, dict):
        schema = {"allOf": [schema]}
    whole = {**schema, "definitions": {"d": definition}}
    if refute(whole, BY_NAME[dialect]) is None:
        return
    for instance in instances:
        assert not rust_accepts(whole, instance, dialect)


@settings(deadline=None, max_examples=100)
@given(_SCHEMAS, _SCHEMAS)
def test_what_has_a_witness_is_not_refuted(schema: Json, definition: Json) -> None:
    """What the instance maker can make, the validator having agreed, may be made."""
    whole = {"allOf": [schema], "definitions": {"d": definition}}
    if witnesses(Subject.of(whole, "draft-07")).found:
        assert refute(whole, BY_NAME["draft-07"]) is None


@settings(deadline=None, max_examples=200)
@given(_SCHEMAS, _SCHEMAS, _INSTANCES)
def test_a_sure_judgement_is_the_validator_s(
    schema: Json, definition: Json, instance: Json
) -> None:
    """Where the judge of listed values is sure, jsonschema-rs says the same."""
    whole = {"allOf": [schema], "definitions": {"d": definition}}
    ground = Ground(whole, BY_NAME["draft-07"])
    sure = Judge(ground).accepts(instance, ground.root)
    if sure is not None:
        assert sure == rust_accepts(whole, instance, "draft-07")


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^a[b-d]+$", "abd", True),
        ("^\\d{2}$", "1", False),
        ("(?:a|b)/c", "xb/c", True),
        ("[[:alpha:]]", "[", None),
        ("(?=a)", "a", None),
        ("\\s", " ", None),
        ("a", "\u00e4", None),
        ("[]a]", "a", None),
    ],
)
def test_patterns_are_judged_where_all_engines_agree(
    pattern: str, text: str, found: object
) -> None:
    """The rest leaves a doubt."""
    assert matches(pattern, text) is found

"""What of a schema can fail, and proofs that it accepts nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from curation.instances.constraints.compiled_schema import CompiledSchema
from curation.instances.witnesses.search import find_witnesses
from curation.lint.liveness import liveness
from curation.lint.satisfiability import refute, refute_inside
from curation.references.reachable import directly_applied
from curation.references.schema import Schema
from curation.schema.dialects import BY_NAME, DRAFT_07
from tests.curation.judges import rust_accepts
from tests.curation.schema_strategies import schemas

if TYPE_CHECKING:
    from collections.abc import Mapping

    from curation.core.json_types import UntypedJson
    from curation.json.pointer import Tokens


_CLOSED = {"additionalProperties": False}
_ONE_ITEM = {"type": "array", "minItems": 1}


def _needing(names: str, **properties: UntypedJson) -> dict[str, UntypedJson]:
    """Return an object that needs these names, if any, and has these properties."""
    required = {"required": names.split()} if names else {}
    return {"type": "object", **required, "properties": properties}


_ENDLESS = _needing("next", next={"$ref": "#"})
_TO_A = {"$ref": "#/properties/a"}
_ALIKE = {"type": "string", "title": "a"}


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("false-schema", False),
        ("false-schema", {"allOf": [False]}),
        ("false-schema", {"$ref": "#/definitions/a", "definitions": {"a": False}}),
        ("", {"allOf": [{"type": "string"}, {"type": "object"}]}),
        (
            "",
            {"allOf": [{"$ref": "#/definitions/a"}, {"type": "null"}]}
            | {"definitions": {"a": {"type": "number"}}},
        ),
        ("enum-type-conflict", {"type": "string", "enum": [1, 2]}),
        ("enum-type-conflict", {"type": "string", "const": None}),
        ("", {"enum": ["a", "b"], "const": "c"}),
        ("", {"enum": ["a"], "pattern": "^b$"}),
        ("empty-pattern", {"type": "string", "pattern": "a^"}),
        ("empty-pattern", _needing("a", a={"type": "string", "pattern": "a^"})),
        ("", {"enum": [1, 2], "minimum": 3}),
        ("", {"enum": [1, "a"], "not": {"enum": ["a", 1.0]}}),
        ("crossed-bounds", {"type": "integer", "minimum": 2, "maximum": 1}),
        ("crossed-bounds", {"type": "number", "minimum": 2, "exclusiveMaximum": 2}),
        ("crossed-bounds", {"type": "string", "minLength": 2, "maxLength": 1}),
        ("", {"type": "array", "contains": {}, "maxItems": 0}),
        ("crossed-bounds", {"type": "object", "minProperties": 3, "maxProperties": 2}),
        ("", {**_needing("", a={}), **_CLOSED, "minProperties": 2}),
        (
            "",
            {"type": "string", "minimum": 2, "maximum": 1, "minLength": 5}
            | {"enum": ["a"]},
        ),
        ("", {"type": "integer", "minimum": 1.2, "maximum": 1.9}),
        ("", {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2}),
        ("", {"type": "number", "minimum": 11, "maximum": 19, "multipleOf": 10}),
        ("required-forbidden", {**_needing("a"), **_CLOSED}),
        ("required-forbidden", _needing("a", a=False)),
        ("", {**_needing("a", a={}), **_CLOSED, "dependencies": {"a": ["b"]}}),
        ("", {**_needing("ab"), "propertyNames": {"maxLength": 1}}),
        ("", {**_needing("a b"), "maxProperties": 1}),
        ("enum-type-conflict", _needing("a", a={"type": "number", "enum": ["x"]})),
        (
            "",
            {**_needing("ab", ab={"type": "number"})}
            | {"patternProperties": {"^a": {"type": "string"}}},
        ),
        ("", {**_ONE_ITEM, "items": False}),
        ("", {**_ONE_ITEM, "items": {"enum": [1], "type": "null"}}),
        (
            "",
            {**_needing("", a={}), **_CLOSED}
            | {"anyOf": [{"required": ["b"]}, {"required": ["c"]}]},
        ),
        (
            "required-forbidden",
            {**_needing("a", a=False), "anyOf": [{"required": ["b"]}]},
        ),
        ("", {"type": "array", "minItems": 2, "items": [{}, False]}),
        (
            "",
            {"type": "array", "minItems": 3, "uniqueItems": True}
            | {"items": {"type": "boolean"}},
        ),
        ("", {"type": "array", "items": {"type": "string"}, "contains": {"const": 1}}),
        ("", {"type": "object", "oneOf": [{"type": "string"}, {"type": "integer"}]}),
        ("", {"if": {"type": "null"}, "then": False, "else": {"not": {}}}),
        ("", {"oneOf": [_ALIKE, {**_ALIKE, "title": "b"}]}),
        ("", {"oneOf": [{}, True]}),
        ("", {"not": {}}),
        ("", {"not": True}),
        ("", {"type": "string", "not": {"type": "string"}}),
        ("endless-recursion", _ENDLESS),
        (
            "",
            {
                "$ref": "#/definitions/a",
                "definitions": {
                    "a": _needing("b", b={"$ref": "#/definitions/b"}),
                    "b": {**_ONE_ITEM, "items": {"$ref": "#/definitions/a"}},
                },
            },
        ),
    ],
)
def test_what_accepts_nothing_is_refuted(name: str, schema: UntypedJson) -> None:
    """Each simple reason on its own, by its name if one schema object shows it."""
    proof = refute(schema, DRAFT_07)
    assert proof is not None
    assert proof.name.startswith(name or "proven by jsonschema-rs ")
    assert str(proof)


def test_branches_that_differ_in_unknown_words_are_alike() -> None:
    """Draft-04 has no `const`: both branches hold, or none."""
    schema: UntypedJson = {
        "oneOf": [
            {"properties": {"a": {"const": 1}}, "required": ["a"]},
            {"properties": {"a": {"const": 2}}, "required": ["a"]},
        ]
    }
    proof = refute(schema, BY_NAME["draft-04"])
    assert proof is not None
    assert refute(schema, BY_NAME["draft-06"]) is None


def test_references_are_followed_into_embedded_resources() -> None:
    """Each resolved against the base in force where it stands."""
    schema: UntypedJson = {
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
        {"$ref": "#/types/x", "types": {"x": {"type": "object", "required": True}}},
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
def test_what_may_accept_something_is_not(schema: UntypedJson) -> None:
    """Non-objects, empty arrays, another branch, or what is not understood."""
    assert refute(schema, DRAFT_07) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": [1]},
        {"type": "string", "const": "a"},
        {"type": "string", "minLength": 1, "maxLength": 2},
        {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"enum": [1]}},
        {**_needing("", a={"minLength": 1}), **_CLOSED}
        | {"anyOf": [False, {"required": ["b"]}, {"required": ["a"]}]},
    ],
)
def test_what_plainly_accepts_something_costs_no_proof(
    schema: UntypedJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proof may take a second, so that none is tried of a schema that needs none."""
    monkeypatch.delattr("jsonschema_rs.canonicalize")
    assert refute(_needing("a", a=schema), DRAFT_07) is None


def test_members_of_one_definition_are_judged_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four levels of 200 members would be 1,600,000,000 ways to the last one."""
    monkeypatch.delattr("jsonschema_rs.canonicalize")

    def level(to: int) -> UntypedJson:
        names = [f"n{i}" for i in range(200)]
        members = {name: {"$ref": f"#/definitions/d{to}"} for name in names}
        return {"type": "object", "required": names, "properties": members}

    definitions = {f"d{i}": level(i + 1) for i in range(3)} | {"d3": {"enum": [1]}}
    schema = {**level(0), "definitions": definitions}
    assert refute(schema, DRAFT_07) is None


def test_deep_and_wide_schemas_end() -> None:
    """What jsonschema-rs gives up on is not refuted."""
    deep: UntypedJson = {"type": "string"}
    for _ in range(400):
        deep = {"allOf": [deep]}
    assert refute(deep, DRAFT_07) is None
    wide: UntypedJson = {
        f"d{i}": {"anyOf": [{"$ref": f"#/definitions/d{i + 1}"}] * 3} for i in range(50)
    }
    wide["d50"] = {"type": "null"}
    schema = {"$ref": "#/definitions/d0", "definitions": wide}
    assert refute(schema, DRAFT_07) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "schema",
    [
        {"enum": list(range(100_000)), "type": "string"},
        {"oneOf": [{"type": "string"}] * 10_000},
        {"type": "array", "minItems": 10**9, "items": {"enum": ["a"]}},
        {
            "type": "object",
            "required": [f"n{i}" for i in range(1_000)],
            "dependencies": {f"n{i}": [f"n{i + 1}"] for i in range(1_000)},
            "patternProperties": {f"^x{i}": {} for i in range(49)},
        },
    ],
)
def test_large_schemas_end(schema: UntypedJson) -> None:
    """Beyond the limits of the filter jsonschema-rs is not asked."""
    proof = refute(schema, DRAFT_07)
    assert (proof is not None) == ("enum" in schema)


@st.composite
def _both(draw: st.DrawFn, dialect: str) -> dict[str, UntypedJson]:
    """Draw a schema that asks for what two ask: one in three accepts nothing."""
    several = schemas(dialect, satisfiable=False, leaves=5)
    one, other = draw(several), draw(several)
    holder = BY_NAME[dialect].definitions_keyword
    shared = one.get(holder, other.get(holder, {}))
    return {"allOf": [one, other], holder: shared}


_INSTANCES = st.recursive(
    st.sampled_from(["a", "ab", "", 0, 1, 1.5, 2, None, True]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=5,
)


@pytest.mark.parametrize("dialect", ["draft-06", "draft-07", "2019-09", "2020-12"])
@given(data=st.data())
def test_no_instance_contradicts_a_proof(dialect: str, data: st.DataObject) -> None:
    """Where a proof is given, jsonschema-rs accepts nothing either."""
    schema = data.draw(_both(dialect))
    if refute(schema, BY_NAME[dialect]) is not None:
        for instance in data.draw(st.lists(_INSTANCES, min_size=10, max_size=20)):
            assert not rust_accepts(schema, instance, dialect)


@given(_both("draft-07"))
def test_what_has_a_witness_is_not_refuted(schema: dict[str, UntypedJson]) -> None:
    """What the instance maker can make, the validator having agreed, may be made."""
    if find_witnesses(CompiledSchema.from_json(schema, "draft-07")).witnesses:
        assert refute(schema, DRAFT_07) is None


@pytest.mark.parametrize(
    ("name", "where"), [("a", "/properties/a"), ("b", ""), ("c", "")]
)
def test_a_part_of_a_schema_is_refuted_by_itself(name: str, where: str) -> None:
    """Its references lead where they led; there is no proof of an absent part."""
    document: UntypedJson = {
        "properties": {
            "a": {"allOf": [{"$ref": "#/definitions/n"}, {"type": "string"}]},
            "b": {"allOf": [{"$ref": "#/definitions/n"}, {"minimum": 1}]},
        },
        "definitions": {"n": {"type": "number"}},
    }
    proof = refute_inside(document, ("properties", name), DRAFT_07)
    assert (proof.pointer if proof else "") == where


@pytest.mark.parametrize(
    ("schema", "keywords", "live", "fields"),
    [
        ({"type": "object", "properties": {"a": {"type": "null"}}}, 3, 3, 4),
        ({"type": "object", "properties": {"a": {}}}, 2, 1, 1),
        ({"type": "string", "items": {"minimum": 1}}, 3, 1, 1),
        ({"minLength": 0, "required": [], "uniqueItems": False}, 3, 0, 0),
        ({"anyOf": [{"minimum": 1}, {}]}, 2, 1, 0),
        ({"anyOf": [{"minimum": 1}, {"maximum": 0}]}, 3, 3, 1),
        ({"oneOf": [{}, {}]}, 1, 1, 1),
        ({"then": {"minimum": 1}}, 2, 0, 0),
        ({"items": {}, "additionalItems": {"minimum": 1}}, 3, 0, 0),
        ({"items": [{}], "additionalItems": {"minimum": 1}}, 3, 2, 2),
        ({"additionalItems": False}, 1, 0, 0),
        ({"if": {}, "then": {"minimum": 1}}, 3, 3, 3),
        ({"additionalProperties": False}, 1, 1, 1),
        ({"format": "date"}, 1, 1, 1),
        ({"format": "no-such-format"}, 1, 0, 0),
        ({"not": {}}, 1, 1, 1),
        ({"const": {"a": {"b": 1}}}, 1, 1, 3),
        ({"$ref": "#/definitions/a", "minimum": 1, "definitions": {"a": {}}}, 2, 0, 0),
        ({"$ref": "#/definitions/a", "definitions": {"a": {"enum": [1]}}}, 2, 2, 4),
        ({"definitions": {"a": {"enum": [1]}}}, 1, 0, 0),
        ({"properties": {"a": {"$ref": "#"}}}, 2, 0, 0),
        ({"minItems": 1, "properties": {"a": {"$ref": "#"}}}, 3, 3, 4),
        ({"$ref": "#/properties/a", "properties": {"a": {"enum": [1]}}}, 3, 2, 1),
        ({"if": {"minimum": 1}, "else": {}}, 3, 1, 0),
        # What applies a schema may be met after it.
        (
            {"properties": {"a": {"items": {"minimum": 1}}, "b": {"items": _TO_A}}},
            *(5, 5, 7),
        ),
        ({"minContains": 1, "unevaluatedItems": False}, 2, 0, 0),
    ],
)
def test_keywords_that_some_value_can_violate(
    schema: UntypedJson, keywords: int, live: int, fields: int
) -> None:
    """What draft-07 does not know, reaches or asks anything by is dead."""
    found = liveness(schema, DRAFT_07)
    assert (found.keywords, found.live, found.fields) == (keywords, live, fields)


def test_a_count_of_nothing_cannot_fail() -> None:
    """`minContains` and `maxContains` ask nothing without `contains`."""
    bounds: dict[str, UntypedJson] = {"minContains": 2, "maxContains": 2}
    assert liveness(bounds, BY_NAME["2019-09"]).live == 0
    assert liveness({"contains": True, **bounds}, BY_NAME["2019-09"]).live == 3


#: By whether nothing can fail but the type of the root, whatever it holds.
_VACUOUS: dict[bool, list[UntypedJson]] = {
    True: [
        {"type": "object"},
        {"type": "object", "items": {"type": "string"}},
        {"type": ["object"], "properties": {"a": {"properties": {"b": {}}}}},
        {"properties": {"a": {}}},
    ],
    False: [
        {"type": "object", "required": ["a"]},
        {"allOf": [{"type": "object"}]},
        {"$ref": "#/properties/a", "properties": {"a": {"enum": [1]}}},
    ],
}


def test_a_root_of_which_only_the_type_can_fail() -> None:
    """Such a record is vacuous."""
    for is_vacuous, roots in _VACUOUS.items():
        for schema in roots:
            assert liveness(schema, DRAFT_07).vacuous is is_vacuous, schema


REFERENCES = ("#", "#/definitions/a", "#/definitions/b", "#/properties/a", "#/none")
LEAVES = st.sampled_from(
    [{}, {"type": "object"}, {"type": "string"}, {"minLength": 0}, {"minimum": 1}]
)
SCHEMAS = st.recursive(
    st.booleans()
    | LEAVES
    | st.builds(lambda to: {"$ref": to}, st.sampled_from(REFERENCES)),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", ["object", "null"]]),
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
            "items": inner,
        },
    ),
    max_leaves=6,
)
ROOTS = st.builds(
    lambda root, a, b: {
        **(root if isinstance(root, dict) else {"not": root}),
        "definitions": {"a": a, "b": b},
    },
    SCHEMAS,
    SCHEMAS,
    SCHEMAS,
)
ABOUT = {"properties": "object", "items": "array", "minimum": "number"}
ABOUT |= {"minLength": "string"}


def _live_plainly(schema: UntypedJson) -> int:
    """Count live keywords by asking every schema again until nothing more is live."""
    document = Schema(schema, DRAFT_07, "")
    live: dict[Tokens, set[str]] = {(): set()}
    failing: set[Tokens] = set()
    entered = [document.root]
    for _ in range(20):
        for location in entered:
            applied: list[tuple[str, Tokens]] = []
            for name, other in directly_applied(location, document):
                if _speaks(name, location.keywords):
                    applied.append((name, other.tokens))
                    if other.tokens not in live:
                        live[other.tokens] = set()
                        entered.append(other)
            own = live[location.tokens]
            own |= _fail(location.keywords, applied, failing)
            if own or location.schema is False:
                failing.add(location.tokens)
    return sum(map(len, live.values()))


def _speaks(name: str, schema: Mapping[str, UntypedJson]) -> bool:
    """Return whether the type beside a keyword lets values through that it is about."""
    stated = schema.get("type", ABOUT.get(name))
    fits = name not in ABOUT or ABOUT[name] in stated
    return fits and (name != "then" or "if" in schema)


def _fail(
    schema: Mapping[str, UntypedJson],
    applied: list[tuple[str, Tokens]],
    failing: set[Tokens],
) -> set[str]:
    """Return the keywords that can fail, where these schemas do."""
    if "$ref" in schema:
        return {"$ref"} if any(to in failing for _, to in applied) else set()
    found = {name for name, to in applied if name != "if" and to in failing}
    if "anyOf" in found and any(n == "anyOf" and t not in failing for n, t in applied):
        found.discard("anyOf")
    found |= {"if"} & schema.keys() if "then" in found else set()
    found |= {"oneOf"} if len(schema.get("oneOf", ())) > 1 else set()
    found |= {"type", "not", "minimum"} & schema.keys()
    return {name for name in found if _speaks(name, schema)}


@given(schema=ROOTS)
@example(schema={"anyOf": [{"$ref": "#"}, {"$ref": "#/definitions/a"}]})
def test_what_is_live_is_the_least_that_the_keywords_mean(schema: UntypedJson) -> None:
    """Whatever refers to whatever, and in whichever order it is met."""
    assert liveness(schema, DRAFT_07).live == _live_plainly(schema)

"""Repairs that lose nothing: what means the same everywhere, or applies nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from curation.core.documents import ABSENT, Document, Reason
from curation.core.rule import Context, RepairKind
from curation.pipeline.process_document import apply_rules
from curation.rules.clean import references
from curation.rules.lossless import (
    dead_references,
    empty_lists,
    exclusive_bounds,
    fitting_draft,
    repeated_values,
    shadowing_identifiers,
)
from curation.rules.sets import rule_set
from curation.schema.dialects import BY_NAME
from curation.validation.metaschemas import is_valid
from tests.curation.judges import accepts, rust_accepts
from tests.curation.rules.documents_made import (
    CONTEXT,
    SITE,
    Shelf,
    document,
    raw_document,
)

if TYPE_CHECKING:
    from curation.core.json_types import UntypedJson
    from curation.core.rule import Rule
    from curation.dataset.decisions import DocumentResult


def result_of(text: str, rules: str = "clean") -> DocumentResult:
    """Return what a rule set makes of a text."""
    return apply_rules(raw_document(text.encode()), rule_set(rules), CONTEXT)


def test_equal_members_are_one() -> None:
    """Equal in canonical form is enough; the ledger says how often one stood there."""
    text = (
        '{"properties": {"a": {"maximum": 1}, "b": {}, "a": {"maximum": 1.0}, '
        '"a": {"maximum": 1}}, "type": "object"}'
    )
    result = result_of(text)
    assert result.record is not None
    assert result.record.changes == ("equal-members",)
    assert '"a": {"maximum": 1}' in result.record.json_schema
    (change,) = result.changes
    assert change.pointer == "/properties/a"
    assert change.note.startswith("stood there 3 times")
    assert change.before == '{"a": {"maximum": 1}, "a": {"maximum": 1}}'


def test_members_that_differ_are_refused() -> None:
    """Nobody can say which of them was meant; the paper's parser took the last."""
    text = '{"properties": {"a": {"maximum": 1}, "a": {"maximum": 2}}}'
    rejected = result_of(text).rejected
    assert rejected is not None
    assert rejected.reason is Reason.DUPLICATE_KEYS
    assert "different values" in rejected.detail
    kept = result_of(text, "paper").record
    assert kept is not None
    assert '{"maximum": 2}' in kept.json_schema


SHADOWED: UntypedJson = {
    "id": "http://example.com/root",
    "definitions": {
        "word": {"type": "string"},
        "pair": {
            "id": "pair",
            "properties": {
                "left": {"$ref": "#/definitions/word"},
                "right": {"id": "right", "items": {"$ref": "#/definitions/word"}},
            },
        },
    },
    "properties": {"pair": {"$ref": "#/definitions/pair"}},
}


def freed(rule: Rule, schema: UntypedJson, dialect: str = "draft-04") -> Document:
    """Return what a rule makes of a schema; neither of these rules rejects."""
    result = rule.apply(document(schema, dialect=dialect), CONTEXT)
    assert isinstance(result, Document)
    return result


def test_identifiers_that_only_hide_a_target_go() -> None:
    """Every identifier around the reference goes, the root's stays, and all resolve."""
    result = freed(shadowing_identifiers, SHADOWED)
    assert [(change.pointer, change.after) for change in result.changes] == [
        ("/definitions/pair/id", ABSENT),
        ("/definitions/pair/properties/right/id", ABSENT),
    ]
    assert result.schema["id"] == "http://example.com/root"
    assert isinstance(references.apply(result, CONTEXT), Document)
    for instance, verdict in (
        ({"pair": {"left": "a", "right": ["b"]}}, True),
        ({"pair": {"left": 1}}, False),
        ({"pair": {"right": [1]}}, False),
    ):
        assert accepts(result.schema, instance, "draft-04") is verdict
        assert rust_accepts(result.schema, instance, "draft-04") is verdict


@pytest.mark.parametrize(
    "changed",
    [{"again": {"$ref": "pair"}}, {"again": {"$ref": "pair#/properties/left"}}],
    ids=["used", "used by a pointer"],
)
def test_an_identifier_that_is_used_stays(changed: UntypedJson) -> None:
    """Where something refers to the identifier, nothing changes."""
    schema: UntypedJson = {
        **SHADOWED,
        "properties": {**SHADOWED["properties"], **changed},
    }
    assert freed(shadowing_identifiers, schema).schema is schema


def test_a_pointer_to_nothing_costs_no_identifier() -> None:
    """An identifier stays around what leads nowhere from the root either."""
    schema = {
        "id": "http://example.com/root",
        "properties": {"x": {"id": "x", "items": {"$ref": "#/definitions/gone"}}},
    }
    assert freed(shadowing_identifiers, schema).schema is schema


def test_a_reference_that_would_lead_elsewhere_keeps_its_identifier() -> None:
    """A pointer that resolves inside the identifier must not start to mean the root."""
    schema = {
        "id": "http://example.com/root",
        "definitions": {"a": {"type": "string"}, "b": {"type": "null"}},
        "properties": {
            "x": {
                "id": "x",
                "definitions": {"a": {"type": "number"}},
                "anyOf": [{"$ref": "#/definitions/a"}, {"$ref": "#/definitions/b"}],
            }
        },
    }
    assert freed(shadowing_identifiers, schema).schema is schema


@pytest.mark.parametrize(
    "schema",
    [
        {"definitions": {"unused": {"$ref": "#/definitions/gone"}}},
        {
            "definitions": {
                "a": {"items": {"$ref": "http://example.com/elsewhere"}},
                "b": {"$ref": "#/definitions/a"},
            }
        },
        {
            "properties": {
                "p": {"$ref": "#/definitions/a", "items": {"$ref": "#/lost"}}
            },
            "definitions": {"a": {"type": "string"}},
        },
    ],
    ids=["unused", "used by the unused", "hidden by a reference"],
)
def test_a_dangling_reference_that_nothing_applies_goes(schema: UntypedJson) -> None:
    """The record resolves then, and accepts what it accepted."""
    schema = {"type": "object", **schema}
    before = references.apply(document(schema, dialect="draft-07"), CONTEXT)
    assert not isinstance(before, Document)
    result = freed(dead_references, schema, "draft-07")
    (change,) = result.changes
    assert change.pointer.endswith("/$ref")
    assert change.after == ABSENT
    assert isinstance(references.apply(result, CONTEXT), Document)
    instances: list[UntypedJson] = [{}, {"p": "x"}, {"p": 1}, []]
    for instance in instances:
        verdict = accepts(schema, instance, "draft-07")
        assert accepts(result.schema, instance, "draft-07") is verdict
        assert rust_accepts(result.schema, instance, "draft-07") is verdict


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/definitions/gone"}}},
        {
            "$ref": "#/definitions/a",
            "definitions": {"a": {"not": {"$ref": "#/definitions/gone"}}},
        },
        {"definitions": {"unused": {"$ref": "#/definitions/here"}, "here": {}}},
    ],
    ids=["applied", "applied by a reference", "resolved"],
)
def test_a_living_reference_is_never_dropped(schema: UntypedJson) -> None:
    """What validation may enter keeps its reference, and so does what resolves."""
    assert freed(dead_references, schema, "draft-07").schema is schema


def test_a_reference_to_an_empty_schema_leads_somewhere() -> None:
    """`{}` and `false` are schemas."""
    schema = {"definitions": {it: {"$ref": f"{SITE}{it}.json"} for it in "abc"}}
    shelf = Shelf({f"{SITE}a.json": {}, f"{SITE}b.json": False})
    result = dead_references.apply(document(schema), Context(library=shelf))
    assert isinstance(result, Document)
    kept = {it for it, inner in result.schema["definitions"].items() if inner}
    assert kept == {"a", "b"}


D4 = BY_NAME["draft-04"].uri
D6 = BY_NAME["draft-06"].uri


def applied(rule: Rule, schema: UntypedJson, **given: UntypedJson) -> Document:
    """Return what a rule makes of a schema; none of these rules rejects."""
    result = rule.apply(document(schema, **given), CONTEXT)
    assert isinstance(result, Document)
    return result


CASES = [
    (
        empty_lists,
        {"$schema": D4, "properties": {"a": {"type": "string"}}, "required": []},
        {"$schema": D4, "properties": {"a": {"type": "string"}}},
        [{}, {"a": "x"}, {"a": 1}, 3],
    ),
    (
        empty_lists,
        {"$schema": D4, "items": [], "dependencies": {"a": [], "b": ["a"]}},
        {"$schema": D4, "dependencies": {"b": ["a"]}},
        [[], [1], {"a": 1}, {"b": 1}, {"a": 1, "b": 1}],
    ),
    (
        repeated_values,
        {"$schema": D4, "required": ["a", "b", "a"], "type": ["object", "object"]},
        {"$schema": D4, "required": ["a", "b"], "type": ["object"]},
        [{}, {"a": 1}, {"a": 1, "b": 1}, []],
    ),
    (
        repeated_values,
        {"$schema": D4, "enum": [1, True, "1", 1.0, None], "dependencies": {}},
        {"$schema": D4, "enum": [1, True, "1", None], "dependencies": {}},
        [1, True, "1", 1.0, None, 0, False],
    ),
    (
        repeated_values,
        {"$schema": D4, "dependencies": {"a": ["b", "b"], "c": {}}},
        {"$schema": D4, "dependencies": {"a": ["b"], "c": {}}},
        [{"a": 1}, {"a": 1, "b": 1}, {"c": 1}],
    ),
    (
        exclusive_bounds,
        {"$schema": D4, "exclusiveMinimum": True, "maximum": 3},
        {"$schema": D4, "maximum": 3},
        [2, 3, 4],
    ),
]


@pytest.mark.parametrize(("rule", "before", "after", "instances"), CASES)
def test_what_is_accepted_stays(
    rule: Rule, before: UntypedJson, after: UntypedJson, instances: list[UntypedJson]
) -> None:
    """jsonschema, which reads the text before too, accepts the same before and after.

    jsonschema-rs, which refuses it before, agrees after.
    """
    assert rule.repair is RepairKind.LOSSLESS
    result = applied(rule, before)
    assert result.schema == after
    assert is_valid(result.schema, BY_NAME["draft-04"])
    for instance in instances:
        verdict = accepts(before, instance, "draft-04")
        assert accepts(after, instance, "draft-04") is verdict, instance
        assert rust_accepts(after, instance, "draft-04") is verdict, instance


@pytest.mark.parametrize("rule", [empty_lists, repeated_values])
def test_what_its_draft_allows_stays_as_it_is(rule: Rule) -> None:
    """Draft-06 allows an empty `required`: a schema that is valid is never touched."""
    schema = {"$schema": D6, "required": [], "enum": [1, 1]}
    assert applied(rule, schema).schema is schema
    silent = {"required": [], "additionalProperties": {"type": "string"}}
    assert applied(rule, silent).schema is silent


def test_every_edit_is_a_change_where_it_was_made() -> None:
    """The ledger gets the pointer of the list, its text before, and what is there."""
    schema = {"$schema": D4, "properties": {"a/b": {"enum": [2, 2], "required": []}}}
    lists = applied(empty_lists, schema)
    values = applied(repeated_values, lists.schema)
    told = [
        (change.rule, change.pointer, change.before, change.after)
        for change in (*lists.changes, *values.changes)
    ]
    assert told == [
        ("empty-lists", "/properties/a~1b/required", "[]", ABSENT),
        ("repeated-values", "/properties/a~1b/enum", "[2, 2]", "[2]"),
    ]


def test_boolean_bounds_mean_what_they_did_in_draft_04() -> None:
    """From draft-06 on the number beside takes their place, strict as it was."""
    schema = {
        "$schema": D6,
        "minimum": 1,
        "exclusiveMinimum": True,
        "maximum": 5,
        "exclusiveMaximum": False,
    }
    result = applied(exclusive_bounds, schema)
    assert list(result.schema.items())[1:] == [("exclusiveMinimum", 1), ("maximum", 5)]
    for instance in (0, 1, 1.5, 5, 6):
        verdict = accepts(schema, instance, "draft-04")
        assert accepts(result.schema, instance, "draft-06") is verdict
        assert rust_accepts(result.schema, instance, "draft-06") is verdict


@pytest.mark.parametrize(
    ("schema", "draft"),
    [
        (
            {
                "$schema": D4,
                "oneOf": [
                    {"properties": {"kind": {"const": "a"}}},
                    {"properties": {"kind": {"const": "b"}}},
                ],
                "type": "object",
            },
            "draft-06",
        ),
        ({"$schema": D4, "properties": {"a": {"exclusiveMinimum": 0}}}, "draft-06"),
        ({"$schema": D4, "exclusiveMaximum": 9, "if": {}, "then": {}}, "draft-07"),
        (
            {
                "$schema": D6,
                "id": "http://example.com/x",
                "definitions": {"name": {"id": "#name", "type": "string"}},
                "properties": {"a": {"$ref": "#name"}},
            },
            "draft-04",
        ),
    ],
    ids=["unsatisfiable", "invalid", "nearest", "unresolved"],
)
def test_a_draft_that_leaves_nothing_gives_way(schema: UntypedJson, draft: str) -> None:
    """The nearest draft in which all keywords have effect is taken, with the lint."""
    result = applied(
        fitting_draft,
        schema,
        dialect=BY_NAME["draft-04" if schema["$schema"] == D4 else "draft-06"].name,
        dialect_found="declared",
    )
    assert (result.dialect, result.dialect_found) == (draft, "fitting")
    assert result.schema == {**schema, "$schema": BY_NAME[draft].uri}
    assert [lint.code for lint in result.lints] == ["other-draft"]
    (change,) = result.changes
    assert (change.rule, change.pointer) == ("fitting-draft", "/$schema")


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": D4, "properties": {"a": {"const": 1}}},
        {"$schema": D4, "properties": {"a": {"exclusiveMinimum": 0, "id": "b"}}},
        {"$schema": D4, "type": "strin"},
    ],
    ids=["usable", "no draft gives all effect", "no draft reads it"],
)
def test_a_declared_draft_stays_where_it_can(schema: UntypedJson) -> None:
    """A keyword without effect is no reason by itself: it is flagged, and stays."""
    given = document(schema, dialect="draft-04", dialect_found="declared")
    assert fitting_draft.apply(given, CONTEXT) is given


def test_a_list_that_only_the_draft_of_an_undeclared_schema_refuses_goes() -> None:
    """`id` says draft-04, and draft-04 wants an entry in `required`; others do not."""
    schema = {"id": "a", "type": "object", "required": []}
    repaired = applied(empty_lists, schema)
    assert repaired.schema == {"id": "a", "type": "object"}
    del schema["id"]
    assert applied(empty_lists, schema).schema is schema
